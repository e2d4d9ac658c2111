PYTHON ?= python3
# Without bytecode on disk, each process that a test starts would compile the whole tool again.
unexport PYTHONDONTWRITEBYTECODE
VENV   := .venv
DRYRUN := .venv-dryrun
RELEASE := .venv-release
BIN    := $(VENV)/bin
CACHE  := .cache
BRIDGE := 0.3.1
BENCH  := .venv-bench
TREE   := $(CACHE)/megatron-bridge-$(BRIDGE)
RECIPES := $(TREE)/megatron/bridge/recipes

INSTALLED := $(VENV)/.installed
CHECKS    := $(VENV)/.checks-installed
MEGATRON  := $(DRYRUN)/.installed
PEERS     := $(BENCH)/.installed
TOOLS     := $(RELEASE)/.installed
UPSTREAM  := $(CACHE)/megatron-bridge-$(BRIDGE)/.unpacked
PLAYGROUND := $(CACHE)/playground/.fetched

.PHONY: help demo check test test-dry-run lint docs site playground cache verify verified agreement bench upstream snapshot lock release clean

help:
	@echo "make demo   install the tool into $(VENV), lint examples/, show the fixes as a diff"
	@echo "make check  ruff, mypy, and the tests that need neither torch, Megatron, a browser nor long: for a change of a rule"
	@echo "make test   every check: these, and the dry run's tests with the real Megatron"
	@echo "make cache  fetch the upstream recipes that the tests read into $(CACHE)/"
	@echo "make bench [TREE=DIR RECIPES='DIR …' MORE='--tree DIR …']  measure every figure of speed beside its goal (benchmarks/RESULTS.md)"
	@echo "make docs   make what is generated in docs/ and schemas/ anew: rules' pages, schemas, coverage, options"
	@echo "make site   the documentation as a site, with its playground, in build/site"
	@echo "make playground  fetch what the playground runs on (npm, wheels) into $(CACHE)/playground"
	@echo "make agreement ORACLE=DIR  compare the recipes' configurations with what they really return"
	@echo "make upstream VERSION=V SINCE=V BRIDGE_CLONE=DIR CORE_CLONE=DIR  make what is known of a release, show what it changes"
	@echo "make test-dry-run  of these the ones with the real Megatron alone, in $(DRYRUN)"
	@echo "make verify try the rules' examples with the real Megatron, in $(DRYRUN)"
	@echo "make verified  the same, into the table of rules and versions (docs/verified.md)"
	@echo "make lock   what the checks run with, with hashes (checks.lock), from pyproject.toml and constraints.txt"
	@echo "make release  wheel, source archive and bill of materials of the tag that is checked out, in dist/, tried out"
	@echo "make clean  remove $(VENV), $(DRYRUN) and the tools' caches"

# The linter exits 1 when it finds something, which is what the demonstration is for; 2 is a real failure.
demo: $(INSTALLED)
	@echo '$$ mfsdp-lint examples/'
	@$(BIN)/mfsdp-lint examples/ || [ $$? -eq 1 ]
	@echo
	@echo '$$ mfsdp-lint --diff examples/'
	@$(BIN)/mfsdp-lint --diff examples/ || [ $$? -eq 1 ]

check: lint cache
	$(BIN)/pytest -n 3 --dist loadgroup --durations 10 --durations-min 5 --ignore tests/dryrun/real -m "not long"

# Those of the dry run, of the browser and of the hooks mostly wait for processes of their own, and stay one after the other
# (their groups): a third process has work for the two cores meanwhile.
test: lint cache $(MEGATRON) $(if $(shell command -v npm),playground)
	$(BIN)/pytest -n 3 --dist loadgroup --durations 30 --durations-min 5

# Those with the real Megatron alone, which has an environment of its own.
test-dry-run: $(CHECKS) $(MEGATRON)
	$(BIN)/pytest tests/dryrun/real

lint: $(CHECKS)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

# What is generated: the rules' pages, the schema that editors check them with, what they cover of upstream; options and layout.
docs: $(CHECKS)
	$(BIN)/python -m tools.rule_schema
	$(BIN)/python -m tools.configuration_schema
	$(BIN)/python -m tools.findings_schema
	$(BIN)/python -m tools.rule_pages
	$(BIN)/python -m tools.skill.generate
	$(BIN)/python -m tools.options_page
	$(BIN)/python -m tools.fixes_gallery
	$(BIN)/python -m tools.architecture_page
	$(BIN)/python -m tools.screens
	$(BIN)/python -m tools.coverage.generate
	$(BIN)/python -m tools.verified

# docs/ as pages for a browser, in build/site. A link that leads nowhere ends it. The playground has all that it runs on there.
site: $(CHECKS) playground
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	$(BIN)/python playground/assemble.py $(dir $(PLAYGROUND)) build/site/playground/runtime

playground: $(PLAYGROUND)

cache: $(UPSTREAM)

# Every figure of speed beside its goal. TREE is an upstream source tree, RECIPES are its folders of recipes; MORE are
# further ones (`--tree DIR [RECIPES …]`).
bench: $(INSTALLED) $(PEERS) $(UPSTREAM)
	$(BIN)/python benchmarks/bench.py --tree $(TREE) $(RECIPES) $(MORE) --write

# How far the configurations worked out here are those that the real recipes return, which ORACLE holds.
agreement: $(CHECKS) $(UPSTREAM)
	$(BIN)/python benchmarks/agreement.py --oracle $(ORACLE) --version $(BRIDGE) --tree $(CACHE)/megatron-bridge-$(BRIDGE)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# Both installs are editable, so that only a change of the packaging asks for a new one.
$(INSTALLED): pyproject.toml hatch_build.py constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	@touch $@

$(CHECKS): pyproject.toml hatch_build.py checks.lock | $(BIN)/python
	$(BIN)/python -m pip install --quiet --require-hashes --requirement checks.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@ $(INSTALLED)

$(PEERS): benchmarks/peers.txt
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --requirement $<
	@touch $@

# The tests read the recipes of the released wheel. It is unpacked, never imported.
$(UPSTREAM): | $(BIN)/python
	$(BIN)/python -m pip download --quiet --no-deps --dest $(CACHE) megatron-bridge==$(BRIDGE)
	rm -rf $(@D)
	$(BIN)/python -m zipfile -e $(CACHE)/megatron_bridge-$(BRIDGE)-*.whl $(@D)
	@touch $@

# What the playground runs on. Nothing of it is installed: no script of a package is run.
WHEELS := $(BIN)/python -m pip download --quiet --no-deps --only-binary :all: --require-hashes --implementation cp --dest $(dir $(PLAYGROUND))wheels

$(PLAYGROUND): playground/package-lock.json playground/wheels.txt playground/pure.txt | $(BIN)/python
	rm -rf $(@D) && mkdir -p $(@D)
	cp playground/package.json playground/package-lock.json $(@D)
	cd $(@D) && npm ci --ignore-scripts --no-audit --no-fund --silent
	$(WHEELS) --python-version 3.14 --abi cp314 --platform pyemscripten_2026_0_wasm32 --requirement playground/wheels.txt
	$(WHEELS) --python-version 3.13 --abi cp313 --platform manylinux_2_28_x86_64 --requirement playground/pure.txt
	@touch $@

# The dry run's tests need torch and Megatron, in an environment of their own: nothing else may depend on them.
$(MEGATRON): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(DRYRUN)
	$(DRYRUN)/bin/python -m pip install --quiet --constraint constraints.txt '.[dry-run,bridge]'
	$(DRYRUN)/bin/python -m pip install --quiet --no-deps megatron-bridge==$(BRIDGE)
	@touch $@

# docs/verified.md: which rules the real Megatron agrees with.
verified: $(CHECKS) $(MEGATRON)
	$(BIN)/mfsdp-lint rules --verify --output-format json --python $(DRYRUN)/bin/python > $(CACHE)/verified.json \
		|| [ $$? -eq 1 ]
	$(BIN)/python -m tools.verified $(BRIDGE)=$(CACHE)/verified.json

# The table of docs/dry-run.md.
verify: $(INSTALLED) $(MEGATRON)
	$(BIN)/mfsdp-lint rules --verify --python $(DRYRUN)/bin/python

# What is known of a release, made from clones of Megatron-Bridge and Megatron-LM, and what it changes (CONTRIBUTING.md):
# make upstream VERSION=0.6.0 SINCE=0.5.1 BRIDGE_CLONE=... CORE_CLONE=...
upstream: snapshot
	$(BIN)/python scripts/unpack_release.py $(SINCE) $(BRIDGE_CLONE) $(CORE_CLONE) $(CACHE)/release-$(SINCE)
	$(BIN)/python -m tools.vocabulary.generate --bridge $(BRIDGE_CLONE) --megatron-lm $(CORE_CLONE)
	$(BIN)/python -m tools.coverage.generate --bridge $(BRIDGE_CLONE) --megatron-lm $(CORE_CLONE)
	$(BIN)/python -m tools.startup_order --bridge $(BRIDGE_CLONE) --megatron-lm $(CORE_CLONE)
	$(BIN)/python scripts/index_modules.py $(BRIDGE_CLONE) $(CORE_CLONE)
	$(BIN)/python -m tools.upstream_paths $(BRIDGE_CLONE)
	$(BIN)/python -m tools.upstream_successors $(BRIDGE_CLONE) $(CORE_CLONE)
	$(BIN)/python scripts/make_startup_tables.py $(VERSION)=$(CACHE)/release-$(VERSION)/bridge:$(CACHE)/release-$(VERSION)/core
	$(BIN)/python -m scripts.drift $(SINCE) $(VERSION) --old $(CACHE)/release-$(SINCE)/bridge $(CACHE)/release-$(SINCE)/core \
		--new $(CACHE)/release-$(VERSION)/bridge $(CACHE)/release-$(VERSION)/core

# The snapshot alone, and the proof that it says what the source says.
snapshot: $(CHECKS)
	$(BIN)/python scripts/unpack_release.py $(VERSION) $(BRIDGE_CLONE) $(CORE_CLONE) $(CACHE)/release-$(VERSION)
	$(BIN)/python -m tools.snapshot.generate $(CACHE)/release-$(VERSION)/bridge --core $(CACHE)/release-$(VERSION)/core \
		--release $(VERSION) -o src/mfsdp_lint/snapshots/data/bridge-$(VERSION).snapshot
	$(BIN)/python -m scripts.compare_snapshot src/mfsdp_lint/snapshots/data/bridge-$(VERSION).snapshot \
		$(CACHE)/release-$(VERSION)/bridge $(CACHE)/release-$(VERSION)/core

# For every Python and machine; the addresses of an index are nobody else's business.
lock: $(TOOLS)
	$(RELEASE)/bin/uv pip compile pyproject.toml --extra test --extra dev --extra docs --constraint constraints.txt --universal \
		--python-version 3.10 --generate-hashes --no-emit-index-url --no-annotate --no-header --quiet -o checks.lock

# Only a tag is released, and nothing that its archive does not have: the wheel is built from that.
release: $(TOOLS)
	test "v$$($(RELEASE)/bin/python -c 'import runpy; print(runpy.run_path("src/mfsdp_lint/core/version.py")["__version__"])')" \
		= "$$(git describe --tags --exact-match)"
	test -z "$$(git status --porcelain)"
	rm -rf dist
	$(RELEASE)/bin/python -m build --outdir dist
	$(RELEASE)/bin/twine check --strict dist/*
	rm -rf $(RELEASE)/empty && $(PYTHON) -m venv $(RELEASE)/empty
	$(RELEASE)/empty/bin/python -m pip install --quiet dist/*.whl
	cd examples && ../$(RELEASE)/empty/bin/mfsdp-lint --no-cache . || [ $$? -eq 1 ]
	$(RELEASE)/bin/cyclonedx-py environment --output-reproducible --output-file dist/bill-of-materials.json \
		$(RELEASE)/empty/bin/python

$(TOOLS):
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet build twine uv cyclonedx-bom
	@touch $@

clean:
	rm -rf $(VENV) $(DRYRUN) $(BENCH) $(RELEASE) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
