"""The tools that the model may ask for."""

from memora.tools.count_english_words import COUNT_WORDS_MAX_CHARS, count_english_words
from memora.tools.registry import TOOL_HANDLERS, TOOLS, execute_tool_call, failed_output

__all__ = [
    "COUNT_WORDS_MAX_CHARS",
    "TOOLS",
    "TOOL_HANDLERS",
    "count_english_words",
    "execute_tool_call",
    "failed_output",
]
