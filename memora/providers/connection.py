"""Which model answers, and how its server is to be spoken to: the demo model, or what is connected right now."""

from __future__ import annotations

import threading
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from memora.errors import InvalidInput, ModelError, ModelUnreachable
from memora.model import LanguageModel
from memora.providers.cassette import CassetteRecorder
from memora.providers.openai.client import build_client
from memora.providers.openai.failures import endpoint_of
from memora.providers.openai.listing import ModelListing, list_models
from memora.providers.openai.model import OpenAIModel
from memora.providers.profiles import PROFILES, Profile, detect, is_known_host
from memora.settings import DEMO_MODEL, ProviderName, Settings, http_address

if TYPE_CHECKING:
    from openai import OpenAI


@dataclass(frozen=True)
class Endpoint:
    """Where requests go. No address stands for OpenAI's own; neither address nor key for the demo model.

    Without a ``provider``, it is told from the address and from the server's list of models.
    """

    base_url: str | None
    api_key: str | None
    provider: ProviderName | None = None

    @property
    def is_demo(self) -> bool:
        """Nothing to connect to."""
        return self.base_url is None and self.api_key is None

    @property
    def host(self) -> str:
        """The host's name (and port), empty for OpenAI itself and for the demo model."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2] if self.base_url else ""

    def __repr__(self) -> str:
        return f"Endpoint(host={self.host!r}, is_demo={self.is_demo})"


class Connection:
    """The endpoint in use, its client and its models. Safe across threads.

    A key from the environment belongs to the address from the environment: `connect` never sends it
    anywhere else.
    """

    def __init__(self, settings: Settings, *, recorder: CassetteRecorder | None = None) -> None:
        key = settings.openai_api_key
        self._settings = settings
        self._recorder = recorder
        self._configured = Endpoint(
            base_url=settings.openai_base_url,
            api_key=key.get_secret_value() if key else None,
            provider=None if settings.provider == "auto" else settings.provider,
        )
        self._endpoint = self._configured
        self._profile = _profile(self._endpoint)
        self._lock = threading.RLock()
        self._client: OpenAI | None = None
        self._models: dict[str, LanguageModel] = {}

    @property
    def endpoint(self) -> Endpoint:
        """Where requests go now."""
        return self._endpoint

    @property
    def profile(self) -> Profile:
        """How the server is spoken to, as far as it is known by now."""
        return self._profile

    def connect(self, *, base_url: str | None, api_key: str | None, provider: ProviderName | None = None) -> None:
        """Use another endpoint, for this process only; without address and key, the configured one again.

        Raises `InvalidInput` for an address that is none.
        """
        api_key = (api_key or "").strip() or None
        base_url = (base_url or "").strip() or None
        try:
            base_url = base_url and http_address(base_url)
        except ValueError:
            raise InvalidInput("not an http(s) address", field="base_url", allowed="http://…, https://…") from None
        chosen = Endpoint(base_url=base_url, api_key=api_key, provider=provider)
        with self._lock:
            self._endpoint = self._configured if chosen.is_demo else chosen
            self._profile = _profile(self._endpoint)
            self._client = None
            self._models = {}

    def list_models(self) -> ModelListing:
        """What the server says it has; this also tells which kind of server it is. Raises `ModelError`."""
        client = self.client()
        listing = list_models(client, endpoint=endpoint_of(client, model=""))
        with self._lock:
            if client is self._client:
                self._settle_profile(_profile(self._endpoint, owners=listing.owners))
        return listing

    def recognize(self) -> None:
        """Find out what kind of server it is, where only the server itself can tell. Never raises `ModelError`."""
        if self._endpoint.provider or self._endpoint.is_demo or is_known_host(self._endpoint.base_url):
            return
        with suppress(ModelError):
            self.list_models()

    def _settle_profile(self, profile: Profile) -> None:
        if profile != self._profile:
            self._profile = profile
            self._models = {}

    def model_name(self, preferred: str | None) -> str:
        """The name of the model that answers."""
        return DEMO_MODEL if self._endpoint.is_demo else preferred or self._settings.model

    def model(self, preferred: str | None) -> LanguageModel:
        """The model that answers: ``preferred``, or the configured one."""
        with self._lock:
            name, endpoint = self.model_name(preferred), self._endpoint
            if name not in self._models:
                self._models[name] = OpenAIModel(
                    client_factory=lambda: self._client_of(endpoint),
                    model=name,
                    host=endpoint.host,
                    profile=self._profile,
                )
            return self._models[name]

    def client(self) -> OpenAI:
        """The SDK's client for the endpoint; the demo model sits beneath it as a transport.

        Raises `ModelUnreachable` for an address that cannot be asked.
        """
        with self._lock:
            if self._client is None:
                self._client = self._build(self._endpoint)
            return self._client

    def _client_of(self, endpoint: Endpoint) -> OpenAI:
        """A turn that began with ``endpoint`` ends with it, also when another one was chosen meanwhile."""
        with self._lock:
            return self.client() if endpoint is self._endpoint else self._build(endpoint)

    def _build(self, endpoint: Endpoint) -> OpenAI:
        from httpx2 import InvalidURL

        transport = None
        if endpoint.is_demo:
            from memora.providers.demo import DemoTransport, TriggerFaults

            transport = DemoTransport(faults=TriggerFaults() if self._settings.test_seam else None)
        try:
            return build_client(
                api_key=endpoint.api_key,
                base_url=endpoint.base_url,
                timeout=self._settings.request_timeout,
                max_retries=self._settings.max_retries,
                transport=transport,
                recorder=self._recorder,
            )
        except InvalidURL as error:  # an address that passed our own check, and that no client can use
            raise ModelUnreachable(str(error), host=endpoint.host) from error


def _profile(endpoint: Endpoint, *, owners: Collection[str] = ()) -> Profile:
    return PROFILES[endpoint.provider] if endpoint.provider else detect(endpoint.base_url, owners=owners)
