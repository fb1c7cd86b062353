# Every target sets up what it needs on a machine that has only Python >= 3.11, git and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Tests wait as often as they compute: one worker more than there are processors.
WORKERS ?= $(shell expr $$(nproc 2>/dev/null || echo 2) + 1)
# Where this is set, every process would compile all modules anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: test lint types contracts unit soak test-agents run bench format requirements clean

test: lint types contracts unit

$(READY): requirements/dev.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Handrail needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $(READY)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/pyright

contracts: $(READY)
	$(BIN)/lint-imports

unit: $(READY)
	$(BIN)/pytest -n $(WORKERS) --dist worksteal

soak: $(READY)
	HANDRAIL_SOAK=1 $(BIN)/pytest -n $(WORKERS) --timeout=900 $$(grep -rlE 'HANDRAIL_SOAK|@given' tests --include='test_*.py')

test-agents: $(READY)
	npm install --prefix .agents --no-save --no-audit --no-fund @google/gemini-cli@0.61.0 opencode-ai@1.18.33
	HANDRAIL_TEST_NPM=$(CURDIR)/.agents/node_modules/.bin $(BIN)/pytest --timeout=300 tests/agents/npm

run: BEGAN := $(shell date +%s)
run: $(READY)
	$(BIN)/handrail demo
	@echo "first success after $$(( $$(date +%s) - $(BEGAN) )) s"

bench: $(READY)
	$(BIN)/python benchmarks/authoring.py
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/workspace.py
	$(BIN)/python benchmarks/cli.py
	$(BIN)/python benchmarks/agents.py
	$(BIN)/python benchmarks/pull.py

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

requirements: $(READY)
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-emit-index-url pyproject.toml -o requirements/run.txt
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-emit-index-url pyproject.toml --group dev -o requirements/dev.txt

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis .import_linter_cache dist
