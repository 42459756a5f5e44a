"""Failures in the reader's words: what happened and what to do next. Found by `Failure.code`."""

from __future__ import annotations

from collections import defaultdict

from memora.errors import Failure
from memora.i18n import Translator, mark
from memora.ui.labels import FIELD
from memora.ui.numbers import whole

SENTENCES: dict[str, str] = {
    # The person typing
    "blank_message": mark("There is nothing in this message yet. Type something and send it again."),
    "message_too_long": mark(
        "This message is too long: it has about {tokens} tokens and {limit} fit. Shorten it, "
        "or raise the token budget in the settings. Your text is still in the box."
    ),
    "invalid_input": mark("This value cannot be used for “{field}”. Allowed: {allowed}."),
    "field_too_long": mark("“{field}” is too long: at most {limit} characters."),
    "not_found": mark("This entry does not exist any more."),
    # The person who runs the app
    "invalid_setting": mark(
        "The setting {name} has a wrong value. Allowed: {allowed}. Correct it and start Memora again."
    ),
    "data_folder_unusable": mark(
        "Memora cannot write to its data folder {path}. Check its permissions and the free space, "
        "or choose another folder with MEMORA_DATA_DIR."
    ),
    "data_folder_in_use": mark(
        "Another Memora is already using the data folder {path}. "
        "Close it, or choose another folder with MEMORA_DATA_DIR."
    ),
    "database_unavailable": mark(
        "The database {path} cannot be used at the moment: it is locked, read-only, damaged, or the disk is full. "
        "Nothing was half written. Check the file and the free space, then try again."
    ),
    "port_in_use": mark(
        "Port {port} is already in use: perhaps Memora is running already, see http://127.0.0.1:{port}. "
        "To use another port: make run MEMORA_PORT={other}, or python -m memora --port {other}."
    ),
    "port_not_allowed": mark(
        "Memora is not allowed to open port {port}. "
        "To use another port: make run MEMORA_PORT=8501, or python -m memora --port 8501."
    ),
    "nothing_to_back_up": mark("There is nothing to back up yet: {path} does not exist."),
    # The model
    "model_error": mark("The model could not answer. Try again."),
    "unreachable": mark(
        "No connection to the model at {host}. Check the network and, if you use your own server, that it is "
        "running and that OPENAI_BASE_URL is right. Then try again."
    ),
    "timeout": mark(
        "The model at {host} took longer than {seconds} seconds. Try again, "
        "or allow more time with MEMORA_REQUEST_TIMEOUT."
    ),
    "rate_limited": mark("The model is receiving too many requests right now. Wait a moment, then try again."),
    "quota": mark(
        "The account behind OPENAI_API_KEY has no credit left. Add credit or use another key, then try again."
    ),
    "auth": mark("The key was not accepted. Check OPENAI_API_KEY (or the key on the settings page), then try again."),
    "forbidden": mark(
        "This key is not allowed to use the model. Check OPENAI_API_KEY and MEMORA_MODEL, then try again."
    ),
    "model_not_found": mark(
        "There is no model named “{model}” for this key. Choose another one with MEMORA_MODEL or on the settings page, "
        "then try again."
    ),
    "route_missing": mark(
        "The server at {host} has no /v1/responses, the route that Memora uses. Check that the address ends with /v1. "
        "If it does, use a server that has the route, such as Ollama 0.13.3, llama-server, vLLM or LM Studio, "
        "or put LiteLLM in front of this one."
    ),
    "request_rejected": mark(
        "The server did not accept the request (status {status}). The trace shows its reason. "
        "Check MEMORA_MODEL and OPENAI_BASE_URL."
    ),
    "server_error": mark("The model's server had a problem. Your message is kept: try again in a moment."),
    "stream_cut": mark(
        "The connection broke off in the middle of the answer. What arrived is kept. Try again for a whole one."
    ),
    "stream_cut_early": mark("The connection broke off before there was an answer. Your message is kept: try again."),
    "bad_response": mark(
        "What the server sent is not an answer. Check that OPENAI_BASE_URL leads to an OpenAI-compatible server, "
        "then try again."
    ),
    # How a turn can end
    "incomplete_length": mark("The answer reached its length limit and ends early. Ask the model to continue."),
    "incomplete_filter": mark("The provider's content filter ended the answer early. Try other words."),
    "refused": mark("The model declined to answer this. Try other words."),
    "empty_answer": mark("The model answered with nothing. Try again."),
    "call_instead_of_answer": mark(
        "The model asked for a function again instead of answering, so this is the function's own result. "
        "Try again: after a result, this server is not offered functions any more."
    ),
    "interrupted": mark("Memora was closed in the middle of this answer. Your message is kept: try again."),
    "stopped": mark("Stopped. What had arrived is kept."),
    "tool_error": mark("The function could not do what was asked."),
    "internal": mark("Something unexpected went wrong here. Your message is kept: try again."),
}

RETRY_HELPS: frozenset[str] = frozenset(SENTENCES) - {
    "blank_message",
    "invalid_input",
    "field_too_long",
    "not_found",
    "refused",
    "incomplete_length",
}
"""After these, Try again is offered: the cause may have gone, or been put right."""

DEGRADED: dict[str, str] = {
    "starting": mark("Memory search is still starting: this answer looked for words only."),
    "rebuilding": mark("The memory index was being rebuilt: some memories may have been missed."),
    "broken": mark(
        "The memory index could not be read: this answer looked for words only. It is rebuilt from the record."
    ),
    "unreachable": mark("The memory index could not be reached: this answer looked for words only."),
}


def sentence(failure: Failure, _: Translator) -> str:
    """The sentence for ``failure``; an unknown code is answered like ``internal``."""
    params = defaultdict(lambda: "?", {name: _told(name, value, _) for name, value in failure.params.items()})
    if failure.code in ("unreachable", "timeout", "route_missing") and not failure.params.get("host"):
        params["host"] = "api.openai.com"
    return _(SENTENCES.get(failure.code, SENTENCES["internal"])).format_map(params)


def _told(name: str, value: object, _: Translator) -> str:
    """A parameter as it stands in a sentence: fields and what is allowed have names of their own."""
    match value:
        case int():
            return whole(value, _)
        case float():
            return f"{value:g}"
        case str():
            return _(FIELD.get(value, value)) if name in ("field", "allowed") else value
        case _:
            return str(value)


def degraded_sentence(code: str, _: Translator) -> str:
    """Why a recall looked for words only."""
    return _(DEGRADED.get(code, DEGRADED["unreachable"]))
