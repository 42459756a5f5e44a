import pytest
from hypothesis import given
from hypothesis import strategies as st

from memora.ui.markdown import WORD_JOINER, as_label, as_markdown, as_plain


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


def test_plain_text_shows_every_character():
    assert as_plain("# 1 * 2 <b>") == r"\# 1 \* 2 \<b\>"
    assert as_plain("1. one\n2. two") == "1\\. one  \n2\\. two"
    assert as_plain("a\n\n\n  b") == "a\n\nb"
    assert as_plain(":smile:").startswith(f":{WORD_JOINER}")


def test_a_label_is_one_line_and_is_cut():
    assert as_label("一\n二") == "一 二"
    assert as_label("x" * 100, limit=10) == "x" * 9 + "…"


@given(st.text())
def test_any_text_can_be_drawn(text):
    as_markdown(text)
    as_plain(text)


@given(st.text(alphabet="ab*`~$<:[]()!\\重：「」 \n", max_size=60))
def test_no_image_survives(text):
    drawn = as_markdown(f"{text}\n\n![x](https://example.com)")
    if "`" not in text and not text.endswith("\\"):
        assert "![x](https" not in drawn
