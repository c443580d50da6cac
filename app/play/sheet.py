"""All that a visitor has set: what a run is made of and what a short link stands for."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from engine.service import SETTINGS

MOST_BYTES = 1_000_000  # of one trace
MOST_ROWS = 20_000
MOST_DRAWN = 200  # requests of a run that is drawn tick by tick

Short = Annotated[str, Meta(max_length=40)]
Title = Annotated[str, Meta(max_length=80)]
Name = Annotated[str, Meta(max_length=200)]
Text = Annotated[str, Meta(max_length=MOST_BYTES)]


class Setup(msgspec.Struct, frozen=True):
    """One run: what it is called, its trace as text (``name``: that of the file), settings as typed."""

    trace: Text = ""
    name: Name = ""
    title: Title = ""
    settings: dict[Short, Short] = {}


class Sheet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``setup`` under three policies, or against ``kept`` (A). ``engine``: a weight format; empty: ledger."""

    setup: Setup = Setup()
    kept: Setup | None = None
    mode: Literal["policies", "compare"] = "policies"
    horizon: Short = ""
    slo_ttft: Short = "0.5"
    slo_tpot: Short = "0.15"
    engine: Literal["", "fp32", "int8", "int4"] = ""


def sheet_of(text: str | bytes) -> Sheet | None:
    """The sheet that JSON describes, None when it describes none. It comes from a browser."""
    try:
        sheet = msgspec.json.decode(text, type=Sheet)
    except (msgspec.DecodeError, UnicodeError):
        return None
    setups = [sheet.setup, *([sheet.kept] if sheet.kept else [])]
    return sheet if all(setup.settings.keys() <= set(SETTINGS) for setup in setups) else None


def text_of(sheet: Sheet) -> str:
    """``sheet`` as JSON, the same for equal sheets."""
    return msgspec.json.encode(sheet, order="deterministic").decode()


def plain(sheet: Sheet) -> dict[str, Any]:
    """``sheet`` as plain values, for the browser."""
    found: dict[str, Any] = msgspec.to_builtins(sheet)
    return found
