"""What of an exchange may stay in a cassette: a list of what is kept; everything else is made unreadable.

Kept are the structure, numbers, statuses, types, names of models and of our own tools, and what Memora itself writes
into every request: instructions, tools and schemas. What people or models have written keeps its length only
(see `letters`). Ids are numbered anew, the same everywhere. Of what a server says about an error, the words that
servers speak in are kept (see `vocabulary`), without anything that the exchange itself says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from memora.providers.cassette.cassette import Answer, Exchange, as_json
from memora.providers.cassette.frames import payload_of, rewritten
from memora.providers.cassette.ids import Ids
from memora.providers.cassette.letters import masked
from memora.providers.cassette.vocabulary import WORDS

MAX_TEXT_CHARS = 2_000
"""How much is kept of a body that is neither JSON nor a stream: the page of a proxy, mostly."""
MAX_HEADER_CHARS = 100
PIECE_CHARS = 4
"""So many characters in common with private text, and a server's sentence loses them."""


def _names(names: str) -> frozenset[str]:
    return frozenset(names.split())


_IDS = _names("id item_id call_id response_id previous_response_id")
_IDENTIFIERS = _names(
    "type object status role code param reason truncation service_tier tool_choice effort verbosity phase include loc "
    "encoding_format owned_by"
)
_SENTENCES = _names("message msg detail error")
_COUNTS = _names(
    "index output_index content_index summary_index sequence_number created created_at completed_at max_output_tokens "
    "temperature top_p top_logprobs input_tokens output_tokens total_tokens cached_tokens cache_write_tokens "
    "reasoning_tokens prompt_tokens dimensions status code loc"
)
_NODES = _names(
    "response item part output input content summary data error detail usage input_tokens_details "
    "output_tokens_details incomplete_details reasoning text format tool_choice include loc"
)
"""Where the API's own fields go on inside; any other object or list is unknown, and private to its last key."""
_OPAQUE = {"encrypted_content": "[encrypted]", "embedding": "", "logprobs": ""}
_OURS = ("instructions", "tools", "text")
"""What Memora writes itself, into the request; responses may repeat it."""
_WORDS = _names("ok result error profile memories summary messages content user_message assistant_reply")
"""Names in the JSON that Memora quotes inside texts; those of its tools and schemas are found in the request."""

_IDENTIFIER = re.compile(r"[A-Za-z][\w.:'\[\]-]{0,99}")
_MODEL = re.compile(r"[\w.:/@+-]{1,200}")
_FOLDERS = re.compile(r"(?:~|[A-Za-z]:)?/.*/(?=[^/]*$)")
_ENCODED = re.compile(r"\\[ux][0-9A-Fa-f]{2,4}|%[0-9A-Fa-f]{2}|&#?\w+;")
_SPOKEN = re.compile(r"(?:\d+\.){3}\d+|[^\W_]+")
"""A word or a number of a sentence, of an identifier, of a field's name; a network address as one."""
MAX_DIGITS = 6
"""Longer numbers are masked: a telephone has more."""
_RECOGNIZED = re.compile(
    r"encrypted content is not supported|item (?:with id )?'rs_|not found|insufficient[ _](?:quota|balance)|billing"
    r"|credit balance|context[ _](?:length|window|size)|maximum context|does not exist|\bmodel\b",
    re.IGNORECASE,
)
"""What Memora reads out of a server's sentences. It stays, or a replay would take another way."""
_HEADER = re.compile(
    r"content-type|retry-after(?:-ms)?|x-should-retry|openai-processing-ms|openai-version|server"
    r"|x-ratelimit-(?:limit|remaining|reset)-(?:requests|tokens)"
)
_CONTENT_TYPE = re.compile(r"(?:application|text)/[\w.+-]{1,40}(?:; ?charset=[\w-]{1,20})?")
_ROUTE_PARTS = _names("v1 api openai responses input_tokens embeddings models")


def masked_exchange(exchange: Exchange, *, ids: Ids, secret: str = "") -> Exchange:
    """``exchange`` as it may be kept. ``secret`` is the key that was sent, for servers that repeat it."""
    mask = _Mask(exchange, ids=ids, secret=secret)
    mask.of(exchange)  # the first time only to hear what is private: a server may repeat it, before or after
    return mask.of(exchange)


class _Mask:
    """The masking of one exchange, which remembers what it has made unreadable."""

    def __init__(self, exchange: Exchange, *, ids: Ids, secret: str) -> None:
        sent = exchange.body if isinstance(exchange.body, Mapping) else {}
        self._ids = ids
        self._secret = secret
        self._ours = {name: sent[name] for name in _OURS if name in sent}
        self._words = _WORDS.union(_words(self._ours.get("tools")), _words(self._ours.get("text")))
        self._heard: set[str] = set()
        self._digits: set[str] = set()

    def of(self, exchange: Exchange) -> Exchange:
        """The whole exchange."""
        return replace(
            exchange,
            path=masked_path(exchange.path),
            body=self._value("", exchange.body),
            answer=exchange.answer and self._answer(exchange.answer),
        )

    def _answer(self, answer: Answer) -> Answer:
        headers = {name.lower(): self._header(name.lower(), value) for name, value in answer.headers.items()}
        headers = {name: value for name, value in headers.items() if _HEADER.fullmatch(name)}
        match answer.kind:
            case "json":
                body: Any = self._value("", answer.body)
            case "frames":
                body = self._frames(answer.body)
            case "text":
                body = self._plain(answer.body[:MAX_TEXT_CHARS], is_error=answer.status >= 400)
        return replace(answer, headers=headers, body=body)

    def _header(self, name: str, value: str) -> str:
        is_type = name == "content-type" and _CONTENT_TYPE.fullmatch(value)
        return value if is_type else self._sentence(value[:MAX_HEADER_CHARS])

    def _plain(self, text: str, *, is_error: bool) -> str:
        """A web page, broken JSON and an answer are private; a bare sentence is what a server says of an error."""
        is_sentence = is_error and text.lstrip("\ufeff \t\r\n")[:1] not in ("<", "{", "[", ")")
        return self._sentence(text) if is_sentence else self._private(text)

    # Streams

    def _frames(self, frames: list[str]) -> list[str]:
        payloads = [payload_of(frame) for frame in frames]
        events = [_parsed(payload) for payload in payloads]
        deltas = self._deltas(events)
        return [
            rewritten(frame, payload=self._payload(payload, event, deltas.get(number)), line=self._line)
            for number, (frame, payload, event) in enumerate(zip(frames, payloads, events, strict=True))
        ]

    def _deltas(self, events: list[Any]) -> dict[int, str]:
        """The deltas by the number of their event: masked as the text that they are together, and cut up again."""
        groups: dict[tuple[str, ...], list[int]] = {}
        for number, event in enumerate(events):
            if isinstance(event, dict) and isinstance(event.get("delta"), str):
                names = ("type", "item_id", "output_index", "content_index", "summary_index")
                groups.setdefault(tuple(repr(event.get(name)) for name in names), []).append(number)
        deltas: dict[int, str] = {}
        for numbers in groups.values():
            whole = self._private("".join(events[number]["delta"] for number in numbers))
            for number in numbers:
                length = len(events[number]["delta"])
                deltas[number], whole = whole[:length], whole[length:]
        return deltas

    def _payload(self, payload: str | None, event: Any, delta: str | None) -> str | None:
        if payload is None or payload.strip() == "[DONE]":
            return payload
        if event is None:
            return self._private(payload)
        kept = self._value("", event)
        return as_json(kept if delta is None else {**kept, "delta": delta})

    def _line(self, line: str) -> str:
        """A line of a frame that is no data: an event's name, a comment, a time to wait."""
        name, colon, value = line.partition(":")
        match name:
            case "event":
                return name + colon + self._identifier(value)
            case "retry" | "":
                return name + colon + self._sentence(value)
            case _:
                return self._private(line)

    # Values

    def _value(self, name: str, value: Any) -> Any:
        """``value`` of the field ``name``, where the API's own fields are."""
        if name in self._ours and value == self._ours[name]:
            return value
        match value:
            case bool() | None:
                return value
            case int() | float():
                return value if name in _COUNTS else self._unknown(value)
            case str():
                return self._text(name, value)
            case dict() if name in _NODES or not name:
                return self._fields(value)
            case list() if name in _NODES or not name:
                return [self._value(name, part) if not isinstance(part, dict) else self._fields(part) for part in value]
            case list() if name in _OPAQUE:
                return []
            case _:
                return self._unknown(value)

    def _fields(self, fields: dict[str, Any]) -> dict[str, Any]:
        is_model = fields.get("object") == "model"
        return {
            self._field(name): self._model(value)
            if isinstance(value, str) and (name == "model" or (is_model and name == "id"))
            else self._value(name, value)
            for name, value in fields.items()
        }

    def _field(self, name: str) -> str:
        """The name of a field; anything that no API is worded with could be somebody's words."""
        return name if name in self._words else self._identifier(name)

    def _identifier(self, name: str) -> str:
        """A type, a code or a field, whose words are those that servers speak in."""
        return self._spoken(name) if _IDENTIFIER.fullmatch(name.strip()) else self._private(name)

    def _text(self, name: str, text: str) -> str:
        if name in _IDS:
            return self._ids.short(text)
        if name in _IDENTIFIERS:
            return self._identifier(text)
        if name == "name" and text in self._words:
            return text
        if name in _SENTENCES:
            return self._sentence(text)
        if name in _OPAQUE:
            return text and _OPAQUE[name]
        return self._private(text)

    def _model(self, name: str) -> str:
        if not _MODEL.fullmatch(name) or (self._secret and self._secret.lower() in name.lower()):
            return self._private(name)
        return _FOLDERS.sub(lambda found: masked(found.group()), name)

    def _unknown(self, value: Any) -> Any:
        """A value nobody here knows the meaning of: its shape only, keys and numbers are private too."""
        match value:
            case bool() | None:
                return value
            case int() | float():
                return type(value)(1)
            case str():
                return self._private(value)
            case dict():
                return {self._private(name): self._unknown(part) for name, part in value.items()}
            case _:
                return [self._unknown(part) for part in value]

    # Words

    def _private(self, text: str) -> str:
        """``text`` unreadable, and remembered."""
        self._heard.update(_pieces(text))
        self._digits.update(re.findall(r"\d{2,}", text), ["".join(re.findall(r"\d", text))])
        return masked(text, words=self._words)

    def _sentence(self, sentence: str) -> str:
        """What a server says, in the words that servers speak in, and without what the exchange says."""
        sentence = self._ids.in_sentence(sentence[:MAX_TEXT_CHARS])
        sentence = _ENCODED.sub(lambda found: masked(found.group()), sentence)
        return self._spoken(self._without_repeated(sentence))

    def _spoken(self, text: str) -> str:
        """``text`` with every word masked that servers do not speak in, and every number that is long or private."""
        if self._secret:
            text = re.sub(re.escape(self._secret), "[key]", text, flags=re.IGNORECASE)
        return _SPOKEN.sub(lambda found: found[0] if self._is_spoken(found[0]) else masked(found[0]), text)

    def _is_spoken(self, word: str) -> bool:
        if word.isdigit():
            is_private = len(word) > 1 and any(word in digits for digits in self._digits)
            return word.isascii() and len(word) <= MAX_DIGITS and not is_private
        return word.lower() in WORDS

    def _without_repeated(self, sentence: str) -> str:
        """``sentence`` with the pieces that are heard elsewhere in the exchange masked."""
        is_private = [False] * len(sentence)
        for start, piece in enumerate(_pieces(sentence)):
            if piece in self._heard:
                is_private[start : start + PIECE_CHARS] = [True] * PIECE_CHARS
        for found in _RECOGNIZED.finditer(sentence):
            is_private[found.start() : found.end()] = [False] * len(found.group())
        return "".join(masked(char) if private else char for char, private in zip(sentence, is_private, strict=True))


def masked_path(path: str) -> str:
    """``path`` with the parts that the API does not know masked: a gateway may keep a name or a token in them."""
    return "/".join(part if part in _ROUTE_PARTS else masked(part) for part in path.split("/"))


def _pieces(text: str) -> list[str]:
    """All pieces of ``text``, by where they begin, in small letters; what has none of one character is left alone."""
    text = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    return [text[start : start + PIECE_CHARS] for start in range(len(text) - PIECE_CHARS + 1)]


def _parsed(payload: str | None) -> Any:
    try:
        return json.loads(payload) if payload else None
    except (ValueError, RecursionError):
        return None


def _words(schema: Any) -> Iterator[str]:
    """The names in our tools and schemas: of functions and properties, and the values they may choose from."""
    if isinstance(schema, list):
        for part in schema:
            yield from _words(part)
    elif isinstance(schema, dict):
        if isinstance(schema.get("name"), str):
            yield schema["name"]
        yield from schema.get("properties", ())
        yield from (choice for choice in schema.get("enum", ()) if isinstance(choice, str))
        for part in schema.values():
            yield from _words(part)
