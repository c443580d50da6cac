"""Installs what the tests need beyond Python packages.

A Chromium, a font with Chinese characters, PostgreSQL, nginx, and a clock that can be turned.

    python -m tests.prepare

What is found on this machine is used; else Debian's packages are installed (as root, or by sudo).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    """Path of the first Chromium on the PATH, None when there is none."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def postgresql() -> Path | None:
    """The folder of PostgreSQL's programs, the newest there is; Debian keeps it off the PATH."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name))
    found = shutil.which("initdb")
    folders = [*([Path(found).resolve().parent] if found else []), *reversed(debian)]
    return next((one for one in folders if (one / "initdb").exists() and (one / "postgres").exists()), None)


def turnable_clock() -> Path | None:
    """The library by which a process can be given another clock."""
    return next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))), None)


def nginx() -> str | None:
    """Path of nginx, which is seldom on an ordinary user's PATH; None when there is none."""
    return shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


def has_chinese_font() -> bool:
    """Whether some installed font has Chinese characters."""
    if shutil.which("fc-list") is None:
        return False
    found = subprocess.run(["fc-list", ":lang=zh", "family"], capture_output=True, text=True, check=False)
    return bool(found.stdout.strip())


def missing_packages() -> list[str]:
    """Debian packages that this machine still needs."""
    wanted = {
        "chromium": chromium() is None,
        "fonts-noto-cjk": not has_chinese_font(),
        "postgresql": postgresql() is None,
        "libfaketime": turnable_clock() is None,
        "nginx-light": nginx() is None,
    }
    return [name for name, needed in wanted.items() if needed]


def install(packages: list[str]) -> None:
    """Install Debian packages; ends the program with one sentence where that is not possible."""
    if shutil.which("apt-get") is None:
        sys.exit(
            f"Please install {' and '.join(packages)} and run this line again: there is no apt-get here."
        )
    prefix = [] if os.geteuid() == 0 else ["sudo"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-qq"], ["install", "-y", "-qq", *packages]):
        subprocess.run([*prefix, "apt-get", *command], check=True, env=environment, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    needed = missing_packages()
    if needed:
        install(needed)
    print(f"Chromium: {chromium()}\nPostgreSQL: {postgresql()}")
