"""What alembic runs: the migrations in the transaction it is handed, which its owner commits."""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection

from app.store.schema import metadata


def run(connection: Connection) -> None:
    context.configure(connection=connection, target_metadata=metadata, transactional_ddl=True)
    with context.begin_transaction():
        context.run_migrations()


if "connection" in context.config.attributes:
    run(context.config.attributes["connection"])
else:  # by hand, outside the server
    with context.config.attributes["engine"].begin() as own:
        run(own)
