"""Which tools there are, and the only way from a name to code.

To add a tool, write its function in a new file of this package and name it in ``_FUNCTIONS``: one line,
so that nothing becomes callable because a file lies somewhere.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

from memora.errors import ToolError
from memora.model import Item
from memora.tools.arguments import read_arguments
from memora.tools.count_english_words import count_english_words
from memora.tools.schema import define_tool

Handler = Callable[..., Any]

TIME_LIMIT_SECONDS = 5.0
MAX_OUTPUT_CHARS = 4000
MAX_ERROR_CHARS = 500
"""What is told of an error; in JSON, where a character takes up to six, it stays below `MAX_OUTPUT_CHARS`."""

_FUNCTIONS: tuple[Handler, ...] = (count_english_words,)

TOOL_HANDLERS: dict[str, Handler] = {function.__name__: function for function in _FUNCTIONS}
"""The allowed names and their functions."""

TOOLS: list[Item] = [define_tool(function) for function in _FUNCTIONS]
"""The definitions, as the Responses API takes them."""


def execute_tool_call(
    tool_call: Any,
    *,
    handlers: Mapping[str, Handler] = TOOL_HANDLERS,
    definitions: list[Item] = TOOLS,
    time_limit: float = TIME_LIMIT_SECONDS,
) -> str:
    """Run a ``function_call`` item (a dictionary or an object of the SDK) and return its output.

    The output is a JSON string, not escaped: ``{"ok": true, "result": …}`` or ``{"ok": false, "error": "…"}``.
    Never raises: whatever goes wrong is told to the model. ``time_limit`` is in seconds; a handler that
    runs past it is left behind in its thread.
    """
    try:
        name, encoded = _read_call(tool_call)
        handler = handlers.get(name)
        definition = next((tool for tool in definitions if tool["name"] == name), None)
        if handler is None or definition is None:
            raise ToolError("unknown tool")
        arguments = read_arguments(encoded, parameters=definition["parameters"])
        result = _run(handler, arguments, name=name, time_limit=time_limit)
        return _encode_result(result, name=name)
    except ToolError as error:
        return failed_output(str(error))


def failed_output(message: str) -> str:
    """The output that tells the model what went wrong, cut where ``message`` is long."""
    sendable = message.encode("utf-8", "replace").decode()
    told = sendable if len(sendable) <= MAX_ERROR_CHARS else sendable[: MAX_ERROR_CHARS - 1] + "…"
    return json.dumps({"ok": False, "error": told}, ensure_ascii=False)


def _read_call(tool_call: Any) -> tuple[str, object]:
    if isinstance(tool_call, Mapping):
        name, encoded = tool_call.get("name"), tool_call.get("arguments")
    else:
        name, encoded = getattr(tool_call, "name", None), getattr(tool_call, "arguments", None)
    if not isinstance(name, str):
        raise ToolError("unknown tool")
    return name, encoded


def _run(handler: Handler, arguments: dict[str, Any], *, name: str, time_limit: float) -> Any:
    """What ``handler`` returns; runs in a thread of its own because only a thread can be left behind."""
    results: list[Any] = []
    failures: list[BaseException] = []

    def work() -> None:
        try:
            results.append(handler(**arguments))
        except BaseException as error:  # noqa: BLE001 - the tool boundary: even SystemExit must not end the turn
            failures.append(error)

    worker = threading.Thread(target=work, name=f"tool-{name}", daemon=True)
    worker.start()
    worker.join(time_limit)
    if results:
        return results[0]
    if not failures:
        raise ToolError(f"{name} took longer than {time_limit:g} seconds")
    raise ToolError(_complaint(failures[0], name=name))


def _complaint(error: BaseException, *, name: str) -> str:
    if not isinstance(error, ValueError | ToolError):
        return f"{name} failed with {type(error).__name__}"
    try:
        return str(error) or f"{name} refused the arguments"
    except Exception:  # noqa: BLE001 - the tool boundary: an error may hold what has no text, such as a huge number
        return f"{name} refused the arguments"


def _encode_result(result: Any, *, name: str) -> str:
    try:
        output = json.dumps({"ok": True, "result": result}, ensure_ascii=False, allow_nan=False)
        output.encode()
    except (TypeError, ValueError, RecursionError):
        raise ToolError(f"{name} returned something that is not JSON") from None
    if len(output) > MAX_OUTPUT_CHARS:
        raise ToolError(f"{name} returned too much: {len(output)} characters, at most {MAX_OUTPUT_CHARS} are allowed")
    return output
