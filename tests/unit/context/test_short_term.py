import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.context_fakes import FakeConversations, dialogue, profile, recalled
from support.scripted_model import SOME_USAGE, ScriptedModel, Step, message, response

from memora.context import TOOL_TURN_TOKEN_RESERVE, ShortTermMemory, Summarizer, TokenCounter, background_messages
from memora.context.calibration import MIN_ANSWERS, Calibration
from memora.context.ports import StoredMessage
from memora.errors import Cancelled, Failure, MessageTooLong, NotFound, RateLimited
from memora.model import CancelToken, Item, Usage
from memora.tools import TOOLS

COUNTER = TokenCounter()
INSTRUCTIONS = "You are a tutor."
FIXED = COUNTER.count(INSTRUCTIONS) + COUNTER.count_tools(TOOLS)


class Always(ScriptedModel):
    """A model that gives the same answer for ever."""

    def _next_step(self, request: object) -> Step:
        self._script.append(self._script[0])
        return super()._next_step(request)  # type: ignore[arg-type]


def memory(
    store: FakeConversations,
    model: ScriptedModel | None = None,
    *,
    room: int = 10_000,
    counter: TokenCounter = COUNTER,
    cancel: CancelToken | None = None,
    user_id: str = "user-1",
) -> ShortTermMemory:
    """A short-term memory whose changing part (background, summary, messages) may take ``room`` tokens."""
    window = FIXED + TOOL_TURN_TOKEN_RESERVE + room
    return ShortTermMemory(
        store=store,
        counter=counter,
        summarizer=Summarizer(model=model or ScriptedModel(), counter=counter, max_tokens=window // 2),
        user_id=user_id,
        conversation_id="conversation-1",
        turn_id=store.messages[-1].turn_id,
        instructions=INSTRUCTIONS,
        tools=TOOLS,
        max_input_tokens=window,
        cancel=cancel or CancelToken(),
    )


def conversation(turns: int, *, words: int = 50, asked: str = "And now?") -> FakeConversations:
    """``turns`` finished turns of about ``2 * words`` tokens, and a question."""
    exchanges = [(f"{turn}" + " word" * words, f"{turn}" + " reply" * words) for turn in range(1, turns + 1)]
    return FakeConversations(*dialogue(*exchanges, asked=asked))


def texts(items: tuple[Item, ...]) -> list[str]:
    return [item["content"] for item in items]


def items_of(messages: list[StoredMessage]) -> list[Item]:
    return [{"type": "message", "role": stored.role, "content": stored.content} for stored in messages]


def test_a_conversation_that_fits_is_sent_word_for_word() -> None:
    store = conversation(2)
    context = memory(store).prepare_context()
    assert list(context.input_messages) == items_of(store.messages)
    assert context.context_messages == 5
    assert (context.folds, context.left_out_messages, context.newly_summarized_count) == ((), 0, 0)


def test_background_comes_first_then_the_summary_then_the_messages() -> None:
    store = conversation(1)
    store.summary = "Earlier they said hello."
    background = background_messages(profile=profile(name="小美"), memories=[recalled("小美住在台北。")])
    context = memory(store).prepare_context(background_messages=background)
    assert context.input_messages[:2] == background
    assert "Earlier they said hello." in context.input_messages[2]["content"]
    assert list(context.input_messages[3:]) == items_of(store.messages)
    assert context.has_background


def test_the_statistics_add_up() -> None:
    store = conversation(2)
    store.summary = "Earlier they said hello."
    background = background_messages(profile=profile(name="小美"), memories=())
    context = memory(store).prepare_context(background_messages=background, reserved_input_tokens=900)
    assert set(context.parts) == {"system", "tools", "background", "summary", "messages"}
    assert all(tokens > 0 for tokens in context.parts.values())
    assert context.input_tokens == FIXED + COUNTER.count_items(context.input_messages)
    assert context.reserved_input_tokens == 900
    assert context.estimated_input_tokens == context.input_tokens + 900


def test_the_oldest_turns_are_folded_when_it_is_too_much() -> None:
    store = conversation(10)
    model = ScriptedModel("A summary of the beginning.")
    context = memory(store, model, room=1_000).prepare_context()
    (fold,) = context.folds
    assert context.newly_summarized_count == fold.messages == store.summarized_through == 8
    assert context.summary_token_usage == SOME_USAGE
    assert store.summary == "A summary of the beginning."
    assert "A summary of the beginning." in context.input_messages[0]["content"]
    assert list(context.input_messages[1:]) == items_of(store.messages[8:])
    assert context.left_out_messages == 0
    assert context.estimated_input_tokens <= context.max_input_tokens


def test_less_is_sent_to_a_server_that_counts_more() -> None:
    twice = COUNTER.calibrated(Calibration(estimated_tokens=100, server_tokens=200, answers=MIN_ANSWERS))
    context = memory(conversation(10), ScriptedModel(RateLimited()), room=1_200, counter=twice).prepare_context()
    assert context.left_out_messages > 0
    assert context.estimated_input_tokens <= context.max_input_tokens
    assert context.input_tokens == pytest.approx(2 * (FIXED + COUNTER.count_items(context.input_messages)), rel=0.01)
    assert memory(conversation(10), room=1_200).prepare_context().left_out_messages == 0


def test_the_next_turn_builds_on_the_stored_summary_and_needs_no_fold() -> None:
    store = conversation(10)
    memory(store, ScriptedModel("A summary."), room=1_000).prepare_context()
    context = memory(store, ScriptedModel(), room=1_000).prepare_context()
    assert context.folds == ()
    assert "A summary." in context.input_messages[0]["content"]


def test_a_second_fold_is_given_the_first_summary() -> None:
    store = conversation(10)
    store.summary = "What was before."
    model = ScriptedModel("All of it.")
    memory(store, model, room=1_000).prepare_context()
    assert json.loads(model.requests[0].input[0]["content"])["summary"] == "What was before."


def test_the_messages_themselves_stay_stored() -> None:
    store = conversation(10)
    before = list(store.messages)
    memory(store, ScriptedModel("A summary."), room=1_000).prepare_context()
    assert store.messages == before


def test_a_failed_summary_leaves_the_fewest_turns_out_and_changes_nothing() -> None:
    store = conversation(10)
    context = memory(store, ScriptedModel(RateLimited()), room=1_000).prepare_context()
    (fold,) = context.folds
    assert fold.failure == Failure(code="rate_limited")
    assert (store.summary, store.summarized_through) == ("", 0)
    assert context.newly_summarized_count == 0
    assert context.left_out_messages == 2
    assert list(context.input_messages) == items_of(store.messages[2:])


def test_after_a_failed_summary_the_next_turn_tries_again() -> None:
    store = conversation(10)
    memory(store, ScriptedModel(RateLimited()), room=1_000).prepare_context()
    context = memory(store, ScriptedModel("Now it worked."), room=1_000).prepare_context()
    assert context.newly_summarized_count == 8
    assert context.left_out_messages == 0


def test_an_answer_waits_for_a_few_summaries_at_most() -> None:
    store = conversation(60, words=200)
    model = Always("So far.")
    context = memory(store, model, room=1_000).prepare_context()
    assert len(context.folds) == len(model.requests) == 4
    assert store.summarized_through == context.newly_summarized_count
    assert context.left_out_messages > 0
    assert context.estimated_input_tokens <= context.max_input_tokens


def test_fewer_turns_stay_word_for_word_when_they_are_long() -> None:
    store = conversation(2, words=400)
    context = memory(store, ScriptedModel("Both.", "Both."), room=700).prepare_context()
    assert texts(context.input_messages)[-1] == "And now?"
    assert context.context_messages == 1
    assert context.newly_summarized_count == 4


def test_a_summary_that_leaves_no_room_for_the_message_stays_out_of_the_request() -> None:
    store = conversation(0, asked="word " * 200)
    store.summary = "long " * 500
    context = memory(store, room=300).prepare_context()
    assert texts(context.input_messages) == ["word " * 200]
    assert context.parts["summary"] == 0
    assert store.summary == "long " * 500


def test_a_summary_without_room_is_still_built_upon() -> None:
    store = conversation(1, asked="word " * 200)
    store.summary = "long " * 500
    model = ScriptedModel("All of it, briefly.")
    memory(store, model, room=300).prepare_context()
    assert json.loads(model.requests[0].input[0]["content"])["summary"] == "long " * 500


def test_memories_give_way_before_the_profile() -> None:
    store = conversation(0, asked="word " * 200)
    background = background_messages(
        profile=profile(name="小美"), memories=[recalled("She lives in a small town. " * 20)]
    )
    context = memory(store, room=300).prepare_context(background_messages=background)
    assert context.input_messages[0] == background[0]
    assert len(context.input_messages) == 2
    assert not context.has_background


def test_without_room_even_the_profile_gives_way_to_the_message() -> None:
    store = conversation(0, asked="word " * 200)
    background = background_messages(profile=profile(name="小美"), memories=())
    context = memory(store, room=210).prepare_context(background_messages=background)
    assert len(context.input_messages) == 1
    assert not context.has_background


def test_a_message_that_cannot_fit_is_refused_before_the_model_is_asked() -> None:
    store = conversation(3, asked="word " * 2_000)
    model = ScriptedModel()
    with pytest.raises(MessageTooLong) as caught:
        memory(store, model, room=1_000).prepare_context()
    assert caught.value.params["tokens"] > caught.value.params["limit"] > 900
    assert model.requests == []


def test_stop_in_the_middle_of_a_summary_stops_the_turn() -> None:
    store = conversation(10)
    cancel = CancelToken()

    def pressed(request: object, token: CancelToken) -> str:
        token.cancel()
        return "too late"

    with pytest.raises(Cancelled):
        memory(store, ScriptedModel(pressed), room=1_000, cancel=cancel).prepare_context()
    assert (store.summary, store.summarized_through) == ("", 0)


def test_a_conversation_of_somebody_else_is_not_found() -> None:
    with pytest.raises(NotFound):
        memory(conversation(1), user_id="user-2").prepare_context()


def test_finishing_a_turn_commits_its_reply() -> None:
    store = conversation(1)
    memory(store).finish_turn(assistant_reply="Fine.", context_messages=3, response_tokens=42)
    assert store.finished == [
        {
            "user_id": "user-1",
            "turn_id": "turn-2",
            "reply": "Fine.",
            "state": "done",
            "response_tokens": 42,
            "usage": Usage(),
            "context_messages": 3,
            "failure": None,
            "learn": True,
        }
    ]


def test_a_turn_that_failed_is_finished_with_its_failure() -> None:
    store = conversation(1)
    memory(store).finish_turn(
        assistant_reply="",
        context_messages=0,
        response_tokens=0,
        state="failed",
        failure=Failure(code="timeout"),
        learn=False,
    )
    assert store.finished[0]["failure"] == Failure(code="timeout")
    assert store.finished[0]["learn"] is False


EXCHANGES = st.lists(
    st.tuples(st.text("ab 中文", min_size=1, max_size=300), st.text("cd 例句", min_size=1, max_size=300)), max_size=12
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    EXCHANGES,
    st.integers(150, 1_500),
    st.sampled_from(["Short.", "long " * 150, RateLimited()]),
    st.integers(0, 12),
    st.text("xy 說", max_size=600),
)
def test_any_conversation_is_sent_within_the_budget_in_order_and_in_whole_turns(
    exchanges: list[tuple[str, str]], room: int, answer: Step, known: int, summary: str
) -> None:
    store = FakeConversations(*dialogue(*exchanges, asked="What now?"), summary=summary)
    background = background_messages(
        profile=profile(name="小美"), memories=[recalled(f"She said {number}.") for number in range(known)]
    )
    context = memory(store, Always(answer), room=room).prepare_context(background_messages=background)
    assert context.estimated_input_tokens <= context.max_input_tokens
    assert context.input_tokens == FIXED + COUNTER.count_items(context.input_messages)
    sent = context.input_messages[len(context.input_messages) - context.context_messages :]
    assert list(sent) == items_of(store.messages[len(store.messages) - len(sent) :])
    assert len(sent) % 2 == 1
    assert context.newly_summarized_count + context.left_out_messages + context.context_messages == len(store.messages)
    assert store.summarized_through == context.newly_summarized_count


def test_usage_of_the_summary_counts_as_an_estimate_when_the_server_is_silent() -> None:
    store = conversation(10)
    context = memory(store, ScriptedModel(response(message("A summary."), usage=None)), room=1_000).prepare_context()
    assert context.summary_token_usage.source == "estimated"
