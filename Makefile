# Every target sets up what it needs on a machine that has only Python >= 3.11, git and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Tests wait more often than they compute: two workers more than there are processors.
WORKERS ?= $(shell expr $$(nproc 2>/dev/null || echo 2) + 2)
# Where this is set, every process would compile all modules anew.
export PYTHONDONTWRITEBYTECODE :=

# The long campaigns, each of at most half an hour on two processors.
SOAKS := soak-crashes soak-language soak-engine soak-runtime soak-surfaces
BUSY := runtime cli agents serve operations/pull workspace processes

.PHONY: test compiled test-system test-busy lint types contracts unit style soak $(SOAKS) run bench format requirements clean

# Needs Python, git and make alone. What only reads the source is checked two at a time.
test: $(READY)
	+$(MAKE) --no-print-directory -j2 types compiled lint style contracts
	+$(MAKE) --no-print-directory unit

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

# Tests are compiled once, and not by each worker of pytest at the same time.
compiled: $(READY)
	$(BIN)/pytest -n 0 --collect-only -qq -m "not system" > $(VENV)/collected || { cat $(VENV)/collected; exit 1; }

unit: $(READY)
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not system"

# How names and texts read, with limits; LIST=--all shows every place.
style: $(READY)
	PYTHONPATH=tests $(BIN)/python -m support.style.report $(LIST)

# What needs other programs, real agents, a disk that may be mounted, or much time.
test-system: $(READY)
	bash .ci/install-system-tools
	HANDRAIL_SYSTEM=1 HANDRAIL_TEST_NPM=$(CURDIR)/.agents/node_modules/.bin \
		$(BIN)/pytest -n $(WORKERS) --dist worksteal --timeout=600 -m system

# What waits for processes, while others want both processors.
test-busy: $(READY)
	HANDRAIL_TEST_NPM=$(CURDIR)/.agents/node_modules/.bin \
		$(BIN)/python tests/support/busy_machine.py $(BIN)/pytest -n $(WORKERS) --dist worksteal --timeout=900 \
		$(addprefix tests/,$(BUSY))

soak: $(SOAKS)

soak-crashes: IN := laws
soak-language: IN := authoring compiler corpus language model sources
soak-engine: IN := engine
soak-runtime: IN := agents operations processes runtime store workspace
soak-surfaces: IN := cli docs serve
$(SOAKS): $(READY)
	HANDRAIL_SOAK=1 $(BIN)/pytest -n $(WORKERS) --dist worksteal --timeout=1800 \
		$$(grep -rlE 'HANDRAIL_SOAK|@given' $(addprefix tests/,$(IN)) --include='test_*.py')

run: BEGAN := $(shell date +%s)
run: $(READY)
	$(BIN)/handrail demo
	@echo "first success after $$(( $$(date +%s) - $(BEGAN) )) s"

bench: $(READY)
	$(BIN)/python benchmarks/authoring.py
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/workspace.py
	$(BIN)/python benchmarks/steps.py
	$(BIN)/python benchmarks/cli.py
	$(BIN)/python benchmarks/lists.py
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
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis .import_linter_cache .agents dist
