import html
import re
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from support.scale import scaled

from memora.ui.markdown import WORD_JOINER, as_label, as_markdown, as_name, as_plain

IMAGE = re.compile(r"(?<!\\)(?:\\\\)*!\[x\]\(https")


@pytest.mark.parametrize(
    ("written", "drawn"),
    [
        ("**重點：**內容", "**重點**：內容"),
        ("字**「重點」**內容", "字「**重點**」內容"),
        ('用**"present perfect"**來說', '用"**present perfect**"來說'),
        (
            "**`word_count`**是七",
            f"**{WORD_JOINER}`word_count`{WORD_JOINER}**是七".replace(f"**{WORD_JOINER}", "**", 1),
        ),
        ("**：**內容", "：內容"),
    ],
)
def test_emphasis_between_chinese_characters_is_mended(written, drawn):
    assert as_markdown(written) == drawn


@pytest.mark.parametrize(
    "written",
    [
        "**重點**內容",
        "**重點：** 內容",
        "This is **bold.**",
        "* item\n* item",
        "2 ** 3",
        "**a** and *b*",
        "- **項目**：說明",
    ],
)
def test_emphasis_that_works_is_left_alone(written):
    assert as_markdown(written) == written


def test_single_tildes_are_not_strikethrough():
    assert as_markdown("約3~5個，或6~8個") == r"約3\~5個，或6\~8個"
    assert as_markdown("~~刪掉~~") == "~~刪掉~~"


def test_prices_are_not_formulas():
    assert as_markdown("$5 到 $10") == r"\$5 到 \$10"
    assert as_markdown(r"\$5") == r"\$5"


def test_html_is_shown_as_written():
    assert as_markdown("<img src=x onerror=alert(1)>") == r"\<img src=x onerror=alert(1)>"


def test_an_image_becomes_a_link():
    assert as_markdown("![cat](https://example.com/cat.png)") == "[cat](https://example.com/cat.png)"
    assert as_markdown("[![cat](https://example.com/c.png)](https://example.com)").count("!") == 0
    assert as_markdown("![cat][ref]") == "[cat][ref]"


def test_a_link_without_words_is_shown_as_written():
    assert as_markdown("![](https://example.com/?q=x)") == r"\!\[\]\(https://example.com/?q=x)"
    assert as_markdown("[ ](https://example.com)") == r"\[ \]\(https://example.com)"


def drawn_with(hosts: tuple[str, ...], text: str) -> bool:
    return "![" in as_markdown(text, image_hosts=hosts)


def test_images_of_a_host_that_is_allowed_stay():
    hosts = ("example.com", "img.example.org")
    assert drawn_with(hosts, "![a cat](https://example.com/cat.png)")
    assert drawn_with(hosts, "see ![](https://img.example.org/?q=1)")
    assert not drawn_with((), "![a cat](https://example.com/cat.png)")


@pytest.mark.parametrize(
    "target",
    [
        "http://example.com/cat.png",
        "https://example.com.invalid/cat.png",
        "https://example.com@other.invalid/cat.png",
        "https://example.com",
        "https://exampleXcom/cat.png",
        "https://other.invalid/?https://example.com/cat.png",
        "//example.com/cat.png",
        "<https://example.com/cat.png>",
        "https://example.com\\@other.invalid/cat.png",
    ],
)
def test_images_of_any_other_address_are_links(target):
    assert not drawn_with(("example.com",), f"![a cat]({target})")


def test_an_allowed_host_allows_no_image_by_reference():
    assert not drawn_with(("example.com",), "![cat][c]\n\n[c]: https://example.com/cat.png")


@pytest.mark.parametrize(
    "target",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "/settings",
        "JaVaScRiPt:x",
        "&#106;avascript:x",
        "//example.com",
    ],
)
def test_links_lead_only_to_the_web_and_to_mail(target):
    assert as_markdown(f"[here]({target})") == rf"[here]\({target})"
    assert as_markdown(f"[here][1]\n\n[1]: {target}") == f"[here][1]\n\n\\[1]: {target}"


@pytest.mark.parametrize("target", ["https://example.com", "http://example.com/a?b=c", "mailto:a@example.com"])
def test_links_to_the_web_and_to_mail_stay(target):
    assert as_markdown(f"[here]({target})") == f"[here]({target})"


def test_streamlit_directives_and_shortcodes_are_shown_as_written():
    assert as_markdown(":red[stop]") == r"\:red[stop]"
    assert as_markdown("a :smile: b") == f"a :{WORD_JOINER}smile: b"
    assert as_markdown(":material/home:") == f":{WORD_JOINER}material/home:"
    assert as_markdown("at 9:30, note: this") == "at 9:30, note: this"


@pytest.mark.parametrize(
    "code",
    [
        "```python\nprint('$5 ~ <b> :smile: **重點：**內容')\n```",
        "~~~\n![x](y)\n~~~",
        "`$x ~ <b> :red[a]`",
        "``a ` $b``",
        "text\n\n    $indented = 1\n\ntext",
        "- item\n  ```\n  $x\n  ```",
        "```\nstill arriving $5",
    ],
)
def test_code_is_left_alone(code):
    assert as_markdown(code) == code


@pytest.mark.parametrize(
    "fence",
    [
        "```mermaid",
        "~~~ Mermaid x",
        "> ```mermaid",
        "- ```mermaid",
        "```&#109;ermaid",
        "```m\\ermaid",
        "- - ````MERMAID",
    ],
)
def test_a_diagram_is_shown_as_code(fence):
    (drawn,) = (part.info for part in parts(as_markdown(f"{fence}\nflowchart TD")) if part.type == "fence")
    assert "mermaid" not in html.unescape(drawn).replace("\\", "").lower()


def test_what_follows_a_closed_fence_is_tamed_again():
    assert as_markdown("```\n$1\n```\n$2") == "```\n$1\n```\n\\$2"


def test_an_indented_list_entry_is_not_code():
    assert as_markdown("- a\n\n    costs $5") == "- a\n\n    costs \\$5"


@pytest.mark.parametrize(
    ("written", "drawn"),
    [
        ("# 1 * 2 <b>", r"\# 1 \* 2 \<b\>"),
        ("1. one\n2) two", "1\\. one  \n2\\) two"),
        ("- a\n+ b\n=== c", "\\- a  \n\\+ b  \n\\=== c"),
        ("a | b\n---|---", "a | b  \n\\---|---"),
        ("a\n\n\n  b", "a\n\nb"),
        ("![x](y) _a_ snake_case", r"\!\[x\](y) \_a\_ snake_case"),
        ("&lt; & $5 ~", r"\&lt; & \$5 \~"),
        (":smile: :red[x]", f":{WORD_JOINER}smile: :{WORD_JOINER}red\\[x\\]"),
        ("https://example.com/a-b.c?d=e_f&g=1", "https://example.com/a-b.c?d=e_f&g=1"),
        ("it's 9:30, that's all.", "it's 9:30, that's all."),
    ],
)
def test_plain_text_shows_what_was_typed(written, drawn):
    assert as_plain(written) == drawn


@given(st.text(alphabet="ab*`~$<:[]()!>-|1.\\重：「」 \n", max_size=60))
def test_plain_text_holds_no_image(text):
    assert not IMAGE.search(as_plain(f"{text}![x](https://example.com)"))


def test_a_label_is_one_line_and_is_cut():
    assert as_label("一\n二") == "一 二"
    assert as_label("x" * 100, limit=10) == "x" * 9 + "…"


def test_a_name_is_code_unless_it_holds_what_no_name_does():
    assert as_name("meta/llama-3.1:8b@q4") == "`meta/llama-3.1:8b@q4`"
    assert as_name("x` ![](https://e.invalid) `") == r"x\` \!\[\](https://e.invalid) \`"
    assert as_name("x] y") == r"x\] y"
    assert len(as_name("x" * 1_000)) < 100


@pytest.mark.parametrize("draw", [as_markdown, as_plain, as_label])
def test_no_writing_direction_is_set_against_the_letters_own(draw):
    assert draw("pay \u202elive\u202c, \u2067not\u2069 evil") == "pay live, not evil"
    assert draw("\u05d0\u05d1 \u200f- 👩\u200d🏫") == "\u05d0\u05d1 \u200f- 👩\u200d🏫"


@pytest.mark.parametrize("draw", [as_markdown, as_plain, as_label])
def test_marks_are_not_stacked_beyond_their_line(draw):
    assert draw("e\u0301" + "Z" + "\u0336\u0301" * 5_000 + "o") == "e\u0301" + "Z" + "\u0336\u0301" * 4 + "o"


@given(st.text())
def test_any_text_can_be_drawn(text):
    as_markdown(text)
    as_plain(text)


@pytest.mark.parametrize(
    "before",
    [
        "!",
        "字**!**",
        "- a ` b\n- ",
        "> ```\n",
        "- ```\n",
        "a ` b\n\n",
        "| ` | ",
        "a\n\n      ```\n",
        "\ufeff```\n\n```\n",
        "\u3000```\n\n```\n",
        "```\na\r```\r",
        "```\n- ```\n```\n",
        "```\n```\u3000\n```\n",
        "> ```\n<!--\n```\n```\n-->\n",
        "> ```\n~~~\n```\n```\n~~~\n",
        "- - ```\n    ```\n```\n```\n",
        "](\n\n",
        "[x]:\n",
        "1. ```\n\n",
        "\\\\",
    ],
)
def test_what_only_looks_like_code_hides_no_image(before):
    assert not IMAGE.search(as_markdown(f"{before}![x](https://example.com/a.png) `"))


def test_code_at_the_margin_keeps_even_image_marks():
    code = "```js\nif (![1].includes(x)) {}\n```"
    assert as_markdown(code) == code


@given(st.text(alphabet="ab*`~$<:[]()!>-|1.\\重：「」 \n", max_size=60))
def test_no_image_survives_outside_code_at_the_margin(text):
    if not any(line.startswith(("```", "~~~")) for line in text.split("\n")):
        assert not IMAGE.search(as_markdown(f"{text}![x](https://example.com)"))


PIECES = (
    "```",
    "~~~",
    "`",
    "\n",
    "\n\n",
    "\r",
    "> ",
    "- ",
    "1. ",
    "  ",
    "    ",
    "\t",
    "a",
    "|",
    "\\",
    "!",
    "[",
    "](",
    "$$",
)
PIECES += ("<!--", "-->", "<div>", "<", "*", "\ufeff", "\u3000", ":::n", "[^1]: ", "![r]", "字**：**")
PIECES += (
    "![x](https://e.invalid/i)",
    "[x](javascript:y)",
    "[x](data:y)",
    "[r]: https://e.invalid/r",
    "[![x](//e)](/l)",
)
commonmark = MarkdownIt("commonmark").enable("strikethrough")
commonmark.validateLink = lambda _target: True


def parts(text: str) -> list[Token]:
    """What an independent parser makes of ``text``, as Streamlit would hand it over."""
    blocks = commonmark.parse(textwrap.dedent(text).strip())
    return [part for block in blocks for part in (block, *(block.children or ()))]


def pictures_and_live_links(text: str) -> list[str]:
    targets = [str(part.attrGet("href")) for part in parts(text) if part.type == "link_open"]
    pictures = [str(part.attrGet("src")) for part in parts(text) if part.type == "image"]
    return pictures + [target for target in targets if target.startswith(("javascript:", "data:"))]


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
@settings(max_examples=scaled(short=500, full=10_000), deadline=None)
def test_no_parser_finds_a_picture_or_a_live_link_in_what_is_drawn(text):
    assert pictures_and_live_links(as_markdown(f"{text}![x](https://e.invalid/i)")) == []
    assert pictures_and_live_links(as_plain(f"{text}![x](https://e.invalid/i)")) == []
