"""What survives in a cassette. Private words here are of letters that no field, status or instruction is made of."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memora.providers.cassette.cassette import Answer, Exchange, exchange_line
from memora.providers.cassette.frames import payload_of
from memora.providers.cassette.ids import Ids
from memora.providers.cassette.letters import masked
from memora.providers.cassette.masking import masked_exchange, masked_path
from memora.providers.openai.failures import Endpoint, Report, reported_error
from memora.providers.openai.model import _INCLUDE_REFUSED, _REASONING_REFUSED
from memora.tools import TOOLS

SECRET = "sk-qjzqvk-7zqjv7"
PRIVATE = "qjzvkwQJZVKW龘鱻麤靐齉７"
RUN = re.compile(f"[{PRIVATE}]{{4,}}", re.IGNORECASE)

words = st.text(PRIVATE, min_size=4, max_size=12)
sentences = st.lists(st.one_of(words, st.sampled_from([" ", '"', "\\", "\n", "：", "{", "}", "'"])), min_size=1).map(
    "".join
)
privates = st.one_of(
    sentences,
    st.builds(lambda text: json.dumps({"text": text, text: [text]}), sentences),
    st.builds(lambda text: json.dumps({"text": text}, ensure_ascii=False), sentences),
    st.builds(lambda text: json.dumps(json.dumps({"a": text})), sentences),
    st.just(SECRET),
)
unknown = st.recursive(
    privates, lambda inner: st.one_of(st.lists(inner), st.dictionaries(privates, inner)), max_leaves=4
)


def request(said, **fields):
    message = {"type": "message", "role": "user", "content": said}
    body = {"model": "gpt-6-luna", "instructions": "Be kind.", "input": [message], "tools": list(TOOLS)}
    return {**body, "tool_choice": "auto", "store": False, "stream": True, **fields}


def exchange(said="hello", answer=None, **fields):
    return Exchange(method="POST", path="/v1/responses", body=request(said, **fields), answer=answer)


def refusal(**error):
    headers = {"content-type": "application/json"}
    return Answer(status=400, headers=headers, kind="json", body={"error": {"type": "invalid_request_error", **error}})


def streamed(*events):
    frames = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
    return Answer(status=200, headers={"content-type": "text/event-stream"}, kind="frames", body=frames)


def in_pieces(text, cuts, **fields):
    places = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    return [{**fields, "delta": text[start:end]} for start, end in pairwise(places)]


def kept(exchange):
    return masked_exchange(exchange, ids=Ids(), secret=SECRET)


def survivors(exchange):
    """The runs of private characters in what would be written, escapes resolved."""
    line = exchange_line(kept(exchange))
    resolved = re.sub(r"\\+u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), line)
    return [*RUN.findall(line), *RUN.findall(resolved)] + [SECRET] * (SECRET in line)


@settings(max_examples=40, deadline=None)
@given(text=privates, reply=privates, cuts=st.lists(st.integers(0, 99), max_size=6), extra=unknown)
def test_nothing_private_survives_in_a_stream(text, reply, cuts, extra):
    where = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    message = {
        "type": "message",
        "id": "msg_1",
        "content": [{"type": "output_text", "text": reply, "logprobs": [{"token": reply}], "annotations": [extra]}],
    }
    call = {"type": "function_call", "call_id": "call_1", "name": reply, "arguments": reply}
    usage = {"input_tokens": 3, "output_tokens": 4, "novel": extra}
    answer = streamed(
        {"type": "response.created", "response": {"id": "resp_1", "metadata": {"k": extra}, "instructions": reply}},
        *in_pieces(reply, cuts, type="response.output_text.delta", **where),
        {"type": "response.output_text.done", "text": reply, **where},
        *in_pieces(reply, cuts, type="response.function_call_arguments.delta", item_id="fc_1", output_index=1),
        {"type": "response.function_call_arguments.done", "arguments": reply, "item_id": "fc_1", "output_index": 1},
        {"type": "response.extra", "extra": extra, "item": {"type": "message", "extra": {"content": extra}}},
        {"type": "error", "code": "server_error", "message": f"could not read {reply} of {text}", "param": None},
        {"type": "response.completed", "response": {"output": [message, call], "usage": usage, "user": text}},
    )
    asked = exchange(text, answer, metadata={"who": extra}, user=text, safety_identifier=text, prompt_cache_key=text)
    assert survivors(asked) == []
    events = [json.loads(payload_of(frame)) for frame in kept(asked).answer.body]
    for kind, whole in (("output_text", "text"), ("function_call_arguments", "arguments")):
        deltas = [event["delta"] for event in events if event["type"] == f"response.{kind}.delta"]
        (done,) = [event for event in events if event["type"] == f"response.{kind}.done"]
        assert "".join(deltas) == done[whole]
        assert len(done[whole]) == len(reply)
    assert [list(event) for event in events] == [list(json.loads(payload_of(frame))) for frame in answer.body]


@settings(max_examples=40, deadline=None)
@given(text=privates, extra=unknown, said=st.sampled_from(["{}", "'{}'…", "input: {} (key " + SECRET + ")", "{}{}"]))
def test_nothing_private_survives_in_an_error(text, extra, said):
    message = said.replace("{}", text)
    for answer in (
        refusal(message=message, param="input", code="invalid", novel=extra),
        Answer(status=422, kind="json", body={"detail": [{"loc": ["body", "input"], "msg": message, "input": extra}]}),
        Answer(status=500, kind="json", body={"error": message}),
        Answer(status=500, kind="json", body={"error": message.encode("unicode_escape").decode()}),
        Answer(status=502, headers={"content-type": "text/html"}, kind="text", body=f"<p>{message}</p>"),
        Answer(status=502, headers={"server": text, "x-novel": text}, kind="text", body=message),
        Answer(status=200, headers={"content-type": "application/json"}, kind="text", body='{"id": "' + text),
    ):
        assert survivors(exchange(text, answer)) == []


@settings(max_examples=25, deadline=None)
@given(text=privates, novel=unknown)
def test_nothing_private_survives_in_a_frame_that_is_broken(text, novel):
    frames = [
        f": {text}\n\n",
        f"id: {text}\ndata: {text}\n\n",
        f'data: {{"type": "{text}\n\n',
        f"{text}\n\n",
        "data: [DONE]\n\n",
    ]
    answer = Answer(status=200, headers={"content-type": "text/event-stream"}, kind="frames", body=frames)
    assert survivors(exchange(text, answer, novel=novel)) == []
    assert kept(exchange(text, answer)).answer.body[-1] == "data: [DONE]\n\n"


def test_what_memora_writes_itself_stays_and_what_a_user_writes_does_not():
    before = exchange("Count: I don't know.", max_output_tokens=16)
    after = kept(before)
    assert after == replace(
        before, body={**before.body, "input": [{"type": "message", "role": "user", "content": "Xxxxx: X xxx'x xxxx."}]}
    )


def test_a_tool_call_keeps_the_tools_own_names_so_that_it_runs_again():
    call = {"type": "function_call", "name": "count_english_words", "arguments": '{"text": "I don\'t, Mei"}'}
    (output,) = kept(exchange("…", Answer(status=200, kind="json", body={"output": [call]}))).answer.body["output"]
    assert output == {**call, "arguments": '{"text": "X xxx\'x, Xxx"}'}


def test_a_structured_answer_keeps_the_names_and_choices_of_its_schema():
    choice = {"enum": ["goal", "skip"], "type": "string"}
    schema = {"type": "object", "properties": {"category": choice, "content": {}, "importance": {}}}
    text = '{"category": "goal", "content": "goal", "importance": 5, "years": 1987}'
    answer = Answer(status=200, kind="json", body={"output": [{"content": [{"type": "output_text", "text": text}]}]})
    asked = exchange("…", answer, text={"format": {"type": "json_schema", "name": "facts", "schema": schema}})
    (item,) = kept(asked).answer.body["output"]
    assert item["content"][0]["text"] == '{"category": "goal", "content": "goal", "importance": 5, "xxxxx": 1111}'


def test_ids_are_numbered_anew_and_agree_over_the_whole_cassette():
    ids = Ids(first=7)
    call = {"type": "function_call", "id": "fc_8f3a", "call_id": "call_77aa99", "name": "count_english_words"}
    first = masked_exchange(
        exchange(answer=Answer(status=200, kind="json", body={"id": "resp_5", "output": [call]})), ids=ids
    )
    assert first.answer.body["id"] == "resp_7"
    output = {"type": "function_call_output", "call_id": "call_77aa99", "output": "{}"}
    message = "No tool output found for function call call_77aa99."
    second = masked_exchange(exchange(answer=refusal(message=message), input=[call, output]), ids=ids)
    assert [item["call_id"] for item in second.body["input"]] == [first.answer.body["output"][0]["call_id"]] * 2
    assert second.answer.body["error"]["message"] == "No tool output found for function call call_9."


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Incorrect API key provided: sk-abcd1234.", "Incorrect API key provided: xx-xxxx1111."),
        ("Incorrect API key: AIzaSyQ7***x9Zk", "Incorrect API key: XXxxXxX1***x1Xx"),
        ("Rate limit for org-a1b2c3 on tokens (TPM): 30000", "Rate limit for xxx-x1x1x1 on tokens (TPM): 30000"),
        ("see https://mei:pw@host.test/x?k=1 now", "see xxxxx://xxx:xx@xxxx.xxxx/x?x=1 now"),
        ("connect 10.0.0.7 or mei@home.test", "connect 11.1.1.1 or xxx@xxxx.xxxx"),
        ("no file /home/mei/models/a.gguf", "no file /xxxx/xxx/models/a.gguf"),
        ("in D:\\WangHsiaoMing\\a", "in X:\\XxxxXxxxxXxxx\\a"),
        ("You said “my dog is old”", "Xxx said “xx xxx xx xxx”"),
        ("內容含有敏感詞：王小明", "文文文文文文文：文文文"),
        ("no user 0912345678 in 2024", "no user 1111111111 in 2024"),
    ],
)
def test_what_a_server_says_stays_without_keys_addresses_and_what_it_repeats(said, told):
    answer = kept(exchange("My dog is old", refusal(message=said))).answer
    assert answer.body["error"]["message"] == told


@pytest.mark.parametrize(
    "said",
    [
        "Encrypted content is not supported with this model.",
        "Item 'rs_1' of type 'reasoning' was provided without its required following item",
        "This model's maximum context length is 8192 tokens.",
        "You exceeded your insufficient_quota",
        "The model 'x' does not exist",
    ],
)
def test_what_memora_reads_out_of_an_error_stays_whatever_the_user_has_written(said):
    told = kept(exchange(said, refusal(message=said))).answer.body["error"]["message"]
    assert told != said
    endpoint = Endpoint(model="m", host="h", timeout_seconds=1, secrets=("",))
    for status in (400, 404, 429):
        errors = [reported_error(Report(message=message, status=status), endpoint=endpoint) for message in (said, told)]
        assert type(errors[0]) is type(errors[1])
    for pattern in (_INCLUDE_REFUSED, _REASONING_REFUSED):
        assert bool(pattern.search(said)) == bool(pattern.search(told))


def test_only_harmless_headers_stay():
    headers = {
        "Content-Type": "text/event-stream; charset=utf-8",
        "Retry-After": "2",
        "x-ratelimit-remaining-tokens": "149984",
        "Set-Cookie": "session=1",
        "openai-organization": "mei-home",
        "x-request-id": "req_1",
    }
    answer = kept(exchange(answer=Answer(status=200, headers=headers, kind="text", body=""))).answer
    assert sorted(answer.headers) == ["content-type", "retry-after", "x-ratelimit-remaining-tokens"]
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"


def test_reasoning_vectors_and_probabilities_are_left_out():
    body = {
        "output": [{"type": "reasoning", "encrypted_content": "opaque"}],
        "data": [{"object": "embedding", "index": 0, "embedding": [0.1, 0.2]}, {"embedding": "AAAA"}],
        "logprobs": [{"bytes": [104, 105]}],
    }
    answer = kept(exchange(answer=Answer(status=200, kind="json", body=body))).answer
    assert answer.body == {
        "output": [{"type": "reasoning", "encrypted_content": "[encrypted]"}],
        "data": [{"object": "embedding", "index": 0, "embedding": []}, {"embedding": ""}],
        "logprobs": [],
    }


def test_models_keep_their_names_and_lose_the_folders_they_lie_in():
    models = [{"object": "model", "id": name, "owned_by": "library"} for name in ("qwen3:8b", "/home/mei/m/a-q8.gguf")]
    answer = kept(
        Exchange(method="GET", path="/v1/models", answer=Answer(status=200, kind="json", body={"data": models}))
    )
    assert [model["id"] for model in answer.answer.body["data"]] == ["qwen3:8b", "/xxxx/xxx/x/a-q8.gguf"]


def test_a_path_keeps_the_parts_that_the_api_knows():
    assert masked_path("/teams/mei-7/v1/responses/input_tokens") == "/xxxxx/xxx-1/v1/responses/input_tokens"


def test_a_page_is_masked_and_cut():
    page = "<p>Sign in, Mei" + "!" * 5_000
    answer = kept(exchange(answer=Answer(status=200, kind="text", body=page))).answer
    assert answer.body == masked(page)[:2_000]


def test_a_key_of_any_shape_is_removed_wherever_a_server_repeats_it():
    body = {"error": {"message": "no user for 'my-own key'", "code": "my-own", "type": "t"}, "model": "my-own"}
    answer = Answer(status=401, headers={"server": "for my-own"}, kind="json", body=body)
    told = masked_exchange(exchange(answer=answer), ids=Ids(), secret="my-own").answer
    assert told.body["error"] == {"message": "no user for 'xx-xxx key'", "code": "[key]", "type": "x"}
    assert (told.body["model"], told.headers["server"]) == ("xx-xxx", "for xx-xxx")


def test_an_error_is_cleaned_of_what_is_said_only_after_it():
    answer = streamed(
        {"type": "error", "message": "stopped at: Bello barks"},
        {"type": "response.output_text.done", "text": "Bello barks"},
    )
    error = json.loads(payload_of(kept(exchange(answer=answer)).answer.body[0]))
    assert error["message"] == "stopped at: Xxxxx xxxxx"
