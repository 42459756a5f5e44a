"""Counting tokens without a network: the ranks of o200k_base travel with Memora.

Every model is counted with o200k_base. It is the encoding of OpenAI's current models; for another model the
count is an estimate, and the truth is the usage that its server reports: `TokenCounter.calibrated` counts with
what has been learned from that.
"""

from __future__ import annotations

import base64
import copy
import functools
import hashlib
import json
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

from tiktoken import Encoding

from memora.context.calibration import Calibration
from memora.errors import OperatorError
from memora.model import Item

RANKS_FILE = Path(__file__).parent / "ranks" / "fb374d419588a4632f3f557e76b4b70aebbca790"
RANKS_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"

TOKENS_PER_MESSAGE = 4
"""Tokens around the text of a message: its start, its role, the line between, its end."""

_PIECE_CHARS = 4_000
"""Text is counted in pieces: time and cache stay bounded, and a border between pieces adds a token at most."""

_CACHED_PIECES = 4_096

# What o200k_base is besides its ranks, as OpenAI publishes it. A test compares it with tiktoken's own copy.
_SPECIAL_TOKENS = {"<|endoftext|>": 199_999, "<|endofprompt|>": 200_018}
_UPPER, _LOWER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
_CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_PATTERN = "|".join(
    (
        rf"[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]*[{_LOWER}]+{_CONTRACTION}",
        rf"[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]+[{_LOWER}]*{_CONTRACTION}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)

_loading = threading.Lock()


def o200k_base() -> Encoding:
    """The encoding, read from `RANKS_FILE` the first time (about a second). Raises `OperatorError` if that is damaged.

    tiktoken's own loader is not used: it looks for the file where an environment variable says, and on a wrong
    hash it deletes the file and turns to the network.
    """
    with _loading:
        return _load()


@functools.cache
def _load() -> Encoding:
    try:
        written = RANKS_FILE.read_bytes()
    except OSError as error:
        raise OperatorError(f"{RANKS_FILE} cannot be read: {error.strerror}") from None
    if hashlib.sha256(written).hexdigest() != RANKS_SHA256:
        raise OperatorError(f"{RANKS_FILE} is damaged: its SHA-256 is not the published one")
    lines = (line.split() for line in written.splitlines())
    return Encoding(
        name="o200k_base",
        pat_str=_PATTERN,
        mergeable_ranks={base64.b64decode(token): int(rank) for token, rank in lines},
        special_tokens=_SPECIAL_TOKENS,
    )


class TokenCounter:
    """Counts tokens. Cheap to build, loads the encoding at the first count, safe across threads.

    It remembers the counts of the last texts, so a conversation is not counted anew at each of its turns.
    ``calibration`` is what all counts are corrected with.
    """

    def __init__(self) -> None:
        self.calibration = Calibration()
        self._count_piece = functools.lru_cache(maxsize=_CACHED_PIECES)(_count_piece)

    def warm(self) -> None:
        """Load the encoding now, off the critical path. Raises `OperatorError`."""
        o200k_base()

    def calibrated(self, calibration: Calibration) -> TokenCounter:
        """A counter that counts as ``calibration`` says the server does. It shares what this one remembers."""
        calibrated = copy.copy(self)
        calibrated.calibration = calibration
        return calibrated

    def count(self, text: str) -> int:
        """Tokens of a text. Whatever it holds is text: names of special tokens and lone surrogates too."""
        return self.calibration.corrected(self._count(text))

    def count_message(self, item: Item) -> int:
        """Tokens of one input item; items that are no messages count as their JSON."""
        return self.calibration.corrected(TOKENS_PER_MESSAGE + sum(map(self._count, texts_of(item))))

    def count_items(self, items: Iterable[Item]) -> int:
        """Tokens of several input items."""
        return sum(map(self.count_message, items))

    def count_tools(self, tools: Sequence[Item]) -> int:
        """Tokens of tool definitions, as JSON (servers render them more briefly)."""
        return sum(self.count(as_json(tool)) for tool in tools)

    def _count(self, text: str) -> int:
        starts = range(0, len(text), _PIECE_CHARS)
        return sum(self._count_piece(text[start : start + _PIECE_CHARS]) for start in starts)


def _count_piece(text: str) -> int:
    return len(o200k_base().encode_ordinary(text))


def texts_of(item: Item) -> list[str]:
    """What is counted of an item: the texts of a message, the JSON of anything else."""
    if item.get("type", "message") != "message":
        return [as_json(item)]
    content = item.get("content") or ""
    return (
        [content]
        if isinstance(content, str)
        else [str(part.get("text") or part.get("refusal") or "") for part in content]
    )


def as_json(item: Item) -> str:
    """An item or a tool definition as it is counted."""
    return json.dumps(item, ensure_ascii=False)
