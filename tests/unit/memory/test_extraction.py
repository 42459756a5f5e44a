import json
from datetime import date

import pytest
from support.scripted_model import ScriptedModel, structured

from memora.errors import BadResponse, ModelUnreachable
from memora.memory import Category, Extraction, ProfileUpdate, extract
from memora.memory.extraction import is_quoted
from memora.memory.secrets import MASK
from memora.model import CancelToken, Usage

MESSAGE = "我叫小美，住在台北，\n正在準備三月的 IELTS 考試。 My password is dragon99."
TODAY = date(2026, 3, 1)


def fact(content="使用者住在台北。", quote="住在台北", category="profile", importance=4):
    return {"content": content, "category": category, "importance": importance, "quote": quote}


def entry(field="name", value="小美", quote="我叫小美"):
    return {"field": field, "value": value, "quote": quote}


def extracted(*memories, profile=(), message=MESSAGE, reply="很高興認識你！") -> Extraction:
    model = ScriptedModel(structured({"memories": list(memories), "profile": list(profile)}))
    return ask(model, message=message, reply=reply)[0]


def ask(model, *, message=MESSAGE, reply="很高興認識你！"):
    return extract(model=model, user_message=message, assistant_reply=reply, today=TODAY, cancel=CancelToken())


def refusals(extraction: Extraction) -> list[str]:
    return [refused.reason for refused in extraction.refused]


# What is asked.


def test_the_model_sees_the_message_and_the_reply_as_quoted_data_and_todays_date():
    model = ScriptedModel(structured({"memories": [], "profile": []}))
    ask(model, reply='He said "hi".')
    (request,) = model.requests
    (item,) = request.input
    assert (request.purpose, request.output_schema.name) == ("extraction", "memory_extraction")
    assert json.loads(item["content"]) == {"user_message": MESSAGE, "assistant_reply": 'He said "hi".'}
    assert "2026-03-01 (Sunday)" in request.instructions


def test_the_schema_names_every_category_and_profile_field():
    model = ScriptedModel(structured({"memories": [], "profile": []}))
    ask(model)
    schema = json.dumps(model.requests[0].output_schema.schema)
    assert all(f'"{category}"' in schema for category in Category)
    assert '"explanation_style"' in schema


def test_nothing_is_asked_about_a_blank_message():
    assert ask(ScriptedModel(), message=" \n") == (Extraction(), None)


def test_what_asking_cost_is_reported():
    usage = Usage(input_tokens=5, output_tokens=3)
    model = ScriptedModel(structured({"memories": [], "profile": []}, usage=usage))
    assert ask(model) == (Extraction(), usage)


def test_a_failed_request_is_left_to_the_caller():
    with pytest.raises(ModelUnreachable):
        ask(ScriptedModel(ModelUnreachable(host="localhost")))


def test_an_answer_of_unknown_shape_fails_after_a_second_try():
    wrong = structured({"memories": [fact(category="gossip")], "profile": []})
    model = ScriptedModel(wrong, wrong)
    with pytest.raises(BadResponse):
        ask(model)
    assert model.steps_left == 0


# What is accepted.


def test_a_fact_with_a_verbatim_quote_is_accepted():
    (candidate,) = extracted(fact()).accepted
    assert (candidate.content, candidate.category, candidate.importance, candidate.quote) == (
        "使用者住在台北。",
        Category.PROFILE,
        4,
        "住在台北",
    )


@pytest.mark.parametrize("quote", ["台北，\n正在準備", "台北， 正在準備", " 住在台北 "])
def test_white_space_may_differ_in_a_quote(quote):
    assert extracted(fact(quote=quote)).accepted


def test_composed_and_decomposed_characters_are_the_same_quote():
    assert extracted(fact(quote="cafe\u0301"), message="I run a café.").accepted


@pytest.mark.parametrize("quote", ["", " ", "住台北", "使用者住在台北", "很高興認識你", "ielts 考試"])
def test_a_quote_that_is_not_in_the_users_own_message_is_refused(quote):
    extraction = extracted(fact(quote=quote))
    assert extraction.accepted == ()
    assert refusals(extraction) == ["quote_not_found"]


@pytest.mark.parametrize(
    ("quote", "message"),
    [
        ("我", "我想練習口說"),
        ("我想", "我想練習口說"),
        ("art", "I start at nine"),
        ("85", "我考了 850 分"),
        ("I am", "I am tired"),
    ],
)
def test_a_quote_that_says_nothing_is_no_quote(quote, message):
    assert not is_quoted(quote, message)


@pytest.mark.parametrize(
    ("quote", "message"),
    [
        ("art", "I like art."),
        ("art", "Start with art"),
        ("Amy", "我叫Amy喔"),
        ("850 分", "我考了 850 分"),
        ("叫Amy", "我叫Amy"),
        ("喜歡貓", "我喜歡貓"),
    ],
)
def test_whole_words_and_chinese_characters_can_be_quoted(quote, message):
    assert is_quoted(quote, message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("使用者最喜歡的顏色是藍色。", "我想練習口說"),
        ("The user's favourite colour is blue.", "I want to practise speaking"),
        ("使用者是醫師。", "我是學生"),
        ("使用者喜歡 Python。", "我想練習口說"),
    ],
)
def test_a_sentence_that_has_nothing_in_common_with_its_quote_is_refused(content, message):
    assert refusals(extracted(fact(content, quote=message), message=message)) == ["not_lasting"]


@pytest.mark.parametrize(
    ("content", "quote"),
    [
        ("使用者的名字是小美。", "我叫小美"),
        ("使用者住在台北。", "住在台北"),
        ("使用者正在準備三月的 IELTS 考試。", "正在準備三月的 IELTS 考試"),
        ("使用者住在高雄。", "我搬到高雄了"),
        ("使用者有一隻貓。", "我養貓"),
        ("The user lives in Kaohsiung.", "I moved to Kaohsiung"),
        ("The user is a teacher.", "I teach math"),
        ("使用者常搞混現在完成式。", "我老是分不清 present perfect"),
        ("使用者養貓。", "我养猫"),
        ("使用者住在首爾。", "저는 서울에 살아요"),
        ("使用者住在台北。", "I live in Taipei"),
        ("The user works at Google.", "我在 Google 上班"),
    ],
)
def test_a_fact_in_other_words_or_another_script_is_accepted(content, quote):
    assert extracted(fact(content, quote=quote), message=f"{quote}。").accepted


def test_nothing_is_learned_from_the_assistants_words():
    extraction = extracted(
        fact("使用者養了一隻貓。", quote="你養了一隻貓"), message="謝謝！", reply="我記得你養了一隻貓。"
    )
    assert refusals(extraction) == ["quote_not_found"]


@pytest.mark.parametrize("content", ["使用者住在哪裡？", "Does the user live in Taipei?", "使用者住在台北嗎。"])
def test_a_question_is_no_lasting_fact(content):
    assert refusals(extracted(fact(content))) == ["not_lasting"]


@pytest.mark.parametrize(
    "wrong", [{"content": "  "}, {"content": "x" * 501}, {"importance": 0}, {"importance": 6}], ids=str
)
def test_an_empty_or_overlong_sentence_or_an_importance_out_of_range_is_malformed(wrong):
    assert refusals(extracted(fact(**wrong))) == ["malformed"]


def test_the_same_sentence_twice_is_one_candidate():
    extraction = extracted(fact("使用者住在台北。"), fact("使用者住在台北"))
    assert len(extraction.accepted) == 1
    assert refusals(extraction) == ["duplicate"]


@pytest.mark.parametrize(
    "secret",
    [
        fact("The user's password is dragon99.", quote="住在台北"),
        fact("The user has a password.", quote="My password is dragon99"),
    ],
    ids=["in the content", "in the quote"],
)
def test_a_secret_is_refused_and_masked(secret):
    extraction = extracted(secret)
    (refused,) = extraction.refused
    assert (extraction.accepted, refused.reason) == ((), "secret")
    assert "dragon99" not in repr(extraction)
    assert MASK in refused.candidate.content + refused.candidate.quote


WIFI = "我家 Wi-Fi 密碼是 dragon77，我喜歡喝茶"


@pytest.mark.parametrize(
    "candidate",
    [
        {"memories": [fact("使用者用 dragon77 登入家裡的 Wi-Fi。", quote="我家 Wi-Fi")]},
        {"memories": [fact("使用者家裡有 Wi-Fi。", quote="dragon77")]},
        {"memories": [fact("使用者家裡 Wi-Fi 的密碼是 dragon77。", quote="dragon77")]},
        {"profile": [entry("interests", "dragon77", quote="我喜歡喝茶")]},
        {"profile": [entry("interests", "茶", quote="dragon77")]},
    ],
    ids=["content", "quote", "both", "profile value", "profile quote"],
)
def test_a_secret_of_the_message_is_kept_and_told_nowhere_whatever_it_is_called(candidate):
    extraction = extracted(*candidate.get("memories", ()), profile=candidate.get("profile", ()), message=WIFI)
    assert (extraction.accepted, extraction.profile, refusals(extraction)) == ((), (), ["secret"])
    assert "dragon77" not in repr(extraction)


def test_what_else_stands_beside_a_secret_is_learned():
    assert extracted(fact("使用者喜歡喝茶。", quote="我喜歡喝茶"), message=WIFI).accepted


def test_one_refused_fact_does_not_take_the_others_along():
    extraction = extracted(fact("使用者喜歡茶。", quote="喜歡茶"), fact())
    assert [candidate.content for candidate in extraction.accepted] == ["使用者住在台北。"]


def test_what_cannot_be_stored_is_taken_out_of_a_sentence():
    (candidate,) = extracted(fact("使用者\x00住在\n台北\ud83d。")).accepted
    assert candidate.content == "使用者住在 台北。"


# The profile.


def test_a_profile_field_is_learned_with_its_quote():
    extraction = extracted(profile=[entry()])
    assert extraction.profile == (ProfileUpdate(field="name", value="小美", quote="我叫小美"),)


def test_a_name_that_is_a_function_word_is_learned():
    extraction = extracted(profile=[entry(value="Will", quote="My name is Will")], message="Hi! My name is Will.")
    assert [update.value for update in extraction.profile] == ["Will"]


def test_a_level_is_stored_in_its_proper_form():
    extraction = extracted(profile=[entry("english_level", "b2", quote="B2")], message="我的程度是 B2")
    assert [update.value for update in extraction.profile] == ["B2"]


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (entry("english_level", "中級"), "malformed"),
        (entry("name", ""), "malformed"),
        (entry("name", "x" * 61), "malformed"),
        (entry("name", "小明", quote="我叫小明"), "quote_not_found"),
        (entry("name", "大明"), "not_lasting"),
        (entry("interests", "password is dragon99"), "secret"),
    ],
)
def test_a_profile_value_that_breaks_a_rule_is_refused_and_told(wrong, reason):
    extraction = extracted(profile=[wrong])
    assert (extraction.profile, refusals(extraction)) == ((), [reason])
    assert extraction.refused[0].candidate.content.startswith(f"{wrong['field']}: ")
    assert "dragon99" not in repr(extraction)


def test_of_two_values_for_one_field_the_first_is_learned():
    extraction = extracted(profile=[entry(), entry(value="美")])
    assert [update.value for update in extraction.profile] == ["小美"]
    assert refusals(extraction) == ["duplicate"]
