"""What the demo model reads out of plain statements."""

import pytest

from memora.providers.demo.facts import fact_in, read_facts
from memora.providers.demo.rules import RULES


def contents(text):
    return [fact.content for fact in read_facts(text)]


@pytest.mark.parametrize(
    ("said", "read"),
    [
        (
            "我叫小美，住在台北，正在準備三月的 IELTS 考試。",
            ["使用者的名字是小美。", "使用者住在台北。", "使用者正在準備三月的 IELTS 考試。"],
        ),
        ("我搬到高雄了。", ["使用者住在高雄。"]),
        ("我的英文是 B1，母語是中文。", ["使用者的英文程度是 B1。", "使用者的母語是中文。"]),
        ("我常常搞混 present perfect 和 past simple。", ["使用者常常搞混 present perfect 和 past simple。"]),
        ("我學英文三年了，想考多益。", ["使用者學英文三年了。", "使用者打算考多益。"]),
        ("我今年要考學測。", ["使用者打算今年考學測。"]),
        ("請直接糾正我的錯誤。", ["使用者希望老師直接糾正錯誤。"]),
        ("以後請用中文解釋。", ["使用者希望老師用中文解釋。"]),
        (
            "我是軟體工程師，不喜歡背單字，喜歡喝咖啡。",
            ["使用者是軟體工程師。", "使用者不喜歡背單字。", "使用者喜歡喝咖啡。"],
        ),
        ("我的興趣是爬山。", ["使用者的興趣是爬山。"]),
        ("我的目標是多益 900 分。", ["使用者的目標是多益 900 分。"]),
        ("我養了一隻貓。", ["使用者養了一隻貓。"]),
        (
            "My name is Tom. I live in Taipei, work as a nurse, and am preparing for the IELTS exam in March.",
            [
                "The user's name is Tom.",
                "The user lives in Taipei.",
                "The user works as a nurse.",
                "The user is preparing for the IELTS exam in March.",
            ],
        ),
        ("I'm Tom and I live in New York.", ["The user's name is Tom.", "The user lives in New York."]),
        ("I moved to Kaohsiung last month.", ["The user lives in Kaohsiung."]),
        ("I don't like coffee, but I love tea.", ["The user does not like coffee.", "The user likes tea."]),
        ("I want to improve my speaking.", ["The user wants to improve their speaking."]),
        ("I always confuse make and do.", ["The user often confuses make and do."]),
        ("Please correct my mistakes directly.", ["The user wants mistakes corrected directly."]),
    ],
)
def test_a_statement_about_oneself_is_read(said, read):
    assert contents(said) == read


@pytest.mark.parametrize(
    "said",
    [
        "我住在哪裡？",
        "我在準備什麼考試？",
        "我住在台北，對嗎？",
        "如果我住在台北就好了。",
        "If I live in London one day, I will visit you.",
        "Do I live in Taipei?",
        "我妹妹叫小華，住在台中。",
        "My sister lives in Taichung.",
        "我喜歡的歌手是周杰倫。",
        "我叫他不要來。",
        "請翻譯：I live in Taipei.",
        "「我住在台北」怎麼說？",
        "今天天氣很好。",
        "你好！",
        "Thank you!",
        "",
    ],
)
def test_questions_hypotheticals_quotations_and_chit_chat_state_nothing(said):
    assert contents(said) == []


def test_a_statement_before_a_question_still_counts():
    assert contents("我叫小美，你可以幫我嗎？") == ["使用者的名字是小美。"]


@pytest.mark.parametrize(
    "said",
    [
        "我叫小美，住在台北，正在準備三月的 IELTS 考試。",
        "Hi, I'm Tom. I live in Taipei, and I am preparing for the TOEFL test!",
        "其實我現在住在 高雄 了～",
    ],
)
def test_a_quote_is_found_word_for_word_in_the_message(said):
    facts = read_facts(said)
    assert facts
    assert all(fact.quote in said for fact in facts)


@pytest.mark.parametrize(
    "said",
    [
        "我叫小美，住在台北，正在準備三月的 IELTS 考試。",
        "我學英文三年了，想考多益。",
        "請直接糾正我的錯誤。",
        "我養了一隻貓。",
        "我的英文是 B1，母語是中文。",
        "I'm a nurse, live in Taipei and like tea.",
        "I have studied English for two years. My English is B1. I have two cats.",
        "Please correct my mistakes directly.",
    ],
)
def test_what_was_written_down_reads_back_as_the_same_fact(said):
    facts = read_facts(said)
    assert facts
    for fact in facts:
        again = fact_in(fact.content)
        assert (again.slot, again.value, again.content) == (fact.slot, fact.value, fact.content)


def test_the_same_thing_has_one_meaning_in_both_languages():
    assert fact_in("使用者住在台北。").meaning == fact_in("The user lives in Taipei.").meaning
    assert (
        fact_in("使用者正在準備三月的雅思考試。").meaning
        == fact_in("The user is preparing for IELTS in March.").meaning
    )
    assert fact_in("使用者住在臺北市。").meaning == fact_in("使用者住在台北。").meaning
    assert fact_in("使用者住在台北。").meaning != fact_in("使用者住在新北。").meaning


def test_a_sentence_of_no_known_kind_holds_no_fact():
    assert fact_in("The user plays chess on Fridays.") is None


def test_every_rule_speaks_about_the_user_and_to_the_user():
    for rule in RULES:
        assert rule.third.startswith(("使用者", "The user"))
        assert rule.second.startswith("你" if rule.language == "zh" else "You")
