"""What is different about each server that speaks the Responses API: one small table, and how it is recognised.

`docs/servers.md` says for each entry whether it was run, where it is reported, or that it is a cautious guess.
What a server turns out to refuse while it is used is learned by `OpenAIModel`. One difference needs no entry:
llama-server wants ``type`` on every message, and Memora always sends it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from memora.settings import ProviderName


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A server, and what to do differently for it.

    ``base_url`` is the usual address, empty where there is none. The rest says what the server does:

    - ``takes_include``: encrypted reasoning may come of ``include``; to others it is not sent.
    - ``enforces_schemas``: what it writes follows the schemas it is given (``strict``, ``text.format``). To
      others ``strict`` is false, and the schema of a structured answer is told in words too.
    - ``obeys_tool_choice``: ``tool_choice: none`` keeps the model from calling. To others request 2 offers
      no tools at all.
    - ``usage``: ``full``; ``partial`` without the reasoning tokens.
    """

    name: ProviderName
    title: str
    base_url: str = ""
    needs_key: bool = False
    takes_include: bool = True
    enforces_schemas: bool = True
    obeys_tool_choice: bool = True
    usage: Literal["full", "partial"] = "full"


OPENAI = Profile(name="openai", title="OpenAI", base_url="https://api.openai.com/v1", needs_key=True)
ANY = Profile(name="any", title="OpenAI-compatible")

PROFILES: dict[ProviderName, Profile] = {
    profile.name: profile
    for profile in (
        OPENAI,
        Profile(
            name="ollama",
            title="Ollama",
            base_url="http://localhost:11434/v1",
            takes_include=False,
            obeys_tool_choice=False,
        ),
        Profile(
            name="llama_cpp",
            title="llama.cpp",
            base_url="http://localhost:8080/v1",
            takes_include=False,
            enforces_schemas=False,
            usage="partial",
        ),
        Profile(name="vllm", title="vLLM", base_url="http://localhost:8000/v1", takes_include=False),
        Profile(
            name="lm_studio",
            title="LM Studio",
            base_url="http://localhost:1234/v1",
            takes_include=False,
            enforces_schemas=False,
        ),
        Profile(name="litellm", title="LiteLLM", base_url="http://localhost:4000/v1", needs_key=True),
        Profile(name="openrouter", title="OpenRouter", base_url="https://openrouter.ai/api/v1", needs_key=True),
        ANY,
    )
}

_HOSTS: dict[str, ProviderName] = {"api.openai.com": "openai", "openrouter.ai": "openrouter", "ollama.com": "ollama"}
_OWNERS: dict[str, ProviderName] = {
    "llamacpp": "llama_cpp",
    "library": "ollama",
    "vllm": "vllm",
    "organization_owner": "lm_studio",
}
"""What servers write into ``owned_by`` of their model list."""
_PORTS: dict[int, ProviderName] = {
    port: profile.name for profile in PROFILES.values() if (port := urlsplit(profile.base_url).port)
}


def is_known_host(base_url: str | None) -> bool:
    """Whether the host alone says which server it is. No address is OpenAI's own."""
    return base_url is None or urlsplit(base_url).hostname in _HOSTS


def detect(base_url: str | None, *, owners: Collection[str] = ()) -> Profile:
    """The profile for an address: by its host, by the ``owners`` of its models, else by its usual port.

    A port is only a guess: a model list that is not of that server refutes it.
    """
    if base_url is None:
        return OPENAI
    parts = urlsplit(base_url)
    if parts.hostname in _HOSTS:
        return PROFILES[_HOSTS[parts.hostname]]
    for owner in owners:
        if owner in _OWNERS:
            return PROFILES[_OWNERS[owner]]
    guess = _PORTS.get(parts.port or 0, "any")
    is_refuted = bool(owners) and guess in _OWNERS.values()
    return ANY if is_refuted else PROFILES[guess]
