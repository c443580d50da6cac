"""Classes and who is in them; a decision belongs to a class and may be about one exercise."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

from app.store.schema import Moment

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

Rows = list[dict[str, Any]]


def upgrade() -> None:
    classes, members = _classes(), _members()
    _everybody_so_far(classes, members)
    kept = _rows("name", "value", "made")
    op.drop_table("decisions")
    decisions = _decisions(
        sa.Column("class_id", sa.Integer, sa.ForeignKey("classes.id", name="fk_decisions_class_id")),
        sa.Column("exercise", sa.String(64)),
        value=sa.JSON(),
    )
    op.create_index("ix_decisions_class_id", "decisions", ["class_id"])
    _put(decisions, kept)
    op.add_column("drafts", sa.Column("vote", sa.Integer, nullable=False, server_default="1"))


def downgrade() -> None:
    kept = [row for row in _rows("name", "value", "made") if isinstance(row["value"], bool)]
    op.drop_table("decisions")
    _put(_decisions(value=sa.Boolean()), kept)
    op.drop_column("drafts", "vote")
    op.drop_table("members")
    op.drop_table("classes")


def _classes() -> sa.Table:
    return op.create_table(
        "classes",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("started", Moment, nullable=False),
        sa.Column("ended", Moment),
        sa.Column("expires", Moment),
        sa.PrimaryKeyConstraint("id", name="pk_classes"),
    )


def _members() -> sa.Table:
    table = op.create_table(
        "members",
        sa.Column("learner", sa.String(64), nullable=False),
        sa.Column(
            "class_id", sa.Integer, sa.ForeignKey("classes.id", name="fk_members_class_id"), nullable=False
        ),
        sa.Column("nickname", sa.String(40)),
        sa.Column("joined", Moment, nullable=False),
        sa.PrimaryKeyConstraint("learner", name="pk_members"),
    )
    op.create_index("ix_members_class_id", "members", ["class_id"])
    return table


def _everybody_so_far(classes: sa.Table, members: sa.Table) -> None:
    """Who was here before there were classes is one class of the past, so that it can be seen and deleted."""
    places = " union ".join(
        f"select learner from {table}" for table in ("attempts", "predictions", "drafts", "progress")
    )
    learners = [str(row.learner) for row in op.get_bind().execute(sa.text(places))]
    if not learners:
        return
    first, last = _lesson()
    made = op.get_bind().execute(classes.insert().values(name="", started=first, ended=last))
    found = made.inserted_primary_key
    assert found is not None
    op.bulk_insert(members, [{"learner": one, "class_id": found[0], "joined": first} for one in learners])


def _lesson() -> tuple[datetime, datetime]:
    """When the first and the last attempt began; now, where there are only drafts."""
    started = sa.table("attempts", sa.column("started", Moment)).c.started
    first, last = op.get_bind().execute(sa.select(sa.func.min(started), sa.func.max(started))).one()
    now = datetime.now(UTC)
    return first or now, last or now


def _decisions(*more: sa.Column[Any], value: Any) -> sa.Table:
    return op.create_table(
        "decisions",
        sa.Column("id", sa.Integer, nullable=False),
        *more,
        sa.Column("name", sa.String(32), nullable=False),
        sa.Column("value", value, nullable=False),
        sa.Column("made", Moment, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_decisions"),
    )


def _rows(*names: str) -> Rows:
    """What the decisions were, in their order; they are few."""
    columns = sa.inspect(op.get_bind()).get_columns("decisions")
    value = next(column["type"] for column in columns if column["name"] == "value")
    types: dict[str, Any] = {"made": Moment, "value": value}
    table = sa.table("decisions", *(sa.column(name, types.get(name)) for name in ("id", *names)))
    found = op.get_bind().execute(sa.select(table).order_by(table.c.id)).mappings()
    return [{name: row[name] for name in names} for row in found]


def _put(table: sa.Table, rows: Rows) -> None:
    """Rows without their numbers: the table counts on from its own."""
    for row in rows:
        op.get_bind().execute(table.insert().values(row))
