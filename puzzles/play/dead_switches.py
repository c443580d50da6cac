"""Which settings do nothing on a trace, and why: decided by running the ledger with other values.

A setting is dead where no value tried changes any request's times. The reason is computed from what
the run was short of, never assumed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from engine import History, InputError, Request, Service, Skim, Stalled, skim
from engine.cli.figures import setting_text
from engine.service import SETTINGS
from engine.words import Catalogue
from puzzles.play.facts import Facts, facts
from puzzles.play.trials import trials

PROBED = tuple(name for name in SETTINGS if name != "tick")
STALLED = "stalled"
MOST_NAMED = 4  # requests named in a sentence


class Trial(msgspec.Struct, frozen=True):
    """Another value, as text: the requests whose times it changes, those of them whose tokens come in
    other ticks (not only their prefill), and whether memory figures change."""

    value: str
    changed: tuple[str, ...]
    moved: tuple[str, ...]
    memory: bool


class Switch(msgspec.Struct, frozen=True):
    """One setting on one run: its value, what was tried, and why what has no effect has none."""

    name: str
    value: str
    trials: tuple[Trial, ...]
    because: str
    facts: Facts

    @property
    def dead(self) -> bool:
        """Whether nothing that was tried changes a request's times."""
        return not any(trial.changed for trial in self.trials)


def probe(
    requests: Sequence[Request], service: Service, history: History, horizon: object = None
) -> Iterator[Switch]:
    """Every setting but the tick, one at a time. ``history`` is the recorded run of ``service``."""
    found, before = facts(history), skim(requests, service, horizon)
    for name in PROBED:
        tried = [
            _try(requests, service, name, value, before, horizon) for value in trials(name, service, found)
        ]
        value = setting_text(getattr(service, name))
        yield Switch(name, value, tuple(filter(None, tried)), because(name, service, found), found)


def _try(
    requests: Sequence[Request], service: Service, name: str, value: Any, before: Skim, horizon: object
) -> Trial | None:
    """What another value does; None where the other settings do not allow it."""
    text = setting_text(value)
    try:
        after = skim(requests, service.replace(**{name: value}), horizon)
    except InputError:
        return None
    except Stalled:
        return Trial(text, (STALLED,), (STALLED,), True)
    pairs = {key: (life, after.lives[key]) for key, life in before.lives.items()}
    changed = tuple(key for key, (one, other) in pairs.items() if _times(one) != _times(other))
    moved = tuple(key for key in changed if _tokens(pairs[key][0]) != _tokens(pairs[key][1]))
    return Trial(text, changed, moved, before.peaks != after.peaks)


def _times(life: Any) -> tuple[Any, ...]:
    """All that a request can see of its own run."""
    return life.start, *_tokens(life)


def _tokens(life: Any) -> tuple[Any, ...]:
    return life.status, life.runs, life.ended


# ---- why --------------------------------------------------------------------------------------------


def because(name: str, service: Service, found: Facts) -> str:
    """The code (``because.<code>``) of why a setting that does nothing does nothing."""
    return _belongs_elsewhere(name, service) or _never_short(name, service, found) or "same"


def _belongs_elsewhere(name: str, service: Service) -> str | None:
    """Settings that another setting has switched off."""
    overtaking = {service.queue_order, service.decode_order} & {"shortest", "priority"}
    off = {
        "batch_size": ("only_static", service.policy != "static"),
        "max_wait": ("only_static", service.policy != "static"),
        "max_active": ("only_continuous", service.policy != "continuous"),
        "max_len": ("only_contiguous", service.kv_layout != "contiguous"),
        "max_skip": ("only_overtaking", not overtaking),
        "kv_bytes_per_token": ("only_scale", True),
        "speculate": ("only_engine", True),
    }
    code, applies = off.get(name, ("", False))
    return code if applies else None


def _never_short(name: str, service: Service, found: Facts) -> str | None:
    """Settings that deal with a shortage which never came."""
    plenty = not found.short_of_pages and not found.refused
    covered = not found.short_of_budget and not found.split
    codes = {
        "decode_slots": ("slots_spare", not found.short_of_slots),
        "decode_order": ("slots_spare", not found.short_of_slots),
        "queue_order": ("short_queue" if found.waiting else "empty_queue", found.waiting <= 1),
        "prefill_budget": ("budget_spare", covered),
        "chunked_prefill": ("never_split", covered),
        "shared_budget": ("tokens_spare", covered or service.shared_budget is None),
        "max_active": ("active_spare", service.max_active is None or found.active < service.max_active),
        "pages": ("pages_spare", plenty),
        "page_size": ("pages_spare", plenty),
        "kv_reserve": ("pages_spare", plenty),
        "kv_layout": ("pages_spare", plenty),
        "prefix_cache": ("no_prompts" if not found.prompts else "nothing_shared", True),
    }
    code, applies = codes.get(name, ("", False))
    return code if applies else None


# ---- in words -----------------------------------------------------------------------------------------


def verdict_text(switches: Mapping[str, Switch], words: Catalogue) -> str:
    """One setting on every run, by the title of the run, in one or two sentences."""
    alive = {title: switch for title, switch in switches.items() if not switch.dead}
    if not alive:
        memory = any(trial.memory for switch in switches.values() for trial in switch.trials)
        reasons = _reasons(list(switches.values()), words)
        return words("switch.dead", because=reasons + (words("switch.memory") if memory else ""))
    if len(alive) == len(switches):
        text = _effect(next(iter(alive.values())), words)
    else:
        titles = words("list.separator").join(alive)
        text = words("switch.for", titles=titles) + _effect(next(iter(alive.values())), words)
    return text + _beyond(list(switches.values()), words)


def _reasons(switches: Sequence[Switch], words: Catalogue) -> str:
    """Why, once per code: of several runs the largest figures hold for all of them."""
    grouped: dict[str, list[Switch]] = {}
    for switch in switches:
        grouped.setdefault(switch.because, []).append(switch)
    return words("because.separator").join(_reason(code, found, words) for code, found in grouped.items())


def _reason(code: str, switches: Sequence[Switch], words: Catalogue) -> str:
    found = switches[0].facts
    for switch in switches[1:]:
        found = found.joined(switch.facts)
    tried = list(dict.fromkeys(trial.value for switch in switches for trial in switch.trials))
    return words(
        f"because.{code}", tried=words("list.separator").join(tried), **msgspec.structs.asdict(found)
    )


def _effect(switch: Switch, words: Catalogue) -> str:
    """The nearest value that changes something, and whom; one that moves tokens before one that does not."""
    alive = [trial for trial in switch.trials if trial.changed]
    trial = next((trial for trial in alive if trial.moved), alive[0])
    if trial.changed == (STALLED,):
        return words("switch.stalls", name=switch.name, value=trial.value)
    ids = _named(trial.moved or trial.changed, words)
    return words(
        "switch.alive" if trial.moved else "switch.queue", name=switch.name, value=trial.value, ids=ids
    )


def _named(ids: Sequence[str], words: Catalogue) -> str:
    """The first few of ``ids``, and how many more there are."""
    more = len(ids) - MOST_NAMED
    named = words("list.separator").join(ids[:MOST_NAMED])
    return named + (words("switch.more", count=more) if more > 0 else "")


def _beyond(switches: Sequence[Switch], words: Catalogue) -> str:
    """For a setting of which there is enough: that more of it does nothing, and why."""
    higher = [trial for switch in switches for trial in switch.trials if _is_more(trial.value, switch.value)]
    if not higher or any(trial.changed for trial in higher) or any(s.because == "same" for s in switches):
        return ""
    return words("switch.beyond", because=_reasons(switches, words))


def _is_more(value: str, than: str) -> bool:
    if than == "none":
        return False
    return value == "none" or (value.isdigit() and than.isdigit() and int(value) > int(than))
