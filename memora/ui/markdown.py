"""Text of models, tools and memories, made safe and legible for ``st.markdown``. Used only while drawing.

What is stored and sent stays as it was written. Two ways to draw:

* `as_markdown` keeps Markdown (an answer), but nothing in it loads, runs or reaches out by itself:
  images become links, links lead only to http, https and mail addresses, HTML is shown as written, and so are
  Streamlit's own directives, shortcodes and formulas. Emphasis that CommonMark does not recognise between
  Chinese characters is mended. Code is left alone.
* `as_plain` shows every character as it is (a message, a memory, a title).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

WORD_JOINER = "\u2060"
"""Invisible and without width: keeps Streamlit from reading ``:smile:`` as an emoji, and unsticks emphasis."""

_CODE_SPAN = r"(?P<code>(?<!`)(?P<ticks>`+)(?!`)(?s:.+?)(?<!`)(?P=ticks)(?!`))"
_ESCAPE = r"(?P<escape>\\[!-/:-@\[-`{-~])"

_LIVE_SYNTAX = re.compile(
    rf"""
    {_CODE_SPAN}
  | {_ESCAPE}
  | (?P<image>!(?=\[))
  | (?P<link>\]\(\s*<?(?P<target>[^\s)>]*))
  | (?P<definition>^\ {{0,3}}\[[^\]\n]+\]:\s*<?(?P<defined>[^\s>]*))
  | (?P<directive>:+(?=[\w-]+[\[{{]))
  | (?P<shortcode>:(?=(?:material/)?[\w+-]+:))
  | (?P<tildes>~+)
  | (?P<special>[<$])
    """,
    re.VERBOSE | re.MULTILINE,
)
_EMPHASIS = re.compile(
    rf"""
    {_CODE_SPAN}
  | {_ESCAPE}
  | (?P<stars>(?<!\*)\*{{1,3}})(?![\s*])(?P<inner>(?:\\.|`[^`\n]*`|[^*`\\\n])+?)(?<!\s)(?P=stars)(?!\*)
    """,
    re.VERBOSE,
)
_FENCE = re.compile(r"^(?P<lead>[ >]*(?:(?:[-*+]|\d{1,9}[.)])\s+)?)(?P<fence>`{3,}|~{3,})(?P<info>.*)$")
_LIST_ITEM = re.compile(r"^ {0,3}(?:[-*+]|\d{1,9}[.)])\s")
_ALLOWED_TARGET = re.compile(r"^(?:https?://|mailto:)", re.IGNORECASE)
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#+\-.!|$~()=])")
_BLANKS = re.compile(r"\n(?:[ \t]*\n)+")

# Punctuation that may change sides of an emphasis mark without changing what is read. Characters that
# Markdown itself uses to close something (a link, code) stay where they are.
_FIXED = frozenset("`)]}>*_~")


def as_markdown(text: str) -> str:
    """``text`` as Markdown that is safe to draw and reads as its writer meant it."""
    parts = (block if is_code else _mend_emphasis(_tame(block)) for is_code, block in _blocks(text))
    return "\n".join(parts)


def as_plain(text: str) -> str:
    """``text`` as Markdown that shows every character as written, line breaks included."""
    escaped = _MARKUP.sub(r"\\\1", text.replace("\r\n", "\n").strip("\n"))
    escaped = re.sub(r":(?=(?:material/|[\w\\+-]))", rf":{WORD_JOINER}", escaped)
    paragraphs = _BLANKS.split(escaped)
    return "\n\n".join("  \n".join(line.strip() for line in part.split("\n")) for part in paragraphs)


def as_label(text: str, *, limit: int = 80) -> str:
    """``text`` on one line for a button or an expander, cut at ``limit`` characters."""
    line = " ".join(text.split())
    return as_plain(line if len(line) <= limit else line[: limit - 1].rstrip() + "…")


def _blocks(text: str) -> Iterator[tuple[bool, str]]:
    """Split into (is code, lines): fenced and indented code against everything else."""
    pending: list[str] = []
    pending_is_code = False
    for is_code, line in _classified_lines(text):
        if pending and is_code != pending_is_code:
            yield pending_is_code, "\n".join(pending)
            pending = []
        pending_is_code = is_code
        pending.append(line)
    if pending:
        yield pending_is_code, "\n".join(pending)


def _classified_lines(text: str) -> Iterator[tuple[bool, str]]:
    """Every line with whether it is code. A fence that is still open (an answer on its way) reaches to the end."""
    fence = ""
    in_list = False
    may_indent = True
    for line in text.replace("\r\n", "\n").split("\n"):
        opening = _FENCE.match(line)
        if fence:
            if opening and opening["fence"].startswith(fence) and not opening["info"].strip():
                fence = ""
            yield True, line
            continue
        if opening and not (opening["fence"].startswith("`") and "`" in opening["info"]):
            fence = opening["fence"]
            yield True, line
            continue
        if _LIST_ITEM.match(line):
            in_list = True
        elif line and not line[0].isspace():
            in_list = False
        is_indented = may_indent and not in_list and line.startswith(("    ", "\t")) and bool(line.strip())
        may_indent = is_indented or not line.strip()
        yield is_indented, line


def _tame(text: str) -> str:
    return _LIVE_SYNTAX.sub(_tamed, text)


def _tamed(match: re.Match[str]) -> str:
    """One piece of live syntax, made harmless; code and what is escaped already stay."""
    whole = match[0]
    match match.lastgroup:
        case "image":
            return ""
        case "link" | "target":
            return whole if _ALLOWED_TARGET.match(match["target"]) else whole.replace("](", r"]\(", 1)
        case "definition" | "defined":
            return whole if _ALLOWED_TARGET.match(match["defined"]) else whole.replace("[", r"\[", 1)
        case "directive":
            return r"\:" * len(whole)
        case "shortcode":
            return ":" + WORD_JOINER
        case "tildes":
            return whole if len(whole) == 2 else r"\~" * len(whole)
        case "special":
            return "\\" + whole
        case _:
            return whole


def _mend_emphasis(text: str) -> str:
    return _EMPHASIS.sub(_mended, text)


def _mended(match: re.Match[str]) -> str:
    """An emphasis whose marks CommonMark would not take for marks, with its outer punctuation moved out of it.

    CommonMark (flanking rules, section 6.2) wants white space or punctuation on the outer side of a mark whose
    inner side is punctuation; Chinese puts neither between words.
    """
    if match["stars"] is None:
        return match[0]
    stars, inner = match["stars"], match["inner"]
    before = match.string[match.start() - 1 : match.start()]
    after = match.string[match.end() : match.end() + 1]
    opens = _flanks(outer=before, inner=inner[0])
    closes = _flanks(outer=after, inner=inner[-1])
    if opens and closes:
        return match[0]
    head, tail = 0, len(inner)
    while not opens and head < tail and _is_movable(inner[head]):
        head += 1
        opens = _flanks(outer=inner[head - 1], inner=inner[head : head + 1])
    while not closes and tail > head and _is_movable(inner[tail - 1]):
        tail -= 1
        closes = _flanks(outer=inner[tail], inner=inner[tail - 1 : tail])
    if head == tail:
        return inner
    left = "" if opens else WORD_JOINER
    right = "" if closes else WORD_JOINER
    return f"{inner[:head]}{stars}{left}{inner[head:tail]}{right}{stars}{inner[tail:]}"


def _flanks(*, outer: str, inner: str) -> bool:
    """Whether a mark between these two characters may open (or close) emphasis."""
    if not _is_punctuation(inner):
        return True
    return not outer or outer.isspace() or _is_punctuation(outer)


def _is_punctuation(character: str) -> bool:
    return bool(character) and unicodedata.category(character)[0] in "PS"


def _is_movable(character: str) -> bool:
    return _is_punctuation(character) and character not in _FIXED and character not in "([\\"
