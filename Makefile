# dflashtui: `make run` and `make test` set up what they need by themselves, in .venv.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test test-fast test-long faults lint format lock bench schema screenshots clean

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check --no-input

# The first Python from 3.11 on; another: make PYTHON=/usr/bin/python3.12
IS_NEW_ENOUGH := -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
FIND_PYTHON = for candidate in python3 python3.13 python3.12 python3.11 python3.14; do \
	"$$candidate" $(IS_NEW_ENOUGH) && { echo "$$candidate"; exit; }; done; true
PYTHON ?= $(shell $(FIND_PYTHON))

# The person's own inventory. ./hosts.toml of this repository is the sample, and is what the demo shows.
OWN_HOSTS = $(shell case "$${XDG_CONFIG_HOME:-}" in (/*) echo "$$XDG_CONFIG_HOME";; (*) echo "$$HOME/.config";; esac)/dflashtui/hosts.toml

# An environment whose Python is gone, or that was made in another folder, is made anew.
ifneq ($(wildcard $(READY)),)
ifneq ($(shell $(BIN)/python -c 'print("runs")' 2>/dev/null)-$(shell cat $(READY)),runs-$(CURDIR))
$(shell rm -f $(READY))
endif
endif

help: ## what can be asked for
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 22
	@echo '  ARGS="…" is passed on: make run ARGS="--check", make test ARGS="-k journal"'

run: $(READY) ## the console: on your own hosts.toml, else the demo
	@case " $(ARGS) " in \
	*" -c"*|*" --config"*|*" --demo "*) exec $(BIN)/dflashtui $(ARGS);; \
	esac; \
	if [ -e "$(OWN_HOSTS)" ]; then exec $(BIN)/dflashtui -c "$(OWN_HOSTS)" $(ARGS); fi; \
	exec $(BIN)/dflashtui --demo $(ARGS)

# What failed is run once more, alone: real hosts on a crowded machine may need a second look. Both are printed.
AGAIN = --last-failed --last-failed-no-failures none
# Tests on real hosts wait more than they work: two fleets, unless one is named that is up already.
SIDE_BY_SIDE = $(if $(DFLASHTUI_FLEET_INSTANCE),,--numprocesses 2 --dist loadfile)
NARROWED = [ "$$? $(if $(ARGS),narrowed)" = "5 narrowed" ]

test: $(READY) ## every test that this machine can run, the real hosts too where it can have them
	$(BIN)/python -m pytest -m "not fleet and not long" --numprocesses auto --maxprocesses 8 --dist worksteal $(ARGS) || $(NARROWED) \
		|| $(BIN)/python -m pytest -m "not fleet and not long" $(AGAIN) $(ARGS)
	$(BIN)/python -m pytest -m "fleet and not long" $(SIDE_BY_SIDE) $(ARGS) || $(NARROWED) \
		|| $(BIN)/python -m pytest -m "fleet and not long" $(AGAIN) $(ARGS)

test-fast: $(READY) ## the tests that need no real hosts
	$(BIN)/python -m pytest -m "not fleet and not long" --numprocesses auto --maxprocesses 8 --dist worksteal $(ARGS)

test-long: $(READY) ## the faults that take minutes: every byte of a push, a thousand cuts, floods, a soak (DFLASHTUI_SEED=…)
	$(BIN)/python -m pytest -m long $(ARGS)

faults: $(READY) ## write the table of faults anew
	$(BIN)/python -m tests.faults.table > docs/faults.md

lint: $(READY) ## ruff, mypy, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY) ## put the code into its form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: $(READY) ## resolve the dependencies anew into requirements.lock
	$(BIN)/python -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb")); \
		print(*p["project"]["dependencies"], *p["dependency-groups"]["dev"], sep="\n")' \
	| CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/pip-compile --quiet --generate-hashes --allow-unsafe --strip-extras \
		--no-annotate --no-emit-options --no-emit-index-url --output-file requirements.lock $(ARGS) -

bench: $(READY) ## measure, side by side with the usual tools (as root: on real test hosts)
	$(BIN)/python -m benchmarks $(ARGS)

schema: $(READY) ## write the JSON schema of the check anew
	$(BIN)/python -m dflashtui.check.schema > docs/check.schema.json

screenshots: $(READY) ## the pictures of the README, made by the program itself
	$(BIN)/python -m docs.screenshots $(ARGS)

clean: ## remove everything that was made here
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis snapshot_report.html
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml requirements.lock
	@rm -f $@
	@python="$(PYTHON)"; \
	install_debian() { \
		if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then return 1; fi; \
		echo "installing $$* (Debian)"; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$$@" >/dev/null; \
	}; \
	if [ -z "$$python" ]; then \
		install_debian python3 python3-venv || true; \
		python="$$($(FIND_PYTHON))"; \
	fi; \
	if ! "$$python" $(IS_NEW_ENOUGH); then \
		echo "make: needs Python 3.11 or later (found: $${python:-none}): install it, or name it: make PYTHON=/path/to/python3" >&2; exit 1; \
	fi; \
	if ! "$$python" -c 'import ensurepip, venv' 2>/dev/null; then \
		package="$$("$$python" -c 'import sys; print("python{}.{}-venv".format(*sys.version_info))')"; \
		install_debian "$$package" || { \
			echo "make: $$python cannot make virtual environments: install $$package (apt-get install $$package)" >&2; exit 1; }; \
	fi; \
	if ! { $(BIN)/python $(IS_NEW_ENOUGH) && $(BIN)/python -c 'import pip' 2>/dev/null; }; then \
		echo "setting up $(VENV) with $$("$$python" --version)"; \
		"$$python" -m venv --clear $(VENV); \
	fi
	@echo "installing the locked packages"
	@$(PIP) install --require-hashes --requirement requirements.lock
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@echo "$(CURDIR)" > $@
