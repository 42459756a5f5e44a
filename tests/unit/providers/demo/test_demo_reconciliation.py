"""What the demo model decides about candidates."""

import json

import pytest

from memora.providers.demo.mind import think


def decide(content, *known):
    """The decision for one candidate, with the number and sentence of what it is about."""
    similar = [{"number": number, "content": memory} for number, memory in enumerate(known, start=4)]
    return decide_all({"number": 1, "content": content, "similar": similar})[0]


def decide_all(*candidates):
    text = json.dumps({"candidates": candidates}, ensure_ascii=False)
    body = {"model": "m", "input": text, "text": {"format": {"type": "json_schema", "name": "memory_reconciliation"}}}
    return json.loads(think(body).parts[0].text)["decisions"]


def test_a_move_updates_the_home_with_the_new_sentence():
    decision = decide("使用者住在高雄。", "使用者的名字是小美。", "使用者住在台北。")
    assert (decision["candidate"], decision["action"], decision["target"]) == (1, "update", 5)
    assert decision["content"] == "使用者住在高雄。"
    assert decision["reason"]


@pytest.mark.parametrize(
    ("content", "known"),
    [
        ("使用者住在台北。", "使用者住在台北。"),
        ("使用者住在台北。", "使用者住在臺北市。"),
        ("使用者住在台北。", "The user lives in Taipei."),
        ("The user is preparing for the IELTS exam.", "使用者正在準備三月的 IELTS 考試。"),
        ("使用者喜歡咖啡。", "使用者喜歡黑咖啡。"),
        ("The user plays chess on Fridays.", "The user plays chess on Fridays."),
    ],
)
def test_what_is_known_already_is_skipped(content, known):
    decision = decide(content, known)
    assert (decision["action"], decision["target"]) == ("skip", 4)


@pytest.mark.parametrize(
    ("content", "known"),
    [
        ("使用者正在準備五月的 IELTS 考試。", "使用者正在準備三月的 IELTS 考試。"),
        ("The user lives in Kaohsiung.", "使用者住在台北。"),
        ("使用者的英文程度是 B2。", "使用者的英文程度是 B1。"),
        ("使用者喜歡黑咖啡。", "使用者喜歡咖啡。"),
        ("使用者不喜歡咖啡。", "使用者喜歡咖啡。"),
    ],
)
def test_a_value_that_changed_or_grew_is_updated(content, known):
    decision = decide(content, known)
    assert (decision["action"], decision["target"], decision["content"]) == ("update", 4, content)


@pytest.mark.parametrize(
    ("content", "known"),
    [
        ("使用者喜歡茶。", "使用者喜歡咖啡。"),
        ("使用者養了一隻狗。", "使用者的寵物叫咪咪。"),
        ("使用者住在台北。", "使用者的名字是小美。"),
        ("使用者住在台北。", "使用者在台北工作。"),
        ("The user plays chess.", "The user plays tennis."),
    ],
)
def test_facts_that_live_side_by_side_are_created(content, known):
    decision = decide(content, known)
    assert (decision["action"], decision["target"], decision["content"]) == ("create", None, content)


def test_every_candidate_gets_its_decision():
    decisions = decide_all(
        {"number": 1, "content": "使用者住在高雄。", "similar": [{"number": 1, "content": "使用者住在台北。"}]},
        {"number": 2, "content": "使用者喜歡茶。", "similar": [{"number": 2, "content": "使用者住在台北。"}]},
    )
    assert [(decision["candidate"], decision["action"]) for decision in decisions] == [(1, "update"), (2, "create")]
