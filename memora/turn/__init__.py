"""A turn: from the user's message to the reply, and what it told on the way."""

from memora.turn.flow import ModelReply, run_model_with_tools

__all__ = ["ModelReply", "run_model_with_tools"]
