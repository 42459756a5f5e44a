"""What may be handed to a model for embedding."""

from __future__ import annotations


def readable_text(text: str, *, max_chars: int) -> str:
    """``text`` without lone surrogates and NUL, and of a longer text its beginning and its end.

    What a long message asks stands mostly before or after what was pasted.
    """
    if len(text) > max_chars:
        half = max_chars // 2
        text = f"{text[:half]} {text[-half:]}"
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")
