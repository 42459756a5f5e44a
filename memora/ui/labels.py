"""Names of things in the interface, marked for translation."""

from __future__ import annotations

from memora.i18n import mark
from memora.memory.values import Category, HistoryAction, Origin, ProfileField, RefusalReason

CATEGORY: dict[Category, str] = {
    Category.PROFILE: mark("About you"),
    Category.PREFERENCE: mark("Preference"),
    Category.GOAL: mark("Goal"),
    Category.EXPERIENCE: mark("Experience"),
    Category.KNOWLEDGE: mark("Knowledge"),
    Category.DIFFICULTY: mark("Difficulty"),
}
CATEGORY_COLOR: dict[Category, str] = {
    Category.PROFILE: "blue",
    Category.PREFERENCE: "violet",
    Category.GOAL: "green",
    Category.EXPERIENCE: "orange",
    Category.KNOWLEDGE: "gray",
    Category.DIFFICULTY: "red",
}

PROFILE_FIELD: dict[ProfileField, str] = {
    "name": mark("Name"),
    "native_language": mark("Native language"),
    "english_level": mark("English level (CEFR)"),
    "goals": mark("Goals"),
    "interests": mark("Interests"),
    "correction_style": mark("How to correct you"),
    "explanation_style": mark("How to explain things"),
}
FIELD: dict[str, str] = {
    **{str(field): name for field, name in PROFILE_FIELD.items()},
    "api_key": mark("API key"),
    "base_url": mark("Address of an OpenAI-compatible server"),
    "max_input_tokens": mark("Token budget for one request"),
    "content": mark("memory text"),
    "importance": mark("importance"),
}
"""Fields by the names that errors give them."""

RECALL_STEP: dict[str, str] = {
    "embedding": mark("embedding"),
    "index": mark("index"),
    "words": mark("words in common"),
    "record": mark("record"),
    "ranking": mark("ranking"),
}

PROFILE_HINT: dict[ProfileField, str] = {
    "name": mark("What the tutor calls you"),
    "native_language": mark("For example: Traditional Chinese"),
    "english_level": mark("From A1 (beginner) to C2 (near-native)"),
    "goals": mark("For example: IELTS 7.0 in March"),
    "interests": mark("For example: hiking, films, cooking"),
    "correction_style": mark("For example: correct every mistake at once"),
    "explanation_style": mark("For example: short, in Chinese, with examples"),
}

ORIGIN: dict[Origin, str] = {
    "extraction": mark("learned in a conversation"),
    "user": mark("written by you"),
    "import": mark("imported"),
}

REFUSAL: dict[RefusalReason, str] = {
    "quote_not_found": mark("the quote is not in your message"),
    "not_lasting": mark("not a lasting fact about you"),
    "secret": mark("looks like a secret, so it is never kept"),
    "malformed": mark("not in the expected form"),
    "duplicate": mark("the same as another candidate"),
}

HISTORY: dict[HistoryAction, str] = {
    "created": mark("Created"),
    "edited": mark("Edited"),
    "superseded": mark("Replaced by a newer version"),
    "restored": mark("Brought back"),
    "deleted": mark("Deleted"),
    "undeleted": mark("Deletion undone"),
    "pinned": mark("Pinned"),
    "unpinned": mark("Unpinned"),
}

SCORE_PART: dict[str, str] = {
    "vector": mark("meaning"),
    "words": mark("words"),
    "recency": mark("recency"),
    "importance": mark("importance"),
    "pinned": mark("pinned"),
}

CONTEXT_PART: dict[str, str] = {
    "system": mark("system prompt"),
    "tools": mark("tool definitions"),
    "background": mark("background"),
    "summary": mark("summary"),
    "messages": mark("messages"),
}

DECISION: dict[str, str] = {
    "create": mark("new"),
    "skip": mark("known already"),
    "update": mark("updated"),
}
DECIDED_BY: dict[str, str] = {
    "no_similar_memory": mark("nothing similar was known, so no model was asked"),
    "same_sentence": mark("the same sentence is known, so no model was asked"),
    "model": mark("the model decided"),
    "fallback": mark("the model's decision could not be used, so the fact is kept"),
}
NOT_EXECUTED: dict[str, str] = {
    "only_one_call_per_turn": mark("Not executed: only one function call per turn."),
    "no_call_in_second_request": mark("Not executed: the second request may not call functions."),
    "response_incomplete": mark("Not executed: the response was incomplete, so the arguments may be cut off."),
}
LEARNING_SKIPPED: dict[str, str] = {
    "memory_off": mark("Memory is switched off in the settings."),
    "no_reply": mark("There is no answer to learn from."),
}
