"""The worker process: reads commands from its standard input, steps torch engines, writes records.

It ends when its input ends, so it never outlives the server.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections import OrderedDict
from contextlib import suppress
from typing import BinaryIO

import msgspec
import torch

from app.worker.spec import (
    HEADER,
    Advance,
    Advanced,
    Command,
    Compare,
    Compared,
    Failed,
    Ready,
    Refused,
    Reply,
    commands,
    packed,
)
from engine import Engine, InputError, Stalled
from engine.model.transformer import Transformer
from engine.service import WEIGHTS
from engine.serving.loading import load_model
from engine.words import in_every_language

HELD_OUT_BYTES = 2048  # of the text on which the loss of the formats is compared: under a second
LIVE_RUNS = 512  # engines kept ready for the next step (0.2 MB each): a class, each on a variant of its own


class Bench:
    """The engines at work, by run, and the models they share, by weight format."""

    def __init__(self) -> None:
        self.engines: OrderedDict[str, Engine] = OrderedDict()
        self.models: dict[str, Transformer] = {}

    def answer(self, command: Command) -> Reply:
        """Carry out ``command``. A run that fails is dropped, and the others go on."""
        try:
            return self.compare(command) if isinstance(command, Compare) else self.advance(command)
        except (InputError, Stalled) as error:
            self.drop(command)
            return Refused(command.number, in_every_language(error))
        except Exception as error:
            traceback.print_exc()
            self.drop(command)
            return Failed(command.number, repr(error))

    def drop(self, command: Command) -> None:
        if isinstance(command, Advance):
            self.engines.pop(command.spec.key, None)

    def advance(self, command: Advance) -> Advanced:
        """Real engine steps for the ticks nobody has run yet."""
        engine = self.engine(command)
        while not engine.scheduler.idle and len(engine.history.records) <= command.upto:
            engine.step()
        records = engine.history.records
        done = engine.scheduler.idle and len(records) <= command.upto + 1
        if done:  # recorded to its end: nobody will step it again
            self.drop(command)
        return Advanced(command.number, tuple(records[command.start : command.upto + 1]), done)

    def compare(self, command: Compare) -> Compared:
        """What fewer bits cost on these prompts."""
        from engine.quantize import comparison

        found = comparison(command.requests, model=self.model("fp32"), held_out_bytes=HELD_OUT_BYTES)
        return Compared(command.number, msgspec.to_builtins(found))

    def engine(self, command: Advance) -> Engine:
        """The engine of this run, where it was left, or a new one at tick 0."""
        key = command.spec.key
        if key not in self.engines:
            self.engines[key] = self.start(command)
        self.engines.move_to_end(key)
        if len(self.engines) > LIVE_RUNS:
            self.engines.popitem(last=False)
        return self.engines[key]

    def start(self, command: Advance) -> Engine:
        """A new engine with the whole trace submitted, and no more to come."""
        spec = command.spec
        engine = Engine(spec.service, spec.weights, model=self.model(spec.weights))
        engine.scheduler.size_for(spec.requests)
        for request in spec.requests:
            prompt = request.prompt or ""
            engine.submit(prompt, request.output_tokens, request_id=request.id, arrival=request.arrival)
        engine.close()
        return engine

    def model(self, weights: str) -> Transformer:
        if weights not in self.models:
            self.models[weights] = load_model(weights)
        return self.models[weights]


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Answer every command, in order, until ``source`` ends."""
    bench = Bench()
    for weights in WEIGHTS:  # now, so that the first learner's first step does not wait for them
        bench.model(weights)
    sink.write(packed(Ready()))
    while len(head := source.read(HEADER)) == HEADER:
        command = commands.decode(source.read(int.from_bytes(head, "big")))
        sink.write(packed(bench.answer(command)))


def main() -> None:
    """Keep the pipe to ourselves: whatever else prints goes to the server's log."""
    sink = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    torch.set_num_threads(1)
    with suppress(BrokenPipeError):  # the server is gone, and with it whoever would hear the answer
        serve(sys.stdin.buffer, sink)


if __name__ == "__main__":
    main()
