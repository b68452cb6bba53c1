# The tasks of development, one target each. `make` lists them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SOURCES := pinakes tests docs dbt-pinakes $(wildcard benchmarks examples)
# Files are shared out over the processors in the order of tests/conftest.py; the tests of one file stay together, as
# those of an .slt must. A process that crashes ends the run: pytest-xdist would wait for ever for the tests that it had
# been given.
PYTEST := $(BIN)/python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder --max-worker-restart 0
# Processes that tests start read modules that are compiled, also where the environment forbids to write them.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help venv shell demo check test test-fast test-long bench format docs site notebook clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

venv: $(STAMP)  ## create .venv with all dependencies (again only if they changed)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Pinakes needs Python 3.11 or newer: make PYTHON=/path/to/python3 …")'
	@echo 'creating $(VENV) with all dependencies; this takes some minutes, once'
	@if command -v uv >/dev/null 2>&1; then \
		test -x $(BIN)/python || uv venv --python $(PYTHON) $(VENV); \
		uv pip install --quiet --python $(BIN)/python -c constraints.txt -e '.[all,dev]'; \
	else \
		test -x $(BIN)/python || $(PYTHON) -m venv $(VENV); \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[all,dev]'; \
	fi
	@touch $@

shell: venv  ## open a SQL prompt on the embedded catalog (make shell ARGS='--data :memory:')
	@$(BIN)/pinakes $(ARGS)

demo: venv  ## run a guided demo with two catalogs and a server (make demo ARGS='--once --port 0')
	@$(BIN)/python examples/demo $(ARGS)

check: venv  ## check format, lint, types and layers
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/mypy
	cd dbt-pinakes && ../$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/lint-imports --no-cache --config importlinter-engine.toml

test-fast: venv  ## run the tests that need no server and take less than a second each
	$(PYTEST) -m 'not slow and not long'

test: venv  ## run all tests except the long ones
	$(PYTEST)

test-long: venv  ## run all tests
	PINAKES_LONG=1 $(PYTEST)

bench: venv  ## run the benchmarks, which compare with a peer in the same run (not soak.py and spark_limits.py, which take an hour)
	@set -e; for bench in $(filter-out benchmarks/soak.py benchmarks/spark_limits.py,$(wildcard benchmarks/[a-z]*.py)); do echo "== $$bench"; $(BIN)/python $$bench; done

format: venv  ## format the code and fix lint errors
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/ruff check --fix $(SOURCES)

docs: venv  ## generate the reference pages
	$(BIN)/python docs/generate.py

site: venv  ## build the documentation site in build/site; broken links are errors
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

notebook: venv  ## run the example notebook and store its output
	$(BIN)/python examples/execute.py

clean:  ## remove all generated files and .venv
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache dbt-pinakes/.mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
