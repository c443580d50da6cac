"""What outlives a session: attempts, drafts, locked predictions, progress."""

from app.store.classes import Classes, Decided, Member, SchoolClass
from app.store.database import open_store
from app.store.errors import StoreError, store_error
from app.store.shares import ShareRefused, Shares
from app.store.store import Store
from app.store.values import STEPS, Attempt, Draft, Place, Prediction, Progress, Visit

__all__ = [
    "STEPS",
    "Attempt",
    "Classes",
    "Decided",
    "Draft",
    "Member",
    "Place",
    "Prediction",
    "Progress",
    "SchoolClass",
    "ShareRefused",
    "Shares",
    "Store",
    "StoreError",
    "Visit",
    "open_store",
    "store_error",
]
