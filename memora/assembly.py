"""The only place where all parts of Memora meet."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime

from filelock import FileLock, Timeout

from memora.context import TokenCounter
from memora.errors import DataFolderInUse, DataFolderUnusable
from memora.memory import LongTermMemory
from memora.memory.ports import Embedder
from memora.model import CancelToken
from memora.providers.cassette import CassetteRecorder
from memora.providers.chroma_index import ChromaIndex
from memora.providers.connection import Connection
from memora.providers.database import Database, open_database
from memora.providers.embedders import LocalEmbedder, OpenAIEmbedder
from memora.settings import ProviderName, Settings
from memora.status import AppStatus
from memora.turn.connection_check import Step, check_connection
from memora.turn.runner import RunnerParts, TurnRunner
from memora.upkeep import IndexUpkeep

LOCAL_USER = "local"
"""The user of an installation without sign-in."""


def _now() -> datetime:
    return datetime.now(UTC)


class App:
    """Memora as its pages use it. Build one per process with `build_app`; `close` ends it cleanly."""

    def __init__(
        self,
        *,
        settings: Settings,
        database: Database,
        memory: LongTermMemory,
        connection: Connection,
        runner: TurnRunner,
        upkeep: IndexUpkeep,
        cassettes: CassetteRecorder,
    ) -> None:
        self.settings = settings
        self.turns = database.turns
        self.profiles = database.profiles
        self.preferences = database.preferences
        self.memory = memory
        self.runner = runner
        self.cassettes = cassettes
        self._connection = connection
        self._upkeep = upkeep
        self._closing = ExitStack()

    def status(self, *, user_id: str) -> AppStatus:
        """What the pages say about the app itself."""
        preferences = self.preferences.preferences(user_id=user_id)
        endpoint = self._connection.endpoint
        return AppStatus(
            is_demo=endpoint.is_demo,
            model=self._connection.model_name(preferences.model),
            endpoint=endpoint.host,
            provider=self._connection.profile.title,
            index=self._upkeep.state,
            index_detail=self._upkeep.detail,
            index_progress=self._upkeep.progress,
        )

    def connect(self, *, base_url: str | None, api_key: str | None, provider: ProviderName | None = None) -> None:
        """Use another endpoint until the process ends; neither: the configured one. Raises `InvalidInput`.

        Without a ``provider`` the kind of server is found out.
        """
        self._connection.connect(base_url=base_url, api_key=api_key, provider=provider)

    def list_models(self) -> Sequence[str]:
        """The names of the connected server's models. Raises `ModelError`."""
        return self._connection.list_models().names

    def check_connection(self, *, user_id: str, cancel: CancelToken) -> Iterator[Step]:
        """Try the connection with the user's model, step by step. Raises `Cancelled`."""
        preferred = self.preferences.preferences(user_id=user_id).model
        return check_connection(
            model_for=lambda: self._connection.model(preferred), list_models=self.list_models, cancel=cancel
        )

    def keep_open(self, closing: ExitStack) -> None:
        """From now on `close` closes what ``closing`` holds."""
        self._closing = closing

    def close(self) -> None:
        """Keep what running answers have, stop the background work, release the data folder."""
        atexit.unregister(self.close)
        self._closing.close()


def build_app(settings: Settings) -> App:
    """Put Memora together and start its background work.

    Cheap: opens the database; what is slow to load (index, embedder, token ranks) loads in the background.
    Raises `DataFolderUnusable`, `DataFolderInUse` or `DatabaseUnavailable`.
    """
    with ExitStack() as closing:  # a start that fails half-way closes what it has opened
        app = _assemble(settings, closing)
        app.keep_open(closing.pop_all())
    atexit.register(app.close)
    return app


def _assemble(settings: Settings, closing: ExitStack) -> App:
    """Open and connect everything; ``closing`` learns how to close each part, the last one first."""
    closing.callback(_claim_data_folder(settings).release)
    database = open_database(settings.sqlalchemy_url)
    closing.callback(database.close)
    cassettes = CassetteRecorder(settings.data_dir / "cassettes", now=_now)
    closing.callback(cassettes.close)
    connection = Connection(settings, recorder=cassettes)
    embedder, warm_embedder = _embedder(settings, connection)
    index = ChromaIndex(data_dir=settings.data_dir, chroma_url=settings.chroma_url, embedder=embedder.identity)
    closing.callback(index.close)
    memory = LongTermMemory(store=database.memories, index=index, embedder=embedder, clock=_now)
    counter = TokenCounter()
    upkeep = IndexUpkeep(
        memory=memory,
        warm_ups=(counter.warm, warm_embedder, index.warm, connection.client, connection.recognize),
        users=(LOCAL_USER,),
    )
    closing.callback(upkeep.close, timeout=5.0)
    runner = TurnRunner(
        RunnerParts(
            turns=database.turns,
            conversations=database.conversations,
            memory=memory,
            profiles=database.profiles,
            preferences=database.preferences,
            counter=counter,
            calibrations=database.calibrations,
            counting=settings.count_tokens,
            model_for=connection.model,
            look_after=upkeep.look_after,
            max_input_tokens=settings.max_input_tokens,
            now=_now,
        )
    )
    closing.callback(runner.close)
    runner.recover()
    upkeep.start()
    return App(
        settings=settings,
        database=database,
        memory=memory,
        connection=connection,
        runner=runner,
        upkeep=upkeep,
        cassettes=cassettes,
    )


def _embedder(settings: Settings, connection: Connection) -> tuple[Embedder, Callable[[], object]]:
    if settings.embedder == "openai":
        return OpenAIEmbedder(client_factory=connection.client, model=settings.embedding_model), lambda: None
    local = LocalEmbedder()
    return local, local.warm


def _claim_data_folder(settings: Settings) -> FileLock:
    """Create the data folder and hold it: the embedded index cannot be shared between processes."""
    folder = settings.data_dir
    lock = FileLock(folder / "memora.lock")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        raise DataFolderInUse(f"{folder} is in use", path=str(folder)) from None
    except OSError as error:
        raise DataFolderUnusable(f"{folder}: {error.strerror or error}", path=str(folder)) from None
    return lock
