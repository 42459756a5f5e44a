"""Starts lives cheaply: a process that has imported everything forks a child for each.

    python -m crash.nursery

reads one JSON object a line (see `Nursery.let_live`), and writes a line for each: the child's process id when it
begins, and its exit code when it has ended.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import traceback
from importlib import import_module
from pathlib import Path

from crash.fate import Fate
from crash.life import live
from crash.permissions import obey_permissions

from memora.context import TokenCounter
from memora.errors import MemoraError

LATER = ("chromadb", "openai", "httpx", "alembic.command", "tiktoken")
"""What Memora imports where it needs it, and what takes long; none of it starts a thread yet."""
REFUSED = 3
"""The exit code of a life that came to an end because something was refused."""


def main() -> None:
    for name in LATER:
        import_module(name)
    TokenCounter().warm()
    tell("ready")
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            be_born(order)
        tell(child)
        _, status = os.waitpid(child, 0)
        tell(os.waitstatus_to_exitcode(status))


def be_born(order) -> None:
    """Live, and end the process whatever happens."""
    code = 1
    try:
        live_as_ordered(**order)
        code = 0
    except MemoraError:
        code = REFUSED
    except Exception:  # noqa: BLE001 - the child's boundary
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def live_as_ordered(*, point, times, number, rounds, saying, data_dir, output, file_limit) -> None:
    os.environ["MEMORA_DATA_DIR"] = data_dir
    obey_permissions()
    if file_limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))
    with Path(output).open("a", encoding="utf-8") as told:
        live(fate=Fate(point, times=times), number=number, rounds=rounds, saying=saying, output=told)


def tell(value) -> None:
    print(json.dumps(value), flush=True)


if __name__ == "__main__":
    main()
