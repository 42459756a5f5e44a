"""Starts lives cheaply: a process that has imported everything forks a child for each.

    python nursery.py

reads one JSON object a line (``point``, ``times``, ``number``, ``data_dir``, ``output``: a file, and ``file_limit``:
how many bytes a file may have), and writes a line for each: the child's process id when it begins, and its exit code
when it has ended.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import traceback
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]

HEAVY = ("chromadb", "openai", "httpx", "sqlalchemy", "alembic.command", "tiktoken", "memora.assembly")
"""What a life needs and what takes long to import; none of it starts a thread yet."""


def main() -> None:
    for name in HEAVY:
        import_module(name)
    live = import_module("crash.life").live
    tell("ready")
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            be_born(order, live)
        tell(child)
        _, status = os.waitpid(child, 0)
        tell(os.waitstatus_to_exitcode(status))


def be_born(order, live) -> None:
    """Live, and end the process whatever happens."""
    os.environ["MEMORA_DATA_DIR"] = order["data_dir"]
    code = 1
    try:
        if limit := order["file_limit"]:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        with Path(order["output"]).open("a", encoding="utf-8") as output:
            live(point=order["point"], times=order["times"], number=order["number"], output=output)
        code = 0
    except Exception:  # noqa: BLE001 - the child's boundary
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def tell(value) -> None:
    print(json.dumps(value), flush=True)


if __name__ == "__main__":
    main()
