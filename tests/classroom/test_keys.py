"""The keys: made once, for this user only, refused when others may read them."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.classroom.keys import FILE, READABLE, KeysError, keys_in


def test_keys_are_made_once_and_are_this_users_alone(folder: Path) -> None:
    made = keys_in(folder)
    assert keys_in(folder) == made
    assert stat.S_IMODE((folder / FILE).stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [file.name for file in folder.iterdir()] == [FILE]
    assert len({made.session, made.cookie, made.teacher}) == 3
    assert set(made.join) <= set(READABLE)


def test_no_two_folders_have_the_same(tmp_path: Path) -> None:
    assert keys_in(tmp_path / "one") != keys_in(tmp_path / "two")


def test_servers_that_start_at_once_share_them(folder: Path) -> None:
    with ThreadPoolExecutor(8) as hands:
        assert len(set(hands.map(lambda _: keys_in(folder).session, range(16)))) == 1


def test_keys_that_others_may_read_are_refused(folder: Path) -> None:
    keys_in(folder)
    (folder / FILE).chmod(0o644)
    with pytest.raises(KeysError) as error:
        keys_in(folder)
    assert error.value.code == "open"


@pytest.mark.parametrize("text", ["", "{}", '{"session":"","cookie":"","teacher":"","join":""}'])
def test_a_broken_file_is_refused_and_kept(folder: Path, text: str) -> None:
    keys_in(folder)
    (folder / FILE).write_text(text)
    with pytest.raises(KeysError) as error:
        keys_in(folder)
    assert error.value.code == "broken"
    assert (folder / FILE).read_text() == text
