"""What can be wrong with what a server sends: by name, done to a good answer just before it leaves.

A fault has a ``trigger`` of the demo model's (see `memora.providers.demo.faults`), which makes the answer, an ``edit``
of what is sent, or both.
"""

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace

from memora.providers.demo.service import Answered, Outcome, Streamed, Unanswered, failure

KEY = "sk-marked-0123456789-abcdefghij"
"""The key that the matrix sends with every request, and that one fault repeats; to be found nowhere afterwards."""
HUGE = 1_000_000
DRIP_PAUSE, DRIP_BYTES = 0.001, 61
PAGE = "<!doctype html><title>Bad gateway</title><h1>502</h1><p>The proxy has no answer."


@dataclass(frozen=True, kw_only=True)
class Cut:
    """Bytes of a stream, and how they end: ``end`` quietly, ``reset`` the connection, or ``silence``."""

    pieces: tuple[bytes, ...]
    ending: str = "end"
    pause: float = 0.0


@dataclass(frozen=True, kw_only=True)
class WireFault:
    """See above. Without ``trigger`` and ``edit`` nothing is wrong."""

    trigger: str = ""
    edit: Callable[[Outcome], Outcome | Cut] = lambda outcome: outcome


def frame(event):
    """An event as it is sent; a lone half of a surrogate pair, which has no bytes, as its escape."""
    data = json.dumps(event, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()
    return f"event: {event['type']}\ndata: {data}\n\n"


def events_of(streamed):
    return [json.loads(written.partition("data: ")[2]) for _, written in streamed.frames]


def on_events(change):
    """An edit of the events of a stream; ``change`` returns the events to send. What is no stream stays as it is."""

    def edit(outcome):
        if not isinstance(outcome, Streamed):
            return outcome
        return replace(outcome, frames=iter([(0.0, frame(event)) for event in change(events_of(outcome))]))

    return edit


def on_items(change):
    """An edit of every item in a stream, wherever it is told."""

    def changed(events):
        for event in events:
            told = [event["item"]] if "item" in event else []
            for item in told + event.get("response", {}).get("output", []):
                change(item)
        return events

    return on_events(changed)


def on_calls(**fields):
    """An edit of every function call."""
    return on_items(lambda item: item.update(fields) if item["type"] == "function_call" else None)


def in_bytes(ending_of):
    """An edit that sends a stream's bytes as ``ending_of`` (all frames as bytes → a `Cut`) wants."""

    def edit(outcome):
        if not isinstance(outcome, Streamed):
            return outcome
        return ending_of([written.encode() for _, written in outcome.frames])

    return edit


def cut_in_the_middle(frames):
    """Up to the middle of the deltas, and there inside a character or a word."""
    deltas = [place for place, sent in enumerate(frames) if b".delta" in sent]
    place = deltas[len(deltas) // 2] if deltas else len(frames) // 2
    broken = frames[place]
    wide = next((at for at, byte in enumerate(broken) if byte > 0x7F), len(broken) // 2)
    return [*frames[:place], broken[: wide + 1]]


def reordered(events):
    """Deltas swapped, and items told to be done before they have come about."""
    deltas = [place for place, event in enumerate(events) if "delta" in event]
    for one, other in zip(deltas[::2], deltas[1::2], strict=False):
        events[one], events[other] = events[other], events[one]
    done = [event for event in events if event["type"] == "response.output_item.done"]
    rest = [event for event in events if event["type"] != "response.output_item.done"]
    return [*rest[:2], *done, *rest[2:]]


def with_strangers(events):
    stranger = {"type": "response.shiny.delta", "delta": "?", "item": None, "sequence_number": 0}
    return [event for known in events for event in (stranger, known)]


def at_the_end(**fields):
    """An edit of the response that ends the stream."""

    def changed(events):
        events[-1]["response"].update(deepcopy(fields))
        return events

    return on_events(changed)


def filtered(events):
    """The content filter ends the answer."""
    events[-1]["response"]["incomplete_details"] = {"reason": "content_filter"}
    return events


def whole(status, content, content_type="application/json", **headers):
    """An edit that puts one whole answer in the place of every other."""
    return lambda _: Answered(status=status, content=content, content_type=content_type, headers=headers)


def headers(**fields):
    return lambda outcome: replace(outcome, headers={name.replace("_", "-"): value for name, value in fields.items()})


def twice(events):
    return [again for event in events for again in (event, event)]


def dripping(frames):
    sent = b"".join(frames)
    return Cut(pieces=tuple(sent[at : at + DRIP_BYTES] for at in range(0, len(sent), DRIP_BYTES)), pause=DRIP_PAUSE)


FAULTS = {
    "none": WireFault(),
    # No HTTP answer
    "read_timeout": WireFault(edit=lambda _: Unanswered("timeout")),
    "reset": WireFault(edit=lambda _: Unanswered("refused")),
    # HTTP errors
    **{str(status): WireFault(trigger=f"fail:{status}") for status in (400, 401, 403, 408, 409, 413, 422)},
    "401_with_the_key": WireFault(edit=whole(401, json.dumps({"error": {"message": f"Incorrect API key: {KEY}."}}))),
    "404_model": WireFault(trigger="fail:model"),
    "404_route": WireFault(trigger="fail:route"),
    "429": WireFault(trigger="fail:429", edit=headers()),
    "429_retry_after": WireFault(trigger="fail:429", edit=headers(retry_after_ms="30")),
    "429_quota": WireFault(trigger="fail:quota"),
    **{str(status): WireFault(trigger=f"fail:{status}", edit=headers()) for status in (500, 502, 503, 529)},
    "502_page": WireFault(edit=whole(502, PAGE, "text/html")),
    # Bodies that are no answer
    "html": WireFault(trigger="fail:html"),
    "empty_body": WireFault(edit=whole(200, "")),
    "invalid_json": WireFault(edit=whole(200, '{"id": "resp_1", "output": [')),
    # Streams that break off
    "ends_early": WireFault(trigger="fail:end"),
    "cut": WireFault(trigger="fail:cut"),
    "ends_in_a_character": WireFault(edit=in_bytes(lambda frames: Cut(pieces=tuple(cut_in_the_middle(frames))))),
    "reset_in_a_character": WireFault(
        edit=in_bytes(lambda frames: Cut(pieces=tuple(cut_in_the_middle(frames)), ending="reset"))
    ),
    "goes_silent": WireFault(
        edit=in_bytes(lambda frames: Cut(pieces=tuple(cut_in_the_middle(frames)), ending="silence"))
    ),
    "error_event": WireFault(trigger="fail:error"),
    "failed": WireFault(trigger="fail:failed"),
    # Streams in disorder
    "drips": WireFault(edit=in_bytes(dripping)),
    "out_of_order": WireFault(edit=on_events(reordered)),
    "unknown_events": WireFault(edit=on_events(with_strangers)),
    "duplicate_events": WireFault(edit=on_events(twice)),
    # Answers that are none, or not whole
    "no_usage": WireFault(trigger="no:usage"),
    "incomplete_length": WireFault(trigger="fail:incomplete"),
    "incomplete_filter": WireFault(trigger="fail:incomplete", edit=on_events(filtered)),
    "refusal": WireFault(trigger="fail:refusal"),
    "empty": WireFault(trigger="fail:empty"),
    "null_output": WireFault(edit=at_the_end(output=None)),
    "null_items": WireFault(edit=at_the_end(output=[None, None])),
    "null_content": WireFault(edit=on_items(lambda item: "content" in item and item.update(content=None))),
    # Odd calls
    "text_and_call": WireFault(trigger="with:text"),
    "two_calls": WireFault(trigger="bad:two_calls"),
    "call_again": WireFault(trigger="bad:call_again"),
    "unknown_tool": WireFault(trigger="bad:unknown_tool"),
    "broken_arguments": WireFault(trigger="bad:arguments"),
    "ends_early_in_arguments": WireFault(trigger="fail:end"),
    "call_without_a_name": WireFault(edit=on_calls(name="")),
    "call_without_an_id": WireFault(edit=on_calls(call_id="")),
    "calls_with_one_id": WireFault(trigger="bad:two_calls", edit=on_calls(call_id="call_same")),
    "huge_arguments": WireFault(edit=on_calls(arguments=json.dumps({"text": "a" * HUGE}))),
}


def embedding_answer(name, body, good):
    """What comes of a request for embeddings: there are no streams, and only what fails as a whole can fail."""
    fault = FAULTS[name]
    return fault.edit(failure(fault.trigger.removeprefix("fail:"), body) or good)
