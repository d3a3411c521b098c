# Every target sets up what it needs in .venv and nothing outside it. `make help` lists them.
# The package index is whatever pip is configured for: locks carry hashes and name no host.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
ARGS   ?=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help up test test-long check format e2e bench bench-engine controlplane lock clean

help: ## Say what each target does
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

up: $(VENV)/.runtime ## Start Bayplan on this machine
	@$(BIN)/bayplan up $(ARGS)

test: $(VENV)/.dev ## Run the unit tests; needs neither Go nor a cluster
	@$(BIN)/python -m pytest -m "not e2e" -q $(ARGS)

test-long: $(VENV)/.dev ## The same, and Hypothesis looks a hundred times as long: an hour or two
	@$(BIN)/python -m pytest -m "not e2e" -q --hypothesis-profile=long --timeout=0 $(ARGS)

check: $(VENV)/.dev ## The gate: format, lint, import layers, types, documentation
	@tools/check.sh

format: $(VENV)/.dev ## Put the code into its one format
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

e2e: $(VENV)/.dev ## Run the end-to-end tests against a real control plane
	@$(BIN)/python tools/controlplane/build.py --if-possible
	@$(BIN)/python -m pytest -m e2e -q $(ARGS)

bench: $(VENV)/.bench ## Measure; figures belong into docs/performance.md
	@$(BIN)/python tools/controlplane/build.py --if-possible
	@$(BIN)/python -m bench $(ARGS)

bench-engine: $(VENV)/.dev ## Measure the engine: figures and pictures in .bench, for docs/performance.md
	@$(BIN)/python -m bench.engine $(ARGS)
	@$(BIN)/python -m bench.report .bench/engine.json --pictures .bench

controlplane: $(VENV)/.created ## Build etcd and Kubernetes into a cache outside this directory
	@$(BIN)/python tools/controlplane/build.py $(ARGS)

lock: $(VENV)/.lock ## Resolve the dependencies anew into locks/
	@tools/relock.sh

clean: ## Remove what was built or cached here, the virtual environment too
	@rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .bench
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A venv that is older than the interpreter check or that was cut off half-way is made again.
$(VENV)/.created: tools/venv.sh
	@PYTHON="$(PYTHON)" tools/venv.sh $(VENV)
	@touch $@

$(VENV)/.runtime: $(VENV)/.created locks/build.txt locks/runtime.txt pyproject.toml
	@echo "bayplan: installing what it runs on (once) …" >&2
	@$(PIP) install --require-hashes -r locks/build.txt -r locks/runtime.txt
	@$(PIP) install --no-index --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime locks/dev.txt
	@echo "bayplan: installing what its tests run on (once) …" >&2
	@$(PIP) install --require-hashes -r locks/dev.txt
	@touch $@

$(VENV)/.bench: $(VENV)/.dev locks/bench.txt
	@echo "bayplan: installing what it is measured against (once) …" >&2
	@$(PIP) install --require-hashes -r locks/bench.txt
	@touch $@

$(VENV)/.lock: $(VENV)/.created locks/lock.txt
	@$(PIP) install --require-hashes -r locks/lock.txt
	@touch $@
