# Everything a developer does, one target each. `make` alone tells them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SOURCES := pinakes tests docs dbt-pinakes $(wildcard benchmarks examples)
# Files are shared out over the processors; the tests of one file stay together, as those of an .slt must. A process that
# crashes ends the run: pytest-xdist would wait for ever for the tests that it had been given.
PYTEST := $(BIN)/python -m pytest -q -n auto --dist loadfile --max-worker-restart 0

.DEFAULT_GOAL := help
.PHONY: help venv shell demo check test test-fast test-long bench format docs site notebook clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

venv: $(STAMP)  ## make .venv with everything in it (again only when the dependencies changed)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Pinakes needs Python 3.11 or newer: make PYTHON=/path/to/python3 …")'
	@echo 'making $(VENV) with everything in it: once, and some minutes'
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

demo: venv  ## two catalogs, a server and a story in the terminal (make demo ARGS='--once --port 0')
	@$(BIN)/python examples/demo $(ARGS)

check: venv  ## format, lint, types and layers
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/mypy
	cd dbt-pinakes && ../$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/lint-imports --no-cache --config importlinter-engine.toml

test-fast: venv  ## the tests that need no server and take less than a second each
	$(PYTEST) -m 'not slow and not long'

test: venv  ## all tests but the long ones
	$(PYTEST)

test-long: venv  ## all tests, the long ones too
	PINAKES_LONG=1 $(PYTEST)

bench: venv  ## the benchmarks: each prints its figures against a peer in the same run (soak.py and spark_limits.py take an hour: by hand)
	@set -e; for bench in $(filter-out benchmarks/soak.py benchmarks/spark_limits.py,$(wildcard benchmarks/[a-z]*.py)); do echo "== $$bench"; $(BIN)/python $$bench; done

format: venv  ## put the code in form
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/ruff check --fix $(SOURCES)

docs: venv  ## write the generated reference pages anew
	$(BIN)/python docs/generate.py

site: venv  ## build the documentation as pages, strictly, in build/site
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

notebook: venv  ## run the example notebook anew and store what it shows
	$(BIN)/python examples/execute.py

clean:  ## remove what can be made again, .venv too
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache dbt-pinakes/.mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
