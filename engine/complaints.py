"""What Python's own readers (json, csv, argparse) complain of, as phrases: they speak English only."""

from __future__ import annotations

import re

from engine.words import Phrase, engine_words

PATTERNS = {
    # of json
    r"Expecting value": "value",
    r"Expecting property name enclosed in double quotes": "name",
    r"Expecting ':' delimiter": "colon",
    r"Expecting ',' delimiter": "comma",
    r"Illegal trailing comma before end of (?P<kind>object|array)": "last_comma",
    r"Unterminated string starting at": "open_string",
    r"Invalid control character at": "control_character",
    r"Invalid \\escape": "escape",
    r"Invalid \\uXXXX escape": "unicode_escape",
    # of csv
    r"unexpected end of data": "open_quote",
    r"'(?P<delimiter>.)' expected after '\"'": "after_quote",
    r"field larger than field limit \((?P<most>\d+)\)": "long_cell",
    # of argparse
    r"expected one argument": "one_argument",
    r"expected at least one argument": "some_arguments",
    r"ignored explicit argument (?P<value>.*)": "no_argument",
    r"invalid choice: (?P<value>.*) \(choose from (?P<allowed>.*)\)": "choice",
    r"invalid int value: (?P<value>.*)": "integer",
    r"the following arguments are required: (?P<names>.*)": "required",
    r"unrecognized arguments: (?P<names>.*)": "unrecognized",
    r"ambiguous option: (?P<value>.*) could match (?P<names>.*)": "ambiguous",
}


def complaint(message: str) -> Phrase:
    """``message`` in no language: in English it is what Python says, for one that is not known too."""
    for pattern, code in PATTERNS.items():
        found = re.fullmatch(pattern, message, re.DOTALL)
        if found:
            return Phrase(f"complaint.{code}", engine_words, **found.groupdict())
    return Phrase("complaint.other", message=message)


def of_an_argument(message: str) -> tuple[str, Phrase]:
    """Which argument argparse names, empty where it names none, and what it complains of."""
    found = re.fullmatch(r"argument (\S+): (.*)", message, re.DOTALL)
    return (found[1], complaint(found[2])) if found else ("", complaint(message))
