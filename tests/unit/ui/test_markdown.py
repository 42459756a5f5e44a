import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memora.ui.markdown import WORD_JOINER, as_label, as_markdown, as_plain

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
        "      ```\n",
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
