PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
CACHE  := .cache
BRIDGE := 0.3.1
CORE   := 0.16.1

INSTALLED := $(VENV)/.installed
CHECKS    := $(VENV)/.checks-installed
UPSTREAM  := $(CACHE)/megatron-bridge-$(BRIDGE)/.unpacked

.PHONY: help demo test lint cache agreement snapshot clean

help:
	@echo "make demo   install the tool into $(VENV), lint examples/, show the fixes as a diff"
	@echo "make test   every check: ruff, mypy, pytest"
	@echo "make cache  fetch the upstream recipes that the tests read into $(CACHE)/"
	@echo "make agreement ORACLE=DIR  compare the recipes' configurations with what they really return"
	@echo "make snapshot  make the shipped data about megatron-bridge $(BRIDGE) anew from its source"
	@echo "make clean  remove $(VENV) and the tools' caches"

# The linter exits 1 when it finds something, which is what the demonstration is for; 2 is a real failure.
demo: $(INSTALLED)
	@echo '$$ mfsdp-lint examples/'
	@$(BIN)/mfsdp-lint examples/ || [ $$? -eq 1 ]
	@echo
	@echo '$$ mfsdp-lint --diff examples/'
	@$(BIN)/mfsdp-lint --diff examples/ || [ $$? -eq 1 ]

test: lint cache
	$(BIN)/pytest -n 2

lint: $(CHECKS)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

cache: $(UPSTREAM)

# How far the configurations worked out here are those that the real recipes return, which ORACLE holds.
agreement: $(CHECKS) $(UPSTREAM)
	$(BIN)/python benchmarks/agreement.py --oracle $(ORACLE) --version $(BRIDGE) --tree $(CACHE)/megatron-bridge-$(BRIDGE)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# Both installs are editable, so that only a change of the packaging asks for a new one.
$(INSTALLED): pyproject.toml hatch_build.py constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	@touch $@

$(CHECKS): pyproject.toml hatch_build.py constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[test,dev]'
	@touch $@ $(INSTALLED)

# The tests read the recipes of the released wheel. It is unpacked, never imported.
$(UPSTREAM): | $(BIN)/python
	$(BIN)/python -m pip download --quiet --no-deps --dest $(CACHE) megatron-bridge==$(BRIDGE)
	rm -rf $(@D)
	$(BIN)/python -m zipfile -e $(CACHE)/megatron_bridge-$(BRIDGE)-*.whl $(@D)
	@touch $@

# What is shipped of the release is made from its source; scripts/compare_snapshot.py proves that it says the same.
snapshot: $(CHECKS) $(UPSTREAM)
	$(BIN)/python -m pip download --quiet --no-deps --dest $(CACHE) megatron-core==$(CORE)
	rm -rf $(CACHE)/megatron-core-$(CORE)
	$(BIN)/python -m zipfile -e $(CACHE)/megatron_core-$(CORE)-*.whl $(CACHE)/megatron-core-$(CORE)
	$(BIN)/mfsdp-lint snapshot $(CACHE)/megatron-bridge-$(BRIDGE) --core $(CACHE)/megatron-core-$(CORE) \
		-o src/mfsdp_lint/upstream/data/bridge-$(BRIDGE).snapshot

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
