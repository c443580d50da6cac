"""Panel's component, without what Panel would find out anew for every component of every learner.

A page has a dozen components, and a class opens it forty times within seconds, on one event loop.
"""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal

from bokeh.document import Document
from bokeh.events import Event
from panel.custom import JSComponent
from panel.io.resources import component_resource_path
from panel.io.state import set_curdoc, state
from panel.reactive import Syncable
from panel.util import classproperty
from param.parameterized import no_instance_params

NEVER_SYNCED = ("default_layout", "loading", "background")  # as Panel has it


class LeanComponent(JSComponent):
    """Base of every component of ours."""

    _from_browser: ClassVar[dict[str, Any]] = {}  # params its script may write, and of what type

    __abstract = True

    def __init__(self, **params: Any) -> None:
        no_instance_params(type(self))  # or each component keeps a copy of the description of each param
        super().__init__(**params)  # type: ignore[no-untyped-call]  # Panel leaves it unannotated

    @property
    def _linked_properties(self) -> tuple[str, ...]:
        """What Panel listens to: the browser may write nothing else."""
        return tuple(self._from_browser)

    @property
    def _synced_params(self) -> list[str]:
        return _synced_params(type(self))

    def _update_properties(self, *events: Any, doc: Any) -> dict[str, Any]:
        """The changed params as properties, without asking Panel's design: it has said all at the start."""
        properties: dict[str, Any] = Syncable._update_properties(self, *events, doc=doc)
        return properties

    def _process_bokeh_event(self, doc: Document, event: Event) -> None:
        """One message of the browser, without Panel's count of what is going on: no page shows it."""
        with set_curdoc(doc):
            self._process_event(event)

    @classproperty
    def _bundle_path(cls: type[LeanComponent]) -> Path:
        return _bundle_path(cls)

    @classmethod
    def _component_resource_path(cls, esm_path: Path, compiled: bool | Literal["compiling"]) -> str:
        return _address(cls, esm_path, state.rel_path)


@cache
def _synced_params(component: type[LeanComponent]) -> list[str]:
    """The params that Panel keeps in step with the browser."""
    return [name for name in component.param if name not in NEVER_SYNCED]


@cache
def _bundle_path(component: type[LeanComponent]) -> Path:
    """The script of the component."""
    found: Path = super(LeanComponent, component)._bundle_path
    return found


@lru_cache(maxsize=1024)
def _address(component: type[LeanComponent], script: Path, root: str) -> str:
    """Where the browser finds the script; ``root``, which Panel knows, leads to the root of the lab."""
    return str(component_resource_path(component, "_bundle_path", script))
