# Two commands for a newcomer: `make demo` and `make test`. Both do all set-up on a machine with Python 3.11+ and make.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test slow bench clean

.venv/installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "keyhole needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@

demo: .venv/installed
	$(BIN)/keyhole demo
	$(BIN)/keyhole demo --paper

test: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n 2

slow: .venv/installed
	$(BIN)/pytest -n 2 -m slow

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
