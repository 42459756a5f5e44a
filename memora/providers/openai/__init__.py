"""OpenAI's Responses API, and the servers that speak it."""

from memora.providers.openai.client import build_client
from memora.providers.openai.model import OpenAIModel

__all__ = ["OpenAIModel", "build_client"]
