"""The first shape: attempts, predictions, drafts, progress."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def place() -> list[sa.Column[Any]]:
    return [
        sa.Column("learner", sa.String(64), nullable=False),
        sa.Column("exercise", sa.String(64), nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False, autoincrement=False),
    ]


def moment(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=False)


def key(table: str) -> sa.PrimaryKeyConstraint:
    return sa.PrimaryKeyConstraint("learner", "exercise", "attempt", name=f"pk_{table}")


def upgrade() -> None:
    op.create_table("attempts", *place(), sa.Column("seed", sa.Integer), moment("started"), key("attempts"))
    op.create_table(
        "predictions",
        sa.Column("id", sa.Integer, nullable=False),
        *place(),
        sa.Column("vote", sa.Integer, nullable=False),
        sa.Column("answers", sa.JSON, nullable=False),
        sa.Column("confidence", sa.Integer),
        sa.Column("why", sa.Text, nullable=False),
        moment("locked"),
        sa.PrimaryKeyConstraint("id", name="pk_predictions"),
        sa.UniqueConstraint("learner", "exercise", "attempt", "vote", name="uq_predictions_learner"),
    )
    op.create_table(
        "drafts",
        *place(),
        sa.Column("answers", sa.JSON, nullable=False),
        sa.Column("confidence", sa.Integer),
        sa.Column("why", sa.Text, nullable=False),
        moment("saved"),
        key("drafts"),
    )
    op.create_table(
        "progress",
        *place(),
        sa.Column("step", sa.String(16), nullable=False),
        sa.Column("tick", sa.Integer),
        sa.Column("known", sa.Integer, nullable=False),
        sa.Column("observed", sa.JSON),
        sa.Column("revealed", sa.Boolean, nullable=False),
        moment("changed"),
        key("progress"),
    )


def downgrade() -> None:
    for table in ("progress", "drafts", "predictions", "attempts"):
        op.drop_table(table)
