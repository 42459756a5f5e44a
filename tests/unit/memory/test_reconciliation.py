import json

import pytest
from support.scripted_model import ScriptedModel, structured

from memora.errors import Cancelled, RateLimited
from memora.memory import Candidate, Category, reconcile
from memora.memory.ports import IndexUnavailable
from memora.model import CancelToken, Usage

ME = "mei"
HOME, NEW_HOME = "使用者住在台北。", "使用者住在高雄。"


def candidate(content: str) -> Candidate:
    return Candidate(content=content, category=Category.PROFILE, importance=3, quote="quoted")


def answer(*decisions, usage=None):
    return structured({"decisions": list(decisions)}, usage=usage)


def decision(action, *, candidate=1, target=1, content="", reason="Because."):
    return {"candidate": candidate, "action": action, "target": target, "content": content, "reason": reason}


def decide(remembering, model, *contents):
    return reconcile(
        model=model,
        memory=remembering.memory,
        user_id=ME,
        candidates=[candidate(content) for content in contents],
        cancel=CancelToken(),
    )


def decide_one(remembering, *steps, content=NEW_HOME):
    (made,), _ = decide(remembering, ScriptedModel(*steps), content)
    return made


# Without a model.


def test_nothing_is_asked_when_there_is_nothing_to_decide(remembering):
    assert decide(remembering, ScriptedModel()) == ((), None)


def test_a_fact_without_a_similar_memory_is_created_without_asking_a_model(remembering):
    remembering.add("The user has a cat.")
    (made,), usage = decide(remembering, ScriptedModel(), HOME)
    assert (made.action, made.content, made.decided_by, usage) == ("create", HOME, "no_similar_memory", None)


@pytest.mark.parametrize("content", [HOME, "使用者住在台北", " 使用者住在台北。 "])
def test_the_same_sentence_is_skipped_without_asking_a_model(remembering, content):
    known = remembering.add(HOME)
    (made,), usage = decide(remembering, ScriptedModel(), content)
    assert (made.action, made.target_memory_id, made.decided_by, usage) == ("skip", known.id, "same_sentence", None)


# With one request.


def test_all_candidates_of_a_turn_share_one_request_with_small_numbers(remembering):
    home, cat = remembering.add(HOME), remembering.add("The user has a cat.")
    remembering.memory.refresh_index(user_id=ME)
    model = ScriptedModel(answer(decision("skip", candidate=1), decision("create", candidate=2, target=None)))
    decide(remembering, model, NEW_HOME, "The user likes coffee.", "The user has two cats.")
    (request,) = model.requests
    shown = json.loads(request.input[0]["content"])
    assert (request.purpose, request.output_schema.name) == ("reconciliation", "memory_reconciliation")
    assert [(one["number"], one["content"]) for one in shown["candidates"]] == [
        (1, NEW_HOME),
        (2, "The user has two cats."),
    ]
    assert [one["similar"] for one in shown["candidates"]] == [
        [{"number": 1, "content": HOME, "since": "2026-03-01"}],
        [{"number": 2, "content": "The user has a cat.", "since": "2026-03-01"}],
    ]
    assert home.id not in request.input[0]["content"]
    assert cat.id not in request.input[0]["content"]


def test_decisions_come_in_the_order_of_the_candidates(remembering):
    remembering.add(HOME)
    remembering.add("The user has a cat.")
    model = ScriptedModel(
        answer(decision("create", candidate=2, target=None), decision("update", candidate=1, content=NEW_HOME))
    )
    made, _ = decide(remembering, model, "I like tea.", NEW_HOME, HOME, "The user has two cats.")
    assert [(one.candidate.content, one.action) for one in made] == [
        ("I like tea.", "create"),
        (NEW_HOME, "update"),
        (HOME, "skip"),
        ("The user has two cats.", "create"),
    ]


def test_an_update_names_the_memory_it_supersedes_and_the_sentence_that_holds_now(remembering):
    home = remembering.add(HOME)
    made = decide_one(remembering, answer(decision("update", content=" 使用者現在\n住在高雄。")))
    assert (made.action, made.target_memory_id, made.target_content) == ("update", home.id, HOME)
    assert (made.content, made.decided_by, made.reason) == ("使用者現在 住在高雄。", "model", "Because.")


def test_a_skip_names_the_memory_that_says_it_already(remembering):
    home = remembering.add(HOME)
    made = decide_one(remembering, answer(decision("skip")), content="The user lives in Taipei.")
    assert (made.action, made.target_memory_id, made.content) == ("skip", home.id, "")


def test_a_creation_stores_the_candidates_own_sentence(remembering):
    remembering.add(HOME)
    made = decide_one(remembering, answer(decision("create", target=None, content="Something else.")))
    assert (made.action, made.content, made.target_memory_id) == ("create", NEW_HOME, None)


def test_what_asking_cost_is_reported(remembering):
    remembering.add(HOME)
    usage = Usage(input_tokens=7, output_tokens=2)
    assert decide(remembering, ScriptedModel(answer(decision("skip"), usage=usage)), NEW_HOME)[1] == usage


# Nothing is lost by a wrong answer.


@pytest.mark.parametrize(
    "wrong",
    [
        [decision("update", target=9, content="x")],
        [decision("skip", target=0)],
        [decision("skip", target=None)],
        [decision("update", candidate=7, content="x")],
        [],
    ],
    ids=["unknown number", "zero", "no target", "unknown candidate", "no decision"],
)
def test_a_candidate_is_created_rather_than_lost(remembering, wrong):
    remembering.add(HOME)
    made = decide_one(remembering, answer(*wrong))
    assert (made.action, made.content, made.target_memory_id, made.decided_by) == (
        "create",
        NEW_HOME,
        None,
        "fallback",
    )


def test_the_number_of_a_memory_that_was_shown_for_another_candidate_counts_as_unknown(remembering):
    remembering.add(HOME)
    remembering.add("The user has a cat.")
    model = ScriptedModel(answer(decision("skip", candidate=1, target=2), decision("skip", candidate=2, target=2)))
    made, _ = decide(remembering, model, NEW_HOME, "The user has two cats.")
    assert [(one.action, one.decided_by) for one in made] == [("create", "fallback"), ("skip", "model")]


def test_of_two_decisions_for_one_candidate_the_first_counts(remembering):
    remembering.add(HOME)
    made = decide_one(remembering, answer(decision("update", content=NEW_HOME), decision("skip")))
    assert made.action == "update"


@pytest.mark.parametrize(
    "content",
    ["", "  ", HOME, "x" * 501, "The user's password is dragon99."],
    ids=["empty", "blank", "the old sentence", "too long", "a secret"],
)
def test_an_update_without_a_usable_sentence_stores_the_candidates(remembering, content):
    remembering.add(HOME)
    made = decide_one(remembering, answer(decision("update", content=content)))
    assert (made.action, made.content) == ("update", NEW_HOME)


@pytest.mark.parametrize("error", [RateLimited(), Cancelled()])
def test_a_failed_request_is_left_to_the_caller(remembering, error):
    remembering.add(HOME)
    with pytest.raises(type(error)):
        decide_one(remembering, error)


def test_without_the_index_the_model_is_asked_about_what_shares_words(remembering):
    remembering.add(HOME)
    remembering.index.failure = IndexUnavailable("broken")
    assert decide_one(remembering, answer(decision("update", content=NEW_HOME))).action == "update"


def test_a_memory_that_is_not_current_is_not_compared_with(remembering):
    home = remembering.add(HOME)
    remembering.memory.delete(user_id=ME, memory_ids=[home.id])
    assert decide_one(remembering, content=HOME).action == "create"


def test_another_users_memories_are_not_compared_with(remembering):
    remembering.add(HOME, user_id="yun")
    assert decide_one(remembering, content=HOME).action == "create"
