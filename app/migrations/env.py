"""What alembic runs: the migrations on the engine it is handed, in one transaction."""

from __future__ import annotations

from alembic import context

from app.store.schema import metadata

with context.config.attributes["engine"].connect() as connection:
    if connection.dialect.name == "sqlite":
        # One migrates, whole or not at all; who starts at the same moment waits and finds it done.
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    context.configure(connection=connection, target_metadata=metadata, transactional_ddl=True)
    with context.begin_transaction():
        context.run_migrations()
    connection.commit()
