"""The same weights served by Hugging Face's ``generate``, in the same process on the same load."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from engine.bench.llama import Llama
from engine.bench.load import SERVICE, load, serve
from engine.bench.paper import grid, heading, milli, plain, ratio
from engine.bench.setting import Setting
from engine.bench.timing import median, paired_ratio, seconds, take_turns
from engine.model.reference import generate
from engine.model.transformer import Transformer
from engine.requests import Request, prompt_bytes
from engine.words import Catalogue

NAME = "huggingface"
BATCH = 4
ORDERS = ("mixed", "long_first")
OURS = "continuous"


class Server(msgspec.Struct, frozen=True):
    """One server on the load in one order: median wall-clock seconds, and how many times as long as
    our continuous batching in fast mode it took, within the same repeat."""

    order: str
    server: str
    seconds: float
    tokens_per_second: float
    times_ours: float


class Agreement(msgspec.Struct, frozen=True):
    """Greedy outputs of Hugging Face beside ours: how many of the requests are equal token for token,
    and the largest margin (best logit minus second) at a first difference, None when there is none."""

    requests: int
    equal: int
    margin: float | None


class HuggingFace(msgspec.Struct, frozen=True):
    """``version`` None: transformers is not installed and nothing was measured."""

    version: str | None
    batch: int = BATCH
    agreement: Agreement | None = None
    rows: tuple[Server, ...] = ()


def measure(setting: Setting) -> HuggingFace:
    """Serve the load with both in turn, in the order of arrival and with the long requests first."""
    try:
        llama = Llama(setting.model)
    except ImportError:
        return HuggingFace(None)
    rows = [row for order in ORDERS for row in _in_order(setting, llama, order)]
    return HuggingFace(llama.version, BATCH, _agreement(setting.model, llama), tuple(rows))


def _in_order(setting: Setting, llama: Llama, order: str) -> list[Server]:
    requests = load(mixed=order == "mixed")
    tokens = sum(request.output_tokens for request in requests)
    times = take_turns(_servers(setting.model, llama, requests), setting.repeats)
    ours = times[OURS]
    return [
        Server(order, name, median(took), tokens / median(took), paired_ratio(took, ours))
        for name, took in times.items()
    ]


def _servers(
    model: Transformer, llama: Llama, requests: Sequence[Request]
) -> Mapping[str, Callable[[], float]]:
    return {
        OURS: lambda: serve(model, SERVICE, requests).seconds,
        f"{OURS}_exact": lambda: serve(model, SERVICE, requests, exact=True).seconds,
        "hf_one_by_one": lambda: seconds(lambda: llama.serve(requests, 1)),
        "hf_padded": lambda: seconds(lambda: llama.serve(requests, BATCH)),
    }


def _agreement(model: Transformer, llama: Llama) -> Agreement:
    """Of one by one and padded together, the worse."""
    requests = load()
    ours = serve(model, SERVICE, requests).tokens()
    differing: dict[str, float] = {}
    for batch in (1, BATCH):
        for key, tokens in llama.serve(requests, batch).items():
            place = next(
                (i for i, pair in enumerate(zip(tokens, ours[key], strict=True)) if len({*pair}) > 1), None
            )
            if place is not None:
                request = next(request for request in requests if request.id == key)
                differing[key] = _margin(model, request, place)
    return Agreement(len(requests), len(requests) - len(differing), max(differing.values(), default=None))


def _margin(model: Transformer, request: Request, place: int) -> float:
    """How clear the choice of output token ``place`` was, by the reference."""
    return generate(model, prompt_bytes(request.prompt or ""), place + 1).margins[place]


COLUMNS = "order server ms tokens_per_second times_ours"


def tell(result: HuggingFace, words: Catalogue) -> str:
    """The section as text; one sentence without transformers."""
    if result.version is None or result.agreement is None:
        return f"{words(f'bench.title.{NAME}')}\n{words('bench.note.no_transformers')}"
    rows = [
        (
            words(f"bench.order.{row.order}"),
            words(f"bench.server.{row.server}"),
            milli(row.seconds),
            plain(row.tokens_per_second),
            ratio(row.times_ours),
        )
        for row in result.rows
    ]
    note = heading(words, NAME, version=result.version, batch=result.batch)
    return "\n".join([note, _agreed(result.agreement, words), "", grid(words, COLUMNS, rows)])


def _agreed(found: Agreement, words: Catalogue) -> str:
    if found.margin is None:
        return words("bench.note.all_agree", requests=found.requests)
    return words("bench.note.agree", equal=found.equal, requests=found.requests, margin=f"{found.margin:.1e}")
