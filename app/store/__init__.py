"""What outlives a session: attempts, drafts, locked predictions, progress."""

from app.store.database import open_store
from app.store.shares import ShareRefused, Shares
from app.store.store import Store
from app.store.values import STEPS, Attempt, Draft, Place, Prediction, Progress

__all__ = [
    "STEPS",
    "Attempt",
    "Draft",
    "Place",
    "Prediction",
    "Progress",
    "ShareRefused",
    "Shares",
    "Store",
    "open_store",
]
