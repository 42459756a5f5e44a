"""The settings: the environment, ``.env`` and secrets, read once, checked, and never printed with a key."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit, urlunsplit

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from memora.errors import InvalidSetting
from memora.i18n import mark

APP_FOLDER = Path(__file__).resolve().parent.parent
DEFAULT_MODEL = "gpt-6-luna"
DEFAULT_PORT = 8501
DEMO_MODEL = "memora-demo"
MIN_INPUT_TOKENS, MAX_INPUT_TOKENS = 4_000, 1_000_000

ProviderName = Literal["openai", "ollama", "llama_cpp", "vllm", "lm_studio", "litellm", "openrouter", "any"]
"""A kind of server; what is different about each is in `memora.providers.profiles`."""

_ALLOWED = {
    "OPENAI_BASE_URL": mark("an http(s) address such as http://localhost:11434/v1"),
    "MEMORA_PROVIDER": mark("auto, openai, ollama, llama_cpp, vllm, lm_studio, litellm, openrouter, any"),
    "MEMORA_MODEL": mark("the name of a model, not empty"),
    "MEMORA_DATA_DIR": mark("the path of a folder"),
    "MEMORA_DATABASE_URL": mark("the address of a SQLite file: sqlite:////path/to/memora.db"),
    "MEMORA_CHROMA_URL": mark("an http(s) address such as http://localhost:8000"),
    "MEMORA_EMBEDDER": mark("local, openai"),
    "MEMORA_MAX_INPUT_TOKENS": mark("a whole number from 4000 to 1000000"),
    "MEMORA_COUNT_TOKENS": mark("off, on"),
    "MEMORA_LANGUAGE": mark("auto, zh_TW, en"),
    "MEMORA_REQUEST_TIMEOUT": mark("seconds, from 1 to 600"),
    "MEMORA_MAX_RETRIES": mark("a whole number from 0 to 10"),
    "MEMORA_IMAGE_HOSTS": mark("names of hosts with commas between them, such as upload.wikimedia.org"),
    "MEMORA_EMBEDDING_MODEL": mark("the name of an embedding model, not empty"),
    "MEMORA_PORT": mark("a whole number from 1 to 65535"),
    "MEMORA_TEST_SEAM": mark("0, 1 (for tests only)"),
}

_HOST = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*")


class Settings(BaseSettings):
    """What the person who runs the app decides. Field aliases are the names in the environment."""

    model_config = SettingsConfigDict(env_ignore_empty=True, extra="ignore", frozen=True, populate_by_name=True)

    openai_api_key: SecretStr | None = Field(None, alias="OPENAI_API_KEY")
    openai_base_url: str | None = Field(None, alias="OPENAI_BASE_URL")
    provider: Literal["auto"] | ProviderName = Field("auto", alias="MEMORA_PROVIDER")
    model: str = Field(DEFAULT_MODEL, alias="MEMORA_MODEL", min_length=1, max_length=200)
    data_dir: Path = Field(APP_FOLDER / ".memora", alias="MEMORA_DATA_DIR")
    database_url: str | None = Field(None, alias="MEMORA_DATABASE_URL")
    chroma_url: str | None = Field(None, alias="MEMORA_CHROMA_URL")
    embedder: Literal["local", "openai"] = Field("local", alias="MEMORA_EMBEDDER")
    embedding_model: str = Field("text-embedding-3-small", alias="MEMORA_EMBEDDING_MODEL", min_length=1)
    max_input_tokens: int = Field(16_000, alias="MEMORA_MAX_INPUT_TOKENS", ge=MIN_INPUT_TOKENS, le=MAX_INPUT_TOKENS)
    count_tokens: Literal["off", "on"] = Field("off", alias="MEMORA_COUNT_TOKENS")
    language: Literal["auto", "zh_TW", "en"] = Field("auto", alias="MEMORA_LANGUAGE")
    request_timeout: float = Field(60.0, alias="MEMORA_REQUEST_TIMEOUT", ge=1, le=600)
    max_retries: int = Field(2, alias="MEMORA_MAX_RETRIES", ge=0, le=10)
    image_hosts: Annotated[tuple[str, ...], NoDecode] = Field((), alias="MEMORA_IMAGE_HOSTS")
    port: int = Field(DEFAULT_PORT, alias="MEMORA_PORT", ge=1, le=65535)
    test_seam: bool = Field(False, alias="MEMORA_TEST_SEAM")

    @field_validator("openai_base_url", "chroma_url")
    @classmethod
    def _is_http_address(cls, value: str | None) -> str | None:
        return None if value is None else http_address(value)

    @field_validator("image_hosts", mode="before")
    @classmethod
    def _are_hosts(cls, value: str | tuple[str, ...]) -> tuple[str, ...]:
        names = tuple(re.findall(r"[^\s,]+", value.lower())) if isinstance(value, str) else value
        if not all(map(_HOST.fullmatch, names)):
            raise ValueError("not the names of hosts")
        return names

    @field_validator("database_url")
    @classmethod
    def _is_sqlite(cls, value: str | None) -> str | None:
        if value is not None and (not value.startswith("sqlite:///") or value.endswith(("/", ":memory:"))):
            raise ValueError("not the address of a SQLite file")
        return value

    @field_validator("data_dir")
    @classmethod
    def _expand_home(cls, value: Path) -> Path:
        return value.expanduser().absolute()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Environment first, then ``.env`` (or ``MEMORA_ENV_FILE``), then what was passed in (Streamlit's secrets)."""
        env_file = os.environ.get("MEMORA_ENV_FILE", APP_FOLDER / ".env")
        return env_settings, DotEnvSettingsSource(settings_cls, env_file=env_file), init_settings

    @property
    def sqlalchemy_url(self) -> str:
        """Where the record lives."""
        return self.database_url or f"sqlite:///{self.data_dir / 'memora.db'}"


def http_address(text: str) -> str:
    """The address in ``text``, without a slash at its end. Raises `ValueError` for what is no http(s) address.

    A query or a fragment is refused too: routes are appended. Full-width signs, as a Chinese keyboard types them,
    count as what they look like.
    """
    address = unicodedata.normalize("NFKC", text.strip())
    parts = urlsplit(address)
    if not address.isprintable() or " " in address:
        raise ValueError("holds characters that cannot be seen")
    if parts.scheme not in ("http", "https") or not _is_host(parts.hostname) or parts.port == 0:
        raise ValueError("not an http(s) address")
    if parts.query or parts.fragment:
        raise ValueError("a query or a fragment cannot be a part of it")
    return address.rstrip("/")


def _is_host(name: str | None) -> bool:
    """Whether a client can ask for ``name``: an IP address, or labels that a name server knows how to read."""
    if not name:
        return False
    try:
        if ":" in name or name.replace(".", "").isdigit():
            ip_address(name.partition("%")[0])
            return True
        name.encode("idna")
    except (ValueError, UnicodeError):
        return False
    return True


def without_credentials(address: str) -> str:
    """An address as it may be shown: no user, no password, no query."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def load_settings(secrets: Mapping[str, Any] | None = None) -> Settings:
    """Read the settings; ``secrets`` (Streamlit's) come last. Raises `InvalidSetting`, naming the setting."""
    known = {field.alias for field in Settings.model_fields.values() if field.alias}
    passed = {name: value for name, value in (secrets or {}).items() if name in known}
    try:
        return Settings(**passed)
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        raise InvalidSetting(f"{name} has a wrong value", name=name, allowed=_ALLOWED.get(name, "")) from None
