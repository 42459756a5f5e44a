"""Text of models, tools and memories, made safe and legible for ``st.markdown``. Used only while drawing.

What is stored and sent stays as it was written. Two ways to draw:

* `as_markdown` keeps Markdown (an answer), but nothing in it loads, runs or reaches out by itself:
  images become links (but for those of hosts that are allowed), links lead only to http, https and mail addresses,
  HTML is shown as written, and so are Streamlit's own directives, shortcodes, formulas and Mermaid diagrams (which
  load images). Emphasis that CommonMark does not recognise between Chinese characters is mended. Code is left alone.
* `as_plain` shows every character as it is (a message, a memory, a title).
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Callable, Collection, Iterator
from functools import cache, partial
from itertools import groupby
from operator import itemgetter
from typing import Literal

WORD_JOINER = "\u2060"
"""Invisible and without width: keeps Streamlit from reading ``:smile:`` as an emoji, and unsticks emphasis."""

_Kind = Literal["text", "code", "doubtful code"]
"""``doubtful code`` may end earlier than it seems, or be none: images and odd links in it are undone too."""

# A code span ends with its line: one that Markdown lets run on across lines might end at a list item or a quote,
# and what looks like code here would then be drawn.
_CODE_SPAN = r"(?P<code>(?<!`)(?P<ticks>`+)(?!`)[^\n]+?(?<!`)(?P=ticks)(?!`))"
_ESCAPE = r"(?P<escape>\\[!-/:-@\[-`{-~])"

_LIVE_SYNTAX = rf"""
    {_CODE_SPAN}
  | {_ESCAPE}
  | (?P<allowed>!\[[\w ,.'-]*\]\(https://(?:HOSTS)/[^\s()<>\\]*\))
  | (?P<unlabelled>!*\[\s*\]\()
  | (?P<image>!+(?=\[))
  | (?P<link>\]\((?=\s*<?(?P<target>[^\s)>]*)))
  | (?P<definition>\[(?=(?:\\.|[^\[\]\\]){{1,999}}\]:\s*<?(?P<defined>[^\s>]*)))
  | (?P<directive>:+(?=[\w-]+[\[{{])|^[ >]*:{{2,}}(?=[\w-]))
  | (?P<shortcode>:(?=(?:material/)?[\w+-]+:))
  | (?P<tildes>~+)
  | (?P<special>[<$])
"""
_EMPHASIS = re.compile(
    rf"""
    {_CODE_SPAN}
  | {_ESCAPE}
  | (?P<stars>(?<!\*)\*{{1,3}})(?![\s*])(?P<inner>(?:\\.|`[^`\n]*`|[^*`\\\n])+?)(?<!\s)(?P=stars)(?!\*)
    """,
    re.VERBOSE,
)
_FENCE = re.compile(r"^(?P<lead>[ >]*(?:(?:[-*+]|\d{1,9}[.)])\s+)?)(?P<fence>`{3,}|~{3,})(?P<info>.*)$")
_FENCE_MARK = re.compile(r"`{3}|~{3}")
_FENCE_LINE = re.compile(r"(?:`{3}|~{3}).*")
_DIAGRAM = re.compile(r"(?i:(?<=mer)(?=maid))|(?<=[&\\])")
"""Where the name of a fence that would become a diagram is to be split; it may be written with entities or escapes."""
_IMAGE = re.compile(r"!(?=\[)")
_ODD_LINK = re.compile(r"(?<=\])(?=\(\s*<?(?!https?://|mailto:)[^\s()]*[:&])", re.IGNORECASE)
_LIST_ITEM = re.compile(r"^ {0,3}(?:[-*+]|\d{1,9}[.)])\s")
_ALLOWED_TARGET = re.compile(r"^(?:https?://|mailto:)", re.IGNORECASE)
_MARKUP = re.compile(r"[\\`*\[\]<>$~]|!(?=\[)|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])")
_LINE_MARKUP = re.compile(r"^(?:[#+=|-]|:(?=-)|\d{1,9}(?=[.)]))", re.MULTILINE)
_SHORTCODE = re.compile(r":(?=(?:material/)?[\w+\\-]+[:\[{])")
_BLANKS = re.compile(r"\n(?:[ \t]*\n)+")
_NAME = re.compile(r"[\w.:/@+-]{1,200}", re.ASCII)

_LINE_END = re.compile(r"\r\n?")
_UNSEEN = re.compile("[\ufeff\u202a-\u202e\u2066-\u2069]")
"""Byte order marks, and what sets a writing direction against the letters' own: with it a text reads otherwise than
it is (and than a model reads it), and an override that is not closed runs on into what follows."""
_MARKS = "\u0300-\u036f\u0483-\u0489\u0e47-\u0e4e\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_STACK = re.compile(f"([{_MARKS}]{{8}})[{_MARKS}]+")
"""More marks on one letter than any writing has: they would cover the lines above and below."""

# Punctuation that may change sides of an emphasis mark without changing what is read. Characters that
# Markdown itself uses to close something (a link, code) stay where they are.
_FIXED = frozenset("`)]}>*_~")


def as_markdown(text: str, *, image_hosts: Collection[str] = ()) -> str:
    """``text`` as Markdown that is safe to draw and reads as its writer meant it.

    Images stay where they are written in one piece and lead, by https, to one of ``image_hosts``.
    """
    # As Streamlit does before it draws: what is code and what is not has to be told from what is drawn.
    shown = _FENCE_LINE.sub(_without_diagram, textwrap.dedent(_legible(text)).strip())
    tame = partial(_live_syntax(frozenset(image_hosts)).sub, _tamed)
    return "\n".join(_drawn(kind, block, tame) for kind, block in _blocks(shown))


def as_plain(text: str) -> str:
    """``text`` as Markdown that shows what was typed, line breaks included. Web addresses still lead there."""
    lines = "\n".join(line.strip() for line in _legible(text).strip().split("\n"))
    escaped = _LINE_MARKUP.sub(_escaped_line_start, _MARKUP.sub(r"\\\g<0>", lines))
    escaped = _SHORTCODE.sub(":" + WORD_JOINER, escaped)
    return "\n\n".join(paragraph.replace("\n", "  \n") for paragraph in _BLANKS.split(escaped))


def _escaped_line_start(match: re.Match[str]) -> str:
    """A line that begins like a heading, a list, a table or a rule; for ``1.`` it is the dot that is escaped."""
    return match[0] + "\\" if match[0].isdigit() else "\\" + match[0]


def as_label(text: str, *, limit: int = 80) -> str:
    """``text`` on one line for a button or an expander, cut at ``limit`` characters."""
    line = " ".join(_legible(text).split())
    return as_plain(line if len(line) <= limit else line[: limit - 1].rstrip() + "…")


def as_name(text: str) -> str:
    """The name of a tool, a model or a call as code; as plain text where it holds what no name does."""
    return f"`{text}`" if _NAME.fullmatch(text) else as_label(text)


def _legible(text: str) -> str:
    """``text`` with one kind of line end, and without what is not seen but changes how the rest is read."""
    return _STACK.sub(r"\1", _UNSEEN.sub("", _LINE_END.sub("\n", text)))


def _drawn(kind: _Kind, block: str, tame: Callable[[str], str]) -> str:
    match kind:
        case "code":
            return block
        case "doubtful code":
            return _ODD_LINK.sub(WORD_JOINER, _without_images(block))
        case _:
            # Taming comes last, so that nothing that mending moves can come alive.
            return tame(_mend_emphasis(block))


def _blocks(text: str) -> Iterator[tuple[_Kind, str]]:
    """Neighbouring lines of the same kind, together."""
    for kind, lines in groupby(_classified_lines(text), key=itemgetter(0)):
        yield kind, "\n".join(line for _kind, line in lines)


def _classified_lines(text: str) -> Iterator[tuple[_Kind, str]]:
    """Every line with its kind. A fence that is still open (an answer on its way) reaches to the end.

    Only a fence at the margin is surely code, and only as long as no other fence or indented code went before it:
    where those end is for a whole parser to say, and one that is taken for open turns all that follow inside out.
    """
    fence: re.Match[str] | None = None
    is_certain = may_indent = True
    in_list = False
    for line in text.split("\n"):
        opening = _FENCE.match(line)
        if fence is not None:
            yield ("code" if is_certain else "doubtful code"), line
            if opening and _closes(opening, fence):
                fence = None
            continue
        if opening and not (opening["fence"].startswith("`") and "`" in opening["info"]):
            fence = opening
            is_certain = is_certain and not fence["lead"]
            yield ("code" if is_certain else "doubtful code"), line
            continue
        if _LIST_ITEM.match(line):
            in_list = True
        elif line and not line[0].isspace():
            in_list = False
        is_indented = may_indent and not in_list and line.startswith(("    ", "\t")) and bool(line.strip())
        may_indent = is_indented or not line.strip()
        is_certain = is_certain and not is_indented and not _FENCE_MARK.search(line)
        yield ("doubtful code" if is_indented else "text"), line


def _closes(line: re.Match[str], fence: re.Match[str]) -> bool:
    is_at_margin = not line["lead"].strip(" ") and len(line["lead"]) <= 3
    is_long_enough = line["fence"].startswith(fence["fence"])
    return is_long_enough and not line["info"].strip(" \t") and (is_at_margin or bool(fence["lead"]))


def _without_diagram(fence_line: re.Match[str]) -> str:
    return _DIAGRAM.sub(WORD_JOINER, fence_line[0])


def _without_images(code: str) -> str:
    return _IMAGE.sub("!" + WORD_JOINER, code)


@cache
def _live_syntax(image_hosts: frozenset[str]) -> re.Pattern[str]:
    hosts = "|".join(map(re.escape, image_hosts)) or "(?!)"
    return re.compile(_LIVE_SYNTAX.replace("HOSTS", hosts), re.VERBOSE | re.MULTILINE)


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
