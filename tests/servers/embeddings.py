"""Deterministic embeddings for tests: hashed character bigrams, normalised. Texts that share bigrams are near."""

import base64
import hashlib
import math
import struct
from itertools import pairwise

DIMENSIONS = 1536


def embed(text, dimensions=DIMENSIONS):
    """A vector of length 1."""
    vector = [0.0] * dimensions
    for bigram in pairwise(f" {text.lower()} "):
        digest = hashlib.blake2b("".join(bigram).encode("utf-8", "replace"), digest_size=8).digest()
        vector[int.from_bytes(digest) % dimensions] += 1.0
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector]


def embedding_response(body):
    """The answer to ``POST /v1/embeddings``; ``encoding_format`` (float or base64) and ``dimensions`` are honoured."""
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    vectors = [embed(text, body.get("dimensions") or DIMENSIONS) for text in texts]
    if body.get("encoding_format") == "base64":
        vectors = [base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode() for vector in vectors]
    tokens = sum(max(1, len(text) // 4) for text in texts)
    return {
        "object": "list",
        "model": body.get("model"),
        "data": [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)],
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }
