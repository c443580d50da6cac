"""A one-layer draft model that learns to propose what the trained model would say."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from engine.model.config import DRAFT, ModelConfig
from engine.model.transformer import Transformer, build
from engine.training.loop import Loss, Schedule

SCHEDULE = Schedule(steps=1600)


def start_draft(teacher: Transformer, config: ModelConfig = DRAFT, seed: int = 0) -> Transformer:
    """A draft that begins with the teacher's embedding, first layers, final norm and head."""
    draft = build(config, seed)
    known = teacher.state_dict()
    draft.load_state_dict({name: known[name] for name in draft.state_dict()})
    return draft


def distillation(student: Transformer, teacher: Transformer) -> Loss:
    """The loss KL(teacher | student) in nats per byte; the targets in the text are not used,
    because a draft is judged by whether it agrees with the teacher, right or wrong."""

    def loss(inputs: Tensor, _: Tensor) -> Tensor:
        with torch.no_grad():
            wanted = functional.log_softmax(teacher(inputs).flatten(0, 1).float(), -1)
        given = functional.log_softmax(student(inputs).flatten(0, 1).float(), -1)
        return functional.kl_div(given, wanted, reduction="batchmean", log_target=True)

    return loss


@torch.inference_mode()
def agreement(student: Transformer, teacher: Transformer, text: Tensor, window: int = 256) -> float:
    """Share of places in `text` (bytes) at which both models' likeliest next byte is the same.

    Windows do not overlap and their first half is not counted, so every place has context.
    """
    same, counted = 0, 0
    for windows in torch.split(text.unfold(0, window, window).long(), 32):
        both = [model(windows)[:, window // 2 :].argmax(-1) for model in (student, teacher)]
        same += int((both[0] == both[1]).sum())
        counted += both[0].numel()
    return same / counted
