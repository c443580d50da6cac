"""A run as data: the requests, the records, and what can be read off them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from engine.records import TickRecord
from engine.requests import Request
from engine.service import Service

if TYPE_CHECKING:
    from engine.measuring.metrics import Metrics


@dataclass(repr=False)
class History:
    """The list of TickRecords of one run, with its service, its requests by key, and its horizon (s).

    ``tokens_of(history.records, key)`` are the tokens of a request.
    """

    service: Service
    requests: dict[str, Request] = field(default_factory=dict)
    records: list[TickRecord] = field(default_factory=list)
    horizon: Decimal | None = None
    _numbers: dict[str, int] = field(default_factory=dict, compare=False)  # last one, by id

    def __repr__(self) -> str:
        return f"<History of {len(self.records)} ticks and {len(self.requests)} requests>"

    def new_key(self, request_id: str) -> str:
        """``request_id``, or id#2, id#3 … when a request of that id has been in this run."""
        key, number = request_id, self._numbers.get(request_id, 1)
        while key in self.requests:
            number += 1
            key = f"{request_id}#{number}"
        self._numbers[request_id] = number
        return key

    def metrics(self, slo_ttft: object = None, slo_tpot: object = None) -> Metrics:
        """Metrics of the run so far; limits in seconds, None for no limit.

        May be asked for while another thread steps the engine. Raises InputError for what is no limit.
        """
        from engine.measuring.measurement import measure

        return measure(self.copy(), slo_ttft=slo_ttft, slo_tpot=slo_tpot)

    def copy(self) -> History:
        """The run up to now, which does not grow when this one does."""
        records = self.records.copy()  # first: whoever a record names is among the requests by then
        return History(self.service, self.requests.copy(), records, self.horizon)

    def comparable(self) -> list[TickRecord]:
        """The records without token values and measurements: what ledger and engine must agree on."""
        return [record.without_tokens() for record in self.records]


def tokens_of(records: Iterable[TickRecord], key: str) -> list[int | None]:
    """The tokens ``key`` was given, in order."""
    return [token for record in records for name, _, token in record.emitted if name == key]
