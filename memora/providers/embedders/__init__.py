"""Texts to vectors: local models by default, OpenAI's (or a compatible server's) on request."""

from memora.providers.embedders.local import LocalEmbedder
from memora.providers.embedders.openai_embeddings import OpenAIEmbedder

__all__ = ["LocalEmbedder", "OpenAIEmbedder"]
