"""Run by Alembic, on the connection and in the transaction of `memora.providers.database.migrate`."""

from alembic import context

from memora.providers.database.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
