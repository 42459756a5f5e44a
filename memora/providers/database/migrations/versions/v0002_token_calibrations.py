"""How well token estimates fit, by model and host.

A migration says what was true when it was written: it imports nothing of Memora.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table, empty."""
    op.create_table(
        "token_calibrations",
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("host", sa.String(), nullable=False),
        sa.Column("estimated_tokens", sa.Float(), nullable=False),
        sa.Column("server_tokens", sa.Float(), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("model", "host", name="pk_token_calibrations"),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("token_calibrations")
