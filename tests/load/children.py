"""What the processes that these tests start have in their environment."""

from __future__ import annotations

import os
from pathlib import Path

from servers.launch import ResponsesServer

from memora.settings import APP_FOLDER


def environment_of(server: ResponsesServer, folder: Path, **more: str) -> dict[str, str]:
    """Memora on the data folder ``folder`` with the model of ``server``, run with ``python -m load.…``."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(APP_FOLDER / "tests"), str(APP_FOLDER)]),
        "MEMORA_DATA_DIR": str(folder),
        "OPENAI_BASE_URL": server.base_url,
        "OPENAI_API_KEY": "test",
        **more,
    }
