"""The engine in a process of its own, and the recorded runs that all learners share.

``Runs`` is what the pages use; ``Worker`` is the pipe to ``child``, the only module that may import torch.
"""

from app.worker.client import Worker
from app.worker.errors import WorkerBusy, WorkerError, WorkerLost, WorkerRefused, WorkerTimeout
from app.worker.runs import Recording, Runs
from app.worker.spec import RunSpec

__all__ = [
    "Recording",
    "RunSpec",
    "Runs",
    "Worker",
    "WorkerBusy",
    "WorkerError",
    "WorkerLost",
    "WorkerRefused",
    "WorkerTimeout",
]
