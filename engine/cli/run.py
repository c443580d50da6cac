"""``python -m engine run``: a trace through the torch engine."""

from __future__ import annotations

import argparse
from decimal import Decimal
from fractions import Fraction

from engine.cli.flags import (
    NUMBER,
    add_common_flags,
    naming_flags,
    one_of,
    seconds_or_none,
    service_of,
    trace_of,
)
from engine.cli.present import limits_of, present
from engine.cli.shown import MOST_RECORDS, recorded
from engine.errors import InputError
from engine.exact import first_tick
from engine.history import History
from engine.ledger import checked_horizon
from engine.prompts import prompts_for
from engine.requests import Request
from engine.service import WEIGHTS, Service
from engine.words import LANGUAGES, Catalogue

NAME = "run"
MOST_THREADS = 256  # far more than help; thousands would end the process


def add_flags(parser: argparse.ArgumentParser, words: Catalogue) -> None:
    """The common flags and those of the torch engine."""
    add_common_flags(parser, words)
    torch = parser.add_argument_group(words("flag.group.engine"))
    torch.add_argument("--weights", default="fp32", metavar="|".join(WEIGHTS), help=words("flag.weights"))
    torch.add_argument("--exact", dest="exact", action="store_true", default=True, help=words("flag.exact"))
    torch.add_argument("--fast", dest="exact", action="store_false", help=words("flag.fast"))
    torch.add_argument("--seed", default="0", metavar="N", help=words("flag.seed"))
    torch.add_argument("--threads", default="1", metavar="N", help=words("flag.threads"))


def execute(options: argparse.Namespace) -> str:
    """What to print. Raises InputError and Stalled."""
    one_of("lang", options.lang, LANGUAGES)
    one_of("weights", options.weights, WEIGHTS)
    threads = _whole("threads", options.threads, 1)
    if threads > MOST_THREADS:
        raise InputError.of("too_many_threads", at="--threads", threads=threads, most=MOST_THREADS)
    service = service_of(options)
    trace = trace_of(options)
    requests = prompts_for(trace.requests, _whole("seed", options.seed, 0))
    with naming_flags():
        history = _serve(requests, service, options, threads)
        return present(recorded(trace, history, limits_of(options)), options)


def _whole(name: str, text: str, least: int) -> int:
    if not NUMBER.fullmatch(text) or int(text) < least:
        raise InputError.of("not_whole", at=f"--{name}", value=repr(text), least=least)
    return int(text)


def _serve(requests: list[Request], service: Service, options: argparse.Namespace, threads: int) -> History:
    """The only place where this command touches torch; threads are set here, at the edge, once."""
    import torch

    import engine

    horizon = checked_horizon(seconds_or_none(options, "horizon"))
    _refuse_endless(requests, service, horizon)
    torch.set_num_threads(threads)
    server = engine.Engine(service, weights=options.weights, exact=options.exact)
    return server.run(requests, horizon)


def _refuse_endless(requests: list[Request], service: Service, horizon: Decimal | None) -> None:
    """Each tick is recorded, the idle ones too, so a trace must not last for ever in ticks."""
    last = max(request.arrival for request in requests)
    number = first_tick(last if horizon is None else min(last, horizon), Fraction(service.tick))
    if number > MOST_RECORDS:
        raise InputError.of(
            "too_many_to_record", at="tick", seconds=service.tick, ticks=number, most=MOST_RECORDS
        )
