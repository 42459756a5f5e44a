"""Dialogues with the demo model's mind: a request body goes in, a reply comes out."""

import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memora.prompts import render
from memora.providers.demo.language import count_words
from memora.providers.demo.mind import think
from memora.providers.demo.reply import FunctionCall, Text

TOOL = {"type": "function", "name": "count_english_words", "parameters": {}, "strict": True}


def background(*memories, **profile):
    told = {
        "profile": profile,
        "memories": [{"content": m, "category": "profile", "date": "2026-01-01"} for m in memories],
    }
    quoted = json.dumps(told, ensure_ascii=False)
    return {"type": "message", "role": "user", "content": f"Data.\n<background>\n{quoted}\n</background>"}


def body(message, *before, after=(), tool_choice="auto"):
    question = {"type": "message", "role": "user", "content": message}
    return {"model": "m", "input": [*before, question, *after], "tools": [TOOL], "tool_choice": tool_choice}


def said(message, *before, **options):
    (part,) = think(body(message, *before, **options)).parts
    assert isinstance(part, Text)
    return part.text


CHINESE = background(
    "使用者住在台北。", "使用者正在準備三月的 IELTS 考試。", "使用者是護理師。", "使用者養了兩隻貓。", name="小美"
)
ENGLISH = background(
    "The user lives in Taipei.",
    "The user is preparing for the IELTS exam in March.",
    "The user has studied English for three years.",
    "The user likes coffee.",
    "The user often confuses make and do.",
    name="Tom",
    english_level="B1",
)


def test_an_example_of_the_present_perfect_is_one_sentence_and_no_call():
    answer = said("請給我一個使用 present perfect 的例句。")
    assert "I have lived in this city for five years." in answer
    assert answer.count("\n- ") == 1


def test_a_count_is_a_call_with_exactly_the_sentence():
    (call,) = think(body("請精確計算這句英文有幾個單字：I have studied English for three years.")).parts
    assert call == FunctionCall("count_english_words", '{"text": "I have studied English for three years."}')


def test_after_the_output_the_answer_tells_the_number():
    call = {"type": "function_call", "call_id": "c", "name": "count_english_words", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c", "output": '{"ok": true, "result": {"word_count": 5}}'}
    message = "請計算：I don't know the answer."
    assert "5" in said(message, after=(call, output), tool_choice="none")


def test_an_output_of_an_earlier_turn_is_not_told_again():
    output = {"type": "function_call_output", "call_id": "c", "output": '{"ok": true, "result": {"word_count": 5}}'}
    assert "示範模型" in said("你好", output)


def test_nothing_is_called_when_tools_are_off():
    assert "工具" in said("請計算：I don't know.", tool_choice="none")


def test_nothing_is_called_without_a_sentence():
    assert "貼給我" in said("請計算：")


def test_a_statement_is_acknowledged_in_its_language():
    answer = said("我叫小美，住在台北，正在準備三月的 IELTS 考試。")
    assert answer.startswith("收到")
    assert "小美" in answer
    assert said("My name is Tom. I live in Taipei.").startswith("Thank you")


@pytest.mark.parametrize(
    ("question", "known", "expected"),
    [
        ("我在準備什麼考試？", CHINESE, "三月的 IELTS 考試"),
        ("我住在哪裡？", CHINESE, "台北"),
        ("我叫什麼名字？", CHINESE, "小美"),
        ("我的工作是什麼？", CHINESE, "護理師"),
        ("What exam am I preparing for?", CHINESE, "the IELTS exam in March"),
        ("Where do I live?", CHINESE, "Taipei"),
        ("What is my job?", CHINESE, "nurse"),
        ("Do I have any pets?", CHINESE, "two cats"),
        ("我在準備什麼考試？", ENGLISH, "三月的 IELTS 考試"),
        ("我住在哪裡？", ENGLISH, "台北"),
        ("我學英文多久了？", ENGLISH, "三年"),
        ("我喜歡什麼？", ENGLISH, "咖啡"),
        ("我常常搞混什麼？", ENGLISH, "make and do"),
        ("我的英文程度是什麼？", ENGLISH, "B1"),
        ("What's my name?", ENGLISH, "Tom"),
        ("What is my English level?", ENGLISH, "B1"),
    ],
)
def test_a_question_about_the_user_is_answered_from_the_background(question, known, expected):
    assert expected in said(question, known)


def test_everything_that_is_known_is_told_on_request():
    answer = said("你記得我什麼？", ENGLISH, background("使用者週五下棋。"))
    assert all(fact in answer for fact in ("Tom", "B1", "台北", "三月的 IELTS 考試", "咖啡", "使用者週五下棋。"))
    assert "Taipei" in said("What do you know about me?", CHINESE)


def test_what_is_not_known_is_not_made_up():
    assert "我還不知道" in said("我住在哪裡？")
    assert "do not know that yet" in said("Where do I live?", background("The user likes tea."))


def test_the_running_summary_is_no_background():
    summary = {"type": "message", "role": "user", "content": '<summary>\n{"summary": "使用者住在台北。"}\n</summary>'}
    assert "我還不知道" in said("我住在哪裡？", summary)


@pytest.mark.parametrize("message", ["你好", "謝謝！", "量子力學是什麼？", "用 banana 造句"])
def test_every_other_chinese_message_gets_an_honest_answer(message):
    answer = said(message)
    assert "示範模型" in answer
    assert "OPENAI_API_KEY" in answer


@pytest.mark.parametrize("message", ["Hello!", "Thanks a lot", "Who won the match?", "", "???"])
def test_every_other_message_gets_an_honest_answer(message):
    answer = said(message)
    assert "demo model" in answer
    assert "OPENAI_API_KEY" in answer


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("Give me an example of the past simple.", "We visited my grandparents last weekend."),
        ("What is the passive voice?", "This bridge was built in 1935."),
        ("被動語態怎麼用？", "This bridge was built in 1935."),
        ("請給我關係子句的例句", "The woman who lives next door is a pilot."),
        ("用 although 造句", "Although it was late, we kept talking."),
        ("example sentences for the second conditional", "If I had more time"),
    ],
)
def test_prepared_topics_have_sentences(message, sentence):
    assert sentence in said(message)


def test_as_many_sentences_come_as_were_asked_for():
    assert said("Give me three examples of the past simple").count("\n- ") == 3
    assert said("Give me an example of the past simple").count("\n- ") == 1


def test_the_same_request_gives_the_same_reply():
    request = body("你記得我什麼？", CHINESE)
    assert think(request) == think(request)


def test_simplified_characters_do_not_slip_into_answers():
    answers = "".join(said(text, CHINESE) for text in ("你好", "我住在哪裡？", "被動語態怎麼用？", "請計算："))
    assert not re.search(r"[这个说们时为东车学习单词让还没]", answers)


def structured(name, value):
    text = json.dumps(value, ensure_ascii=False)
    message = {"type": "message", "role": "user", "content": text}
    request = {
        "model": "m",
        "input": [message],
        "text": {"format": {"type": "json_schema", "name": name, "schema": {}}},
    }
    return json.loads(think(request).parts[0].text)


def test_extraction_gives_facts_and_profile_fields_with_their_quotes():
    turn = {"user_message": "我叫小美，住在台北。", "assistant_reply": "收到，我住在台中。"}
    found = structured("memory_extraction", turn)
    assert found["memories"] == [
        {"content": "使用者的名字是小美。", "category": "profile", "importance": 5, "quote": "我叫小美"},
        {"content": "使用者住在台北。", "category": "profile", "importance": 4, "quote": "住在台北"},
    ]
    assert found["profile"] == [{"field": "name", "value": "小美", "quote": "我叫小美"}]


@pytest.mark.parametrize("message", ["請計算：I live in Taipei.", "我住在哪裡？", "你好", "如果我住在台北"])
def test_nothing_is_extracted_where_nothing_is_stated(message):
    assert structured("memory_extraction", {"user_message": message, "assistant_reply": "I live in Rome."}) == {
        "memories": [],
        "profile": [],
    }


def summary_of(summary, *messages, instructions="You keep the running summary."):
    value = {"summary": summary, "messages": [{"role": role, "content": text} for role, text in messages]}
    asked = {"type": "message", "role": "user", "content": json.dumps(value, ensure_ascii=False)}
    return think({"model": "m", "instructions": instructions, "input": [asked]}).parts[0].text


def test_a_summary_keeps_the_beginning_of_what_the_user_said():
    said_since = [("user", "我想學文法。還有單字。"), ("assistant", "好的。"), ("user", "What is a verb? Tell me.")]
    summary = summary_of("- 使用者說：早安", *said_since)
    assert summary.splitlines() == ["- 使用者說：早安", "- 使用者說：我想學文法", "- The user said: What is a verb"]


@pytest.mark.parametrize("length", [50, 250])
def test_a_summary_is_as_short_as_the_instructions_want_and_keeps_what_is_new(length):
    messages = [("user", f"第{number}個問題，很長很長很長") for number in range(200)]
    summary = summary_of("", *messages, instructions=render("summary", max_words=length))
    assert count_words(summary) <= length
    assert "第199個問題" in summary


def test_a_summary_is_never_empty():
    assert summary_of("", ("assistant", "Good morning."))


@given(st.text())
@example("[[" * 50)
@example("<background>{</background>")
@example('{"user_message": 7}')
@example('{"messages": [1], "summary": 3}')
@example('{"candidates": [{"similar": [1]}, 2]}')
def test_no_text_is_too_odd_for_the_mind(text):
    message = [{"role": "user", "content": text}]
    assert think({"input": message, "tools": [TOOL]}).parts
    for name in ("memory_extraction", "memory_reconciliation"):
        json.loads(think({"input": message, "text": {"format": {"name": name}}}).parts[0].text)
    assert think({"input": message, "instructions": "a summary"}).parts
