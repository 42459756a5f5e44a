"""The OpenAI client: timeouts, retries, a key or none, and a seam for the transport below it."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx2
    from openai import OpenAI

    from memora.providers.cassette import CassetteRecorder

OPENAI_ADDRESS = "https://api.openai.com/v1"
CONNECT_TIMEOUT_SECONDS = 10.0
NO_KEY = "no-key"


def build_client(
    *,
    api_key: str | None,
    base_url: str | None,
    timeout: float,
    max_retries: int,
    transport: httpx2.BaseTransport | None = None,
    recorder: CassetteRecorder | None = None,
) -> OpenAI:
    """A client that is safe to share between threads.

    ``timeout`` is in seconds and bounds every wait for bytes, not the whole answer. Without a key a
    placeholder is sent: servers that need none take any. Without an address it is OpenAI's own, whatever
    the environment says by now. ``transport`` replaces the network, and ``recorder``, while it is on, hears what is
    exchanged.
    """
    import httpx2
    from openai import DefaultHttpx2Client, OpenAI

    # The SDK uses httpx where that is loaded. Chroma loads it in another thread: it must not be found half loaded.
    import_module("httpx")

    from memora.providers.cassette.client import RecordedClient
    from memora.providers.openai.pump import stop_if_hung_up

    timeouts = httpx2.Timeout(timeout, connect=min(timeout, CONNECT_TIMEOUT_SECONDS))
    client = partial(RecordedClient, recorder=recorder) if recorder else DefaultHttpx2Client
    return OpenAI(
        api_key=api_key or NO_KEY,
        base_url=base_url or OPENAI_ADDRESS,
        timeout=timeouts,
        max_retries=max_retries,
        http_client=client(timeout=timeouts, transport=transport, event_hooks={"request": [stop_if_hung_up]}),
    )
