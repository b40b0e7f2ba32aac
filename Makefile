# Needs Python 3.11 or later with venv, pip, and make. Everything is installed into .venv; nothing else is touched.
PYTHON ?= python3
BIN := .venv/bin
CORE := .venv-core/bin
DEMO ?= demo
WORKERS ?= 2

.PHONY: help install models demo test check test-core test-models lock format clean

help:
	@echo "make demo      a sample archive indexed, two articles written and checked ($(DEMO)/)"
	@echo "make test      everything that CI checks"
	@echo "make check     the same without the run that has no extras"
	@echo "make test-models   the tests on the 0.5B and 1.5B models (1.6 GB, minutes)"
	@echo "make install   only the virtual environment"
	@echo "make models    the embedder, fetched and converted once (about 91 MB)"
	@echo "make lock      write requirements/*.lock anew after a change of pyproject.toml"

install: .venv/ready
models: .venv/model-ready

.venv/ready: requirements/dev.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "groundwire needs Python 3.11 or later; say which with: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@touch $@

.venv/model-ready: .venv/ready
	$(BIN)/groundwire models pull e5-small
	$(BIN)/groundwire models pull smollm2-135m
	@touch $@

demo: .venv/model-ready
	$(BIN)/groundwire demo $(DEMO)

test: check test-core

check: .venv/model-ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n $(WORKERS) --cov --cov-report=term:skip-covered --cov-fail-under=95

# The light core alone, with the oldest versions that pyproject.toml allows.
.venv-core/ready: requirements/core-lowest.lock pyproject.toml
	$(PYTHON) -m venv .venv-core
	$(CORE)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/core-lowest.lock
	$(CORE)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@touch $@

# Minutes on one core, and 1.6 GB of models at the first time.
.venv/large-models-ready: .venv/model-ready
	$(BIN)/groundwire models pull qwen2.5-coder-0.5b
	$(BIN)/groundwire models pull qwen2.5-coder-1.5b
	@touch $@

test-models: .venv/large-models-ready
	$(BIN)/pytest -q -m models

test-core: .venv-core/ready
	$(CORE)/pytest -q -n $(WORKERS) -m "not integration and not models"

format: .venv/ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

COMPILE := uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet
lock:
	$(COMPILE) --extra all --group dev --output-file requirements/dev.lock
	$(COMPILE) --group dev --resolution lowest-direct --output-file requirements/core-lowest.lock

clean:
	rm -rf .venv .venv-core $(DEMO) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage
