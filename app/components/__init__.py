"""The components of the learner's page: what is typed, the run, and the pictures of it.

Every component takes ``language`` ("en", "zh") and fills ``texts`` from the catalogues beside this file
by itself; it is as wide as its place. They draw with the page's colours (``tokens.css``, on the root
element, also for ``data-theme="dark"``; loaded by the first component when the page has none).

One tick and one highlighted request for the whole page, and the runs, travel on the window:

====================== =========================== ===================================================
event                  detail                      who sends it
====================== =========================== ===================================================
``ticklab:tick``       ``{tick, by, playing}``     ``Player``; a cell or a row that is clicked. ``by``
                                                   names the sender; -1 is before the first tick.
``ticklab:request``    ``{id}`` or ``{id: null}``  whatever the pointer or the focus is on
``ticklab:runs``       ``{runs}``                  ``Runs``, with all ticks delivered so far
``ticklab:connection`` ``{open}``                  the page; when it is open again, what was typed and
                                                   the tick are sent once more
``ticklab:theme``      ``{theme}``                 the page; figures are painted again
``ticklab:projector``  ``{on}``                    the page; nothing of one learner is shown
``ticklab:help``                                   ``Player``: the page lists the keys
====================== =========================== ===================================================

Any script may send the first two: ``Player`` follows, and writes its ``tick`` back to the server.

What is typed
    ``PredictionForm``: ``fields``, ``parts``, ``columns`` (see their docs); ``draft`` {key: text as typed,
    also "confidence" and "why"}, two ways; ``lock`` (event: watch it, then read ``draft``); answer with
    ``locked = True`` or ``refuse({key: sentence})``. ``storage_id`` names the copy kept in the browser.
The run
    ``Runs``: ``show(list of RunView)``, all of it each time; only new ticks are sent. Put it anywhere.
    ``Player``: ``enabled``, ``known`` (ticks delivered), ``last`` (final tick of all runs or None),
    ``tick`` (written by the browser when the learner stops, steps, jumps or drops the slider),
    ``request_step`` and ``request_end`` (events: deliver more, then raise ``known``), ``problem``.
Pictures of it (all read ``Runs``; ``names`` chooses runs, in order, ``titles`` calls them otherwise)
    ``Timelines``: ``predictions`` {run: {request: TTFT in seconds}}; ``legend``; ``flags``.
    ``Strip``: prefill, decode slots and KV of each run at the page's tick.
    ``PageMaps``: the KV pool, paged or contiguous, who owns what and how much is written.
    ``Backlog``: requests waiting, over time.
    ``Streams``: the text and the bytes so far; ``prompts`` {request: text}. ``Log``: each tick in words.
    ``Timelines``, ``PageMaps`` and ``Backlog`` have a table beside them (see ``tabled.py``): watch ``asked``,
    call ``answer(views)``.
When asked for
    ``Quantization``: ``enabled``, ``asked`` (event); answer with ``show(comparison, ms)``, where
    ``comparison`` is the engine's as plain values and ``ms`` {format: measured ms per tick}, or ``problem``.

Scripts and sheets are served by Panel's own route for component files, with a digest in the address;
``shared.js`` holds what the scripts have in common.
"""

from app.components.backlog import Backlog
from app.components.page_maps import PageMaps
from app.components.player import Player
from app.components.prediction_form import PredictionForm
from app.components.quantization import Quantization
from app.components.runs import Runs
from app.components.streams import Log, Streams
from app.components.strip import Strip
from app.components.timelines import Timelines

__all__ = [
    "Backlog",
    "Log",
    "PageMaps",
    "Player",
    "PredictionForm",
    "Quantization",
    "Runs",
    "Streams",
    "Strip",
    "Timelines",
]
