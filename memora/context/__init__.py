"""Short-term memory: what is sent of a conversation, and what is folded away.

`ShortTermMemory.prepare_context` and `ShortTermMemory.finish_turn` are its two moments in a turn.
"""

from memora.context.background import BACKGROUND_SHARE, Background, background_messages, build_background
from memora.context.calibration import Calibration
from memora.context.instructions import system_prompt
from memora.context.message import check_message_fits, clean_message
from memora.context.prepared import Fold, PreparedContext
from memora.context.short_term import TOOL_TURN_TOKEN_RESERVE, ShortTermMemory
from memora.context.summary import Summarizer
from memora.context.tokens import TokenCounter

__all__ = [
    "BACKGROUND_SHARE",
    "TOOL_TURN_TOKEN_RESERVE",
    "Background",
    "Calibration",
    "Fold",
    "PreparedContext",
    "ShortTermMemory",
    "Summarizer",
    "TokenCounter",
    "background_messages",
    "build_background",
    "check_message_fits",
    "clean_message",
    "system_prompt",
]
