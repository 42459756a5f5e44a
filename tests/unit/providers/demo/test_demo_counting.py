"""Requests to count words."""

import json

import pytest

from memora.providers.demo.counting import asks_to_count, call_to_count, report_outputs, sentence_to_count


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        (
            "請精確計算這句英文有幾個單字：I have studied English for three years.",
            "I have studied English for three years.",
        ),
        ("請計算：I don't know the answer.", "I don't know the answer."),
        ("請計算: I don’t know.", "I don’t know."),
        ("「I love you.」有幾個單字？", "I love you."),
        ("I love my cat very much. 這句有幾個單字？", "I love my cat very much."),
        ("句子：I love you. 有幾個單字？", "I love you."),
        ('How many words are in "I don\'t know"?', "I don't know"),
        ("How many words are in 'I don't know'?", "I don't know"),
        ('Count the words: She said "hello" to me.', 'She said "hello" to me.'),
        ('Count the words: "Hello there"', "Hello there"),
        ("Count the words in this sentence: Be there at 10:30.", "Be there at 10:30."),
        ("How many words are in the sentence I love you so much", "I love you so much"),
        ("請計算：One line.\nAnother line.", "One line.\nAnother line."),
    ],
)
def test_exactly_the_english_sentence_is_counted(message, sentence):
    assert asks_to_count(message)
    assert sentence_to_count(message) == sentence


@pytest.mark.parametrize(
    "message", ["請計算：你好嗎", "How many words are in this sentence?", "這句有幾個單字？", "請計算："]
)
def test_without_an_english_sentence_there_is_nothing_to_count(message):
    assert asks_to_count(message)
    assert sentence_to_count(message) == ""


@pytest.mark.parametrize("message", ["我住在台北。", "What is the present perfect?", "你好"])
def test_other_messages_ask_for_no_count(message):
    assert not asks_to_count(message)


def test_the_arguments_of_the_call_are_one_string_of_json():
    (call,) = call_to_count("I don't 知道.").parts
    assert json.loads(call.arguments) == {"text": "I don't 知道."}
    assert "知道" in call.arguments


def reported(*outputs, language="en"):
    return report_outputs(outputs, language).parts[0].text


def test_the_number_is_told():
    output = json.dumps({"ok": True, "result": {"word_count": 7, "counting_rule": "…"}})
    assert "7 words" in reported(output)
    assert "7 個單字" in reported(output, language="zh")


def test_one_word_is_no_plural():
    assert "1 word." in reported('{"ok": true, "result": {"word_count": 1}}')


def test_an_error_is_told_with_its_message():
    assert "text is too long" in reported('{"ok": false, "error": "text is too long"}')
    assert "text is too long" in reported('{"ok": false, "error": "text is too long"}', language="zh")


def test_of_two_outputs_the_one_with_a_number_is_told():
    assert "3 words" in reported('{"ok": false, "error": "only one"}', '{"ok": true, "result": {"word_count": 3}}')


@pytest.mark.parametrize("output", ["", "not json", "[]", '{"ok": true}', '{"ok": true, "result": 7}'])
def test_an_output_that_makes_no_sense_gives_no_number(output):
    assert "no result" in reported(output)
