"""How the database came to its present shape; alembic runs these in order."""
