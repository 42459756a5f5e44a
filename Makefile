# Works with the make and sh of Debian, Ubuntu and macOS. Run `make help` for the targets.
.DEFAULT_GOAL := help

VENV := .venv
PYTHON_IN_VENV := $(VENV)/bin/python
LOCK := $(VENV)/bin/uv pip compile pyproject.toml --universal --python-version 3.11 --quiet \
	--no-header --no-emit-index-url --no-emit-find-links

.PHONY: help run test test-full test-real check bench locale screenshots lock clean

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' Makefile

run: ## Start Memora (installs what it needs the first time)
	@scripts/install requirements.txt
	@$(PYTHON_IN_VENV) -m memora

test: ## Run every test, in a real browser too (installs what it needs)
	@scripts/install requirements-dev.txt
	@VENV=.peers/llmock scripts/install tests/peers/requirements-llmock.txt
	@$(PYTHON_IN_VENV) tests/browser/browsers.py
	$(PYTHON_IN_VENV) -m pytest -m "not browser" --numprocesses auto --maxprocesses 4 --dist loadfile
	$(PYTHON_IN_VENV) -m pytest -m browser tests/browser

test-full: ## Run every test, and the long ones in full: all faults everywhere, 200 kills, minutes of load
	@$(MAKE) test MEMORA_TEST_SCALE=full

test-real: ## Test against a real llama-server and model (builds it the first time: about ten minutes)
	@scripts/install requirements-dev.txt
	@PYTHONPATH=tests:. $(PYTHON_IN_VENV) tests/real/llama_server.py
	$(PYTHON_IN_VENV) -m pytest tests/real

check: ## Format, lint, types, layers and fast tests: run it before every commit
	@scripts/install requirements-dev.txt
	$(PYTHON_IN_VENV) -m ruff format --check .
	$(PYTHON_IN_VENV) -m ruff check .
	$(PYTHON_IN_VENV) -m mypy
	$(PYTHON_IN_VENV) -m pytest tests/unit -q -m "not slow"

bench: ## Measure
	@scripts/install requirements-dev.txt
	@$(PYTHON_IN_VENV) tests/browser/browsers.py
	PYTHONPATH=tests $(PYTHON_IN_VENV) -m benchmarks

locale: ## Collect the sentences of the interface, update and compile the catalogues
	@scripts/install requirements-dev.txt
	$(PYTHON_IN_VENV) -m scripts.catalogues

screenshots: ## Take the pictures in docs/ from the real app
	@scripts/install requirements-dev.txt
	@VENV=.peers/llmock scripts/install tests/peers/requirements-llmock.txt
	@$(PYTHON_IN_VENV) tests/browser/browsers.py
	PYTHONPATH=tests $(PYTHON_IN_VENV) -m scripts.screenshots

lock: ## Pin the dependencies of pyproject.toml again (LOCK_FLAGS=--upgrade for newer ones)
	@scripts/install requirements-dev.txt
	@$(PYTHON_IN_VENV) -m pip install --quiet --disable-pip-version-check uv==0.13.9
	$(LOCK) --annotation-style=line $(LOCK_FLAGS) --output-file requirements.txt
	$(LOCK) --no-annotate $(LOCK_FLAGS) --extra dev --constraint requirements.txt --output-file requirements-dev.txt

clean: ## Remove the environments and the tools' caches; your data in .memora and the built llama-server stay
	rm -rf $(VENV) .peers/llama .peers/llmock .mypy_cache .pytest_cache .ruff_cache .hypothesis tests/artifacts
