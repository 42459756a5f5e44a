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
from itertools import groupby
from operator import itemgetter
from typing import Literal

WORD_JOINER = "\u2060"
"""Invisible and without width: keeps Streamlit from reading ``:smile:`` as an emoji, and unsticks emphasis."""

_Kind = Literal["text", "code", "nested code"]
"""``nested code`` (in a list, a quote, or indented) may end earlier than it seems: images in it are undone too."""

# A code span ends with its line: one that Markdown lets run on across lines might end at a list item or a quote,
# and what looks like code here would then be drawn.
_CODE_SPAN = r"(?P<code>(?<!`)(?P<ticks>`+)(?!`)[^\n]+?(?<!`)(?P=ticks)(?!`))"
_ESCAPE = r"(?P<escape>\\[!-/:-@\[-`{-~])"

_LIVE_SYNTAX = re.compile(
    rf"""
    {_CODE_SPAN}
  | {_ESCAPE}
  | (?P<unlabelled>!*\[\s*\]\()
  | (?P<image>!+(?=\[))
  | (?P<link>\]\((?=\s*<?(?P<target>[^\s)>]*)))
  | (?P<definition>\[(?=(?:\\.|[^\[\]\\]){{1,999}}\]:\s*<?(?P<defined>[^\s>]*)))
  | (?P<directive>:+(?=[\w-]+[\[{{])|^[ >]*:{{2,}}(?=[\w-]))
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
_IMAGE = re.compile(r"!(?=\[)")
_LIST_ITEM = re.compile(r"^ {0,3}(?:[-*+]|\d{1,9}[.)])\s")
_ALLOWED_TARGET = re.compile(r"^(?:https?://|mailto:)", re.IGNORECASE)
_MARKUP = re.compile(r"[\\`*\[\]<>$~]|!(?=\[)|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])")
_LINE_MARKUP = re.compile(r"^(?:[#+=|-]|:(?=-)|\d{1,9}(?=[.)]))", re.MULTILINE)
_SHORTCODE = re.compile(r":(?=(?:material/)?[\w+\\-]+[:\[{])")
_BLANKS = re.compile(r"\n(?:[ \t]*\n)+")

# Punctuation that may change sides of an emphasis mark without changing what is read. Characters that
# Markdown itself uses to close something (a link, code) stay where they are.
_FIXED = frozenset("`)]}>*_~")


def as_markdown(text: str) -> str:
    """``text`` as Markdown that is safe to draw and reads as its writer meant it."""
    return "\n".join(_drawn(kind, block) for kind, block in _blocks(text))


def as_plain(text: str) -> str:
    """``text`` as Markdown that shows what was typed, line breaks included. Web addresses still lead there."""
    lines = "\n".join(line.strip() for line in text.replace("\r\n", "\n").strip().split("\n"))
    escaped = _LINE_MARKUP.sub(_escaped_line_start, _MARKUP.sub(r"\\\g<0>", lines))
    escaped = _SHORTCODE.sub(":" + WORD_JOINER, escaped)
    return "\n\n".join(paragraph.replace("\n", "  \n") for paragraph in _BLANKS.split(escaped))


def _escaped_line_start(match: re.Match[str]) -> str:
    """A line that begins like a heading, a list, a table or a rule; for ``1.`` it is the dot that is escaped."""
    return match[0] + "\\" if match[0].isdigit() else "\\" + match[0]


def as_label(text: str, *, limit: int = 80) -> str:
    """``text`` on one line for a button or an expander, cut at ``limit`` characters."""
    line = " ".join(text.split())
    return as_plain(line if len(line) <= limit else line[: limit - 1].rstrip() + "…")


def _drawn(kind: _Kind, block: str) -> str:
    match kind:
        case "code":
            return block
        case "nested code":
            return _without_images(block)
        case _:
            # Taming comes last, so that nothing that mending moves can come alive.
            return _tame(_mend_emphasis(block))


def _blocks(text: str) -> Iterator[tuple[_Kind, str]]:
    """Neighbouring lines of the same kind, together."""
    for kind, lines in groupby(_classified_lines(text), key=itemgetter(0)):
        yield kind, "\n".join(line for _kind, line in lines)


def _classified_lines(text: str) -> Iterator[tuple[_Kind, str]]:
    """Every line with its kind. A fence that is still open (an answer on its way) reaches to the end."""
    fence: re.Match[str] | None = None
    in_list = False
    may_indent = True
    for line in text.replace("\r\n", "\n").split("\n"):
        opening = _FENCE.match(line)
        if fence is not None:
            yield ("nested code" if fence["lead"] else "code"), line
            if opening and opening["fence"].startswith(fence["fence"]) and not opening["info"].strip():
                fence = None
            continue
        if opening and not (opening["fence"].startswith("`") and "`" in opening["info"]):
            fence = opening
            yield ("nested code" if fence["lead"] else "code"), line
            continue
        if _LIST_ITEM.match(line):
            in_list = True
        elif line and not line[0].isspace():
            in_list = False
        is_indented = may_indent and not in_list and line.startswith(("    ", "\t")) and bool(line.strip())
        may_indent = is_indented or not line.strip()
        yield ("nested code" if is_indented else "text"), line


def _without_images(code: str) -> str:
    return _IMAGE.sub("!" + WORD_JOINER, code)


def _tame(text: str) -> str:
    return _LIVE_SYNTAX.sub(_tamed, text)


def _tamed(match: re.Match[str]) -> str:
    """One piece of live syntax, made harmless; code and what is escaped already stay."""
    whole = match[0]
    match match.lastgroup:
        case "code":
            return _without_images(whole)
        case "unlabelled":  # a link that nobody would see
            return re.sub(r"[!\[\]()]", r"\\\g<0>", whole)
        case "image":
            return r"\!" * (len(whole) - 1)
        case "link":
            return whole if _ALLOWED_TARGET.match(match["target"]) else r"]\("
        case "definition":
            return whole if _ALLOWED_TARGET.match(match["defined"]) else r"\["
        case "directive":
            return whole.replace(":", r"\:")
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
