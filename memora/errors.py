"""What can go wrong, sorted by who has to act.

::

    MemoraError
    ├── UserError            the person typing acts
    │   ├── BlankMessage
    │   ├── MessageTooLong
    │   ├── InvalidInput
    │   │   └── FieldTooLong
    │   └── NotFound
    ├── OperatorError        the person who runs the app acts
    │   ├── InvalidSetting
    │   ├── DataFolderUnusable
    │   ├── DataFolderInUse
    │   ├── DatabaseUnavailable
    │   ├── PortInUse
    │   ├── PortNotAllowed
    │   └── NothingToBackUp
    ├── ModelError           a request to the model failed
    │   ├── ModelUnreachable      no network, DNS, refused
    │   ├── ModelTimedOut
    │   ├── RateLimited
    │   ├── QuotaExhausted
    │   ├── AuthenticationFailed
    │   ├── PermissionRefused
    │   ├── ModelNotFound
    │   ├── RouteMissing          the server has no Responses API
    │   ├── RequestRejected       another 4xx
    │   ├── ServerFailed          5xx
    │   ├── StreamCut             the answer broke off in the middle
    │   └── BadResponse           something came that is no valid response
    ├── Cancelled            someone pressed Stop
    └── ToolError            the model acts: its message is written for the model

Every error has a ``code`` (stable; the user interface finds its sentence by it) and ``params`` (what the
sentence needs: the setting, the limit, the path). Neither ever holds a secret.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar


@dataclass(frozen=True)
class Failure:
    """An error as a value: what events, traces and stored turns keep of it.

    ``detail`` is a technical line for the trace panel, in English, without secrets.
    """

    code: str
    params: dict[str, Any] = field(default_factory=dict)
    detail: str = ""


class MemoraError(Exception):
    """The root of every error that Memora raises on purpose."""

    code: ClassVar[str] = "internal"

    def __init__(self, detail: str = "", **params: Any) -> None:
        super().__init__(detail or self.code)
        self.detail = detail
        self.params = params

    def as_failure(self) -> Failure:
        """The error as a value that can be stored."""
        return Failure(code=self.code, params=dict(self.params), detail=self.detail)


class UserError(MemoraError):
    """The person typing can put it right."""


class BlankMessage(UserError):
    """Nothing but white space was sent."""

    code = "blank_message"


class MessageTooLong(UserError):
    """The message cannot fit into the context window. Params: ``tokens``, ``limit``."""

    code = "message_too_long"


class InvalidInput(UserError):
    """A field holds what it may not hold. Params: ``field``, ``allowed``."""

    code = "invalid_input"


class FieldTooLong(InvalidInput):
    """A field holds too many characters. Params: ``field``, ``limit``."""

    code = "field_too_long"


class NotFound(UserError):
    """No such record for this user. Params: ``kind``."""

    code = "not_found"


class OperatorError(MemoraError):
    """Whoever runs the app can put it right."""


class InvalidSetting(OperatorError):
    """A setting has a wrong value. Params: ``name``, ``allowed``."""

    code = "invalid_setting"


class DataFolderUnusable(OperatorError):
    """The data folder cannot be created or written. Params: ``path``."""

    code = "data_folder_unusable"


class DataFolderInUse(OperatorError):
    """Another Memora process works on the same data folder. Params: ``path``."""

    code = "data_folder_in_use"


class DatabaseUnavailable(OperatorError):
    """The database is locked, full, read-only or damaged. Params: ``path``."""

    code = "database_unavailable"


class PortInUse(OperatorError):
    """Something listens on the port already. Params: ``port`` and ``other`` (one to try instead), as text."""

    code = "port_in_use"


class PortNotAllowed(OperatorError):
    """The system does not let Memora listen on the port. Params: ``port``, as text."""

    code = "port_not_allowed"


class NothingToBackUp(OperatorError):
    """There is no database yet. Params: ``path``."""

    code = "nothing_to_back_up"


class ModelError(MemoraError):
    """A request to the model failed. ``can_retry`` says whether trying again may help."""

    code = "model_error"
    can_retry: ClassVar[bool] = True


class ModelUnreachable(ModelError):
    """No connection: no network, no such host, refused. Params: ``host``."""

    code = "unreachable"


class ModelTimedOut(ModelError):
    """The server took too long. Params: ``host``, ``seconds``."""

    code = "timeout"


class RateLimited(ModelError):
    """429: too many requests."""

    code = "rate_limited"


class QuotaExhausted(ModelError):
    """429 or 402: no credit is left."""

    code = "quota"
    can_retry = False


class AuthenticationFailed(ModelError):
    """401: the key is missing or wrong."""

    code = "auth"
    can_retry = False


class PermissionRefused(ModelError):
    """403: the key may not do this."""

    code = "forbidden"
    can_retry = False


class ModelNotFound(ModelError):
    """404 for the model's name. Params: ``model``."""

    code = "model_not_found"
    can_retry = False


class RouteMissing(ModelError):
    """404 for the route: the server does not speak the Responses API. Params: ``host``."""

    code = "route_missing"
    can_retry = False


class RequestRejected(ModelError):
    """Another 4xx. Params: ``status``."""

    code = "request_rejected"
    can_retry = False


class ServerFailed(ModelError):
    """5xx, or a response that the server itself calls failed. Params: ``status``."""

    code = "server_error"


class StreamCut(ModelError):
    """The stream ended before a terminal event."""

    code = "stream_cut"


class BadResponse(ModelError):
    """What came is not a response: HTML, broken JSON, nulls where lists belong."""

    code = "bad_response"


class Cancelled(MemoraError):
    """Stop was pressed while the work went on."""

    code = "stopped"


class ToolError(MemoraError):
    """A tool call failed; ``str(error)`` is a message that the model can act on."""

    code = "tool_error"
