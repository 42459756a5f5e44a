import json
from datetime import date

import pytest
from support.scripted_model import ScriptedModel, structured

from memora.errors import BadResponse, ModelUnreachable
from memora.memory import Category, Extraction, ProfileUpdate, extract
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
