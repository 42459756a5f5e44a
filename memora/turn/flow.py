"""The answer of a turn: one request, or two with one function call between them.

Request 1 offers the tools. If the model asks for a function, it is executed, and request 2 carries the
whole output of request 1 back together with the function's output, and offers no further call. There is
no loop: never more than two requests, never more than one function executed, whatever the server does.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from memora.elapsed import ms_since
from memora.errors import Cancelled, Failure
from memora.model import CancelToken, Item, LanguageModel, ModelRequest, Usage, rough_token_count
from memora.tools import TOOLS, execute_tool_call, failed_output
from memora.turn.calls import arguments_of, name_of, output_item
from memora.turn.estimate import CountTokens
from memora.turn.events import CallFinished, CallNotExecuted, CallStarted, Event
from memora.turn.exchange import Exchange, exchange

ONLY_ONE_CALL = failed_output("only one function call per turn is executed; answer with the result that you have")

Emit = Callable[[Event], None]


@dataclass(frozen=True, kw_only=True)
class ModelReply:
    """How the answer ended.

    ``state`` is ``done``; ``stopped`` by the user; ``cut_off`` when ``text`` is all that arrived before a
    ``failure``; or ``failed`` when nothing did. ``usage`` sums up all ``requests``.
    """

    text: str
    state: Literal["done", "stopped", "cut_off", "failed"]
    failure: Failure | None = None
    usage: Usage
    requests: int


def run_model_with_tools(
    *,
    input_messages: Sequence[Item],
    model: LanguageModel,
    instructions: str = "",
    tools: Sequence[Item] = TOOLS,
    execute: Callable[[Item], str] = execute_tool_call,
    emit: Emit = lambda event: None,
    cancel: CancelToken | None = None,
    count_tokens: CountTokens = rough_token_count,
    clock: Callable[[], float] = time.time,
) -> ModelReply:
    """Answer ``input_messages``, telling what happens through ``emit``.

    ``execute`` runs a ``function_call`` item and returns its output, a JSON string; it does not raise.
    ``count_tokens`` is asked only where a server reports no usage. Nothing that goes wrong between here
    and the model is raised: see `ModelReply`.
    """
    cancel = cancel or CancelToken()
    ask = partial(exchange, model=model, emit=emit, cancel=cancel, count_tokens=count_tokens, clock=clock)
    request = ModelRequest(
        purpose="answer",
        instructions=instructions,
        input=tuple(input_messages),
        tools=tuple(tools),
        tool_choice="auto" if tools else None,
    )

    first = ask(request, number=1)
    if not first.is_completed:
        _leave_calls(first.calls, number=1, reason="response_incomplete", emit=emit, clock=clock)
    if not first.is_completed or not first.calls:
        return _reply(first)
    if cancel.cancelled:
        return ModelReply(text=first.text, state="stopped", usage=first.usage, requests=1)

    answers = _answer_calls(first.calls, execute=execute, emit=emit, clock=clock)
    request = replace(request, input=(*request.input, *first.output, *answers), tool_choice="none" if tools else None)
    call_ids = [call["call_id"] for call in first.calls]
    second = ask(request, number=2, known_items=len(input_messages), taken_call_ids=call_ids)
    _leave_calls(second.calls, number=2, reason="no_call_in_second_request", emit=emit, clock=clock)
    if second.is_completed and second.calls and not second.text.strip():
        return _result_alone(first, second, result=answers[0]["output"])
    return _reply(second, before=first)


def _answer_calls(
    calls: Sequence[Item], *, execute: Callable[[Item], str], emit: Emit, clock: Callable[[], float]
) -> list[Item]:
    """Execute the first call and turn the others down: a call without an output would be refused."""
    first, *others = calls
    answers = [output_item(first, _execute(first, execute=execute, emit=emit, clock=clock))]
    _leave_calls(others, number=1, reason="only_one_call_per_turn", output=ONLY_ONE_CALL, emit=emit, clock=clock)
    return answers + [output_item(call, ONLY_ONE_CALL) for call in others]


def _execute(call: Item, *, execute: Callable[[Item], str], emit: Emit, clock: Callable[[], float]) -> str:
    call_id = call["call_id"]
    emit(CallStarted(at=clock(), call_id=call_id, name=name_of(call), arguments=arguments_of(call)))
    started = time.perf_counter()
    output = execute(call)
    took_ms = ms_since(started)
    is_ok = json.loads(output)["ok"]
    emit(CallFinished(at=clock(), call_id=call_id, took_ms=took_ms, ok=is_ok, output=output))
    return output


def _leave_calls(
    calls: Iterable[Item],
    *,
    number: int,
    reason: Literal["only_one_call_per_turn", "no_call_in_second_request", "response_incomplete"],
    emit: Emit,
    clock: Callable[[], float],
    output: str = "",
) -> None:
    """Tell that ``calls`` are not executed; ``output`` is what the model hears of it, if it hears anything."""
    for call in calls:
        emit(
            CallNotExecuted(
                at=clock(),
                number=number,
                call_id=call["call_id"],
                name=name_of(call),
                arguments=arguments_of(call),
                reason=reason,
                output=output,
            )
        )


def _reply(last: Exchange, *, before: Exchange | None = None) -> ModelReply:
    """The reply that ``last`` makes; a request ``before`` it adds its tokens.

    Text that came beside the call is no reply, but it was read: it is kept where nothing better came whole.
    """
    usage = before.usage + last.usage if before else last.usage
    requests = int(last.sent) + int(before is not None)
    text = last.text if before is None or last.is_completed or last.text.strip() else before.text
    if isinstance(last.error, Cancelled):
        return ModelReply(text=text, state="stopped", usage=usage, requests=requests)
    has_text = bool(text.strip())
    failure = last.failure or (None if has_text else _emptiness(last))
    return ModelReply(
        text=text if has_text else "",
        state="done" if failure is None else "cut_off" if has_text else "failed",
        failure=failure,
        usage=usage,
        requests=requests,
    )


def _result_alone(first: Exchange, second: Exchange, *, result: str) -> ModelReply:
    """The reply when the model called again instead of answering: there is no third request, but there is a result."""
    shown = f"`{name_of(first.calls[0])}`\n\n```json\n{result}\n```"
    return ModelReply(
        text="\n\n".join(part for part in (first.text.strip(), shown) if part),
        state="cut_off",
        failure=Failure(code="call_instead_of_answer"),
        usage=first.usage + second.usage,
        requests=2,
    )


def _emptiness(last: Exchange) -> Failure:
    """Why a completed response has nothing to read."""
    contents = [item.get("content") for item in last.output if item.get("type") == "message"]
    parts = [part for content in contents if isinstance(content, list) for part in content]
    is_refusal = any(isinstance(part, dict) and part.get("type") == "refusal" for part in parts)
    return Failure(code="refused" if is_refusal else "empty_answer")
