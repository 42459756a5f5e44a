"""The vector index in Chroma: one collection per user and embedder, vectors and revisions only.

One collection per user is faster than a filter on a big one, and keeps users apart. The sentences stay in the
record; everything here can be thrown away and rebuilt.
"""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from memora.memory.ports import IndexEntry, Vector
from memora.providers.chroma_client import ChromaClient

if TYPE_CHECKING:
    from chromadb import Collection
    from chromadb.api import ClientAPI

T = TypeVar("T")
log = logging.getLogger(__name__)

BATCH = 500
"""Entries per call; Chroma takes at most about 5,000 (`get_max_batch_size`)."""


class ChromaIndex:
    """A `MemoryIndex` for the vectors of one embedder, in ``data_dir/chroma`` or at ``chroma_url``.

    Building it is free; Chroma is loaded (over a second) and opened at first use, or with `warm`. Calls of
    several threads go to Chroma side by side. Failures are described in `ChromaClient`.
    """

    def __init__(self, *, data_dir: Path, chroma_url: str | None, embedder: str) -> None:
        self._chroma = ChromaClient(folder=data_dir / "chroma", url=chroma_url)
        self._embedder = embedder
        self._checked: set[str] = set()

    def warm(self) -> None:
        """Load and open Chroma. Raises `IndexUnavailable`."""
        with self._chroma.use():
            pass

    def close(self) -> None:
        """Let go of Chroma; the next call opens it again."""
        self._chroma.close()
        self._checked.clear()

    def search(self, *, user_id: str, vector: Vector, limit: int) -> Sequence[tuple[str, float]]:
        """(memory id, cosine) of the nearest entries, nearest first."""
        with self._chroma.use() as client:
            collection = self._find(client, user_id)
            if collection is None or limit < 1:
                return ()
            found = collection.query(
                query_embeddings=np.asarray([vector], dtype=np.float32), n_results=limit, include=["distances"]
            )
        distances = (found["distances"] or [[]])[0]
        return tuple(
            (memory_id, 1.0 - distance)
            for memory_id, distance in zip(found["ids"][0], distances, strict=True)
            if math.isfinite(distance)
        )

    def upsert(self, *, user_id: str, entries: Sequence[IndexEntry]) -> None:
        """Add or replace entries; of several with one id the last one counts."""
        latest = list({entry.memory_id: entry for entry in entries}.values())
        if not latest:
            return
        with self._chroma.use() as client:
            collection = self._find(client, user_id) or self._create(client, user_id)
            for batch in _batches(latest):
                collection.upsert(
                    ids=[entry.memory_id for entry in batch],
                    embeddings=np.asarray([entry.vector for entry in batch], dtype=np.float32),
                    metadatas=[{"revision": entry.revision} for entry in batch],
                )

    def remove(self, *, user_id: str, memory_ids: Sequence[str]) -> None:
        """Remove entries; unknown ids are ignored."""
        with self._chroma.use() as client:
            collection = self._find(client, user_id)
            if collection is not None:
                for batch in _batches(sorted(set(memory_ids))):
                    collection.delete(ids=batch)

    def revisions(self, *, user_id: str) -> Mapping[str, int]:
        """Id → revision of everything that the index holds for this user."""
        with self._chroma.use() as client:
            collection = self._find(client, user_id)
            if collection is None:
                return {}
            held = collection.get(include=["metadatas"])
        return {
            memory_id: _revision(metadata)
            for memory_id, metadata in zip(held["ids"], held["metadatas"] or (), strict=True)
        }

    def forget_user(self, *, user_id: str) -> None:
        """Drop everything that Chroma holds of the user, also what other embedders left."""
        with self._chroma.use() as client:
            for collection in client.list_collections():
                if (collection.metadata or {}).get("user_id") == user_id:
                    client.delete_collection(collection.name)

    def _find(self, client: ClientAPI, user_id: str) -> Collection | None:
        """The user's collection if there is one, and it is whole."""
        from chromadb.errors import NotFoundError

        name = self._name(user_id)
        try:
            collection = client.get_collection(name, embedding_function=None)
        except NotFoundError:
            return None
        if name not in self._checked:
            if self._chroma.is_embedded and not _is_whole(collection):
                client.delete_collection(name)
                log.warning("a collection of the memory index was damaged and is begun anew")
                return None
            self._checked.add(name)
        return collection

    def _create(self, client: ClientAPI, user_id: str) -> Collection:
        return client.get_or_create_collection(
            self._name(user_id),
            metadata={"user_id": user_id, "embedder": self._embedder},
            configuration={"hnsw": {"space": "cosine"}},
            embedding_function=None,
        )

    def _name(self, user_id: str) -> str:
        """A name that Chroma allows, whatever the user's id looks like."""
        digest = hashlib.sha256(f"{user_id}\0{self._embedder}".encode("utf-8", "surrogatepass")).hexdigest()
        return f"memories-{digest[:40]}"


def _is_whole(collection: Collection) -> bool:
    """Whether the vectors can be read: with damaged files a *search* may find nothing and not say so.

    The oldest entry is asked for, because the files on the disk hold the oldest ones.
    """
    from chromadb.errors import InternalError

    try:
        collection.get(limit=1, include=["embeddings"])
    except InternalError:
        return False
    return True


def _revision(metadata: Mapping[str, object] | None) -> int:
    """The revision that was indexed; 0, which no memory has, where it is missing."""
    revision = (metadata or {}).get("revision")
    return revision if isinstance(revision, int) else 0


def _batches(entries: Sequence[T]) -> Iterator[list[T]]:
    return (list(entries[start : start + BATCH]) for start in range(0, len(entries), BATCH))
