"""What the pages say about the app's own state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

IndexState = Literal["starting", "ready", "rebuilding", "unavailable"]


@dataclass(frozen=True, kw_only=True)
class AppStatus:
    """``endpoint`` is the host that answers, empty for OpenAI itself and for the demo model.

    ``provider`` is the kind of server, as it calls itself.

    ``index_detail`` is a code (why the index is unavailable); ``index_progress`` counts memories: (done, total).
    """

    is_demo: bool
    model: str
    endpoint: str = ""
    provider: str = ""
    index: IndexState = "ready"
    index_detail: str = ""
    index_progress: tuple[int, int] | None = None
