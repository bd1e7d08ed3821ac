# Everything a fresh machine needs is GNU make and Python 3.11 or newer: each verb sets up .venv itself.
PYTHON ?= python3

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
UV := $(BIN)/uv --quiet --no-progress pip

# What the verbs `fuzz` and `mutants` alone need; the fuzzer has builds for Linux on x86_64.
FUZZER := atheris~=3.0
MUTATOR := mutmut~=3.8.1

# Adapters in real applications, killed processes, a cluster on this machine, pages in a browser, every block of the
# documentation, real models and servers.
SLOW := tests/cli/test_action.py tests/docs tests/e2e tests/examples tests/faults tests/integrations \
  tests/live/test_compaction.py tests/live/test_exit_and_forks.py tests/live/test_suite.py \
  tests/report tests/shared tests/typing

# Writes a lock with one entry for each Python that needs its own; it names no package index.
LOCK := $(UV) compile --upgrade --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# All verbs share one environment, and two installers must not write to it at once.
.NOTPARALLEL:
.PHONY: help demo questions test slow lint docs check compat upgrade format bench truth fuzz mutants clean

help: ## list the verbs
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

demo: $(VENV)/demo.stamp ## evaluate the example data without a key, and open one score
	$(BIN)/ragmetrics evaluate examples/data/telecom.jsonl --judge embedded --embedder embedded \
	  --metrics faithfulness,factual_correctness,context_precision,context_recall,answer_relevance \
	  --out runs/demo --overwrite
	@echo
	$(BIN)/ragmetrics show runs/demo tc-49 faithfulness
	@echo
	@echo "More: $(BIN)/ragmetrics --help; any sample and metric opens the same way, e.g."
	@echo "  $(BIN)/ragmetrics show runs/demo tc-49 context_precision"

questions: $(VENV)/demo.stamp ## replay how a small model wrote a test set, without the model
	$(BIN)/python examples/questions_replay.py runs/questions

test: $(VENV)/dev.stamp ## run the tests (ARGS="-k name" passes options to pytest)
	$(BIN)/python -m pytest --numprocesses auto --dist loadscope $(if $(ARGS),$(ARGS),$(SLOW:%=--ignore=%))

slow: $(VENV)/dev.stamp ## run the tests that `make test` leaves out: adapters, faults, pages, whole programs
	$(BIN)/python -m pytest --numprocesses auto --dist loadscope --hypothesis-profile full $(SLOW)
	$(BIN)/python -m pytest --numprocesses auto --dist loadscope --hypothesis-profile full -m hypothesis $(SLOW:%=--ignore=%)

lint: $(VENV)/dev.stamp ## check format, lint rules, types, layers, budgets, plain English, docs/metrics/ and docs/judge_tables.md
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/basedpyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports
	$(BIN)/python -m tests.house.rooms --check
	$(BIN)/python -m tests.house.plain_english --check
	$(BIN)/python docs/metrics.py --check
	$(BIN)/python docs/judges.py --check

# A link or an anchor that leads nowhere is an error (mkdocs.yml, strict).
docs: $(VENV)/dev.stamp ## build the site of the documentation into site/, strictly
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo "open site/index.html: it needs no server and no network"

check: lint test slow docs ## everything that must hold before a change lands: lint, test, slow and docs

compat: $(VENV)/dev.stamp ## run the tests against the built wheel, with the oldest and the newest packages
	$(BIN)/nox $(ARGS)

# requirements/torch.txt is written by hand.
upgrade: $(VENV)/uv.stamp ## renew the versions in requirements/ (commit them by themselves)
	echo uv | $(LOCK) --output-file requirements/uv.txt -
	$(LOCK) --output-file requirements/dev.txt --no-emit-package torch --extra dev pyproject.toml requirements/dev.in

format: $(VENV)/dev.stamp ## format the code and mend what can be mended mechanically
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# benchmarks/parsers.py is left out: it reads thousands of nasty replies and takes ten minutes.
bench: $(VENV)/dev.stamp ## measure what DESIGN.md promises in numbers
	$(BIN)/python -m benchmarks $(ARGS)

# The sets are in shared/ beside the checkout; cards of sets that are not there stay as they are.
truth: $(VENV)/dev.stamp ## measure the embedded judge on texts that people labelled, and write docs/judge_tables.md
	$(BIN)/python -m benchmarks.truth $(ARGS)
	$(BIN)/python docs/judges.py

fuzz: $(VENV)/fuzz.stamp ## feed nonsense to every parser, loader and record (ARGS="--target parser")
	$(BIN)/python -m tests.fuzz $(ARGS)

mutants: $(VENV)/mutants.stamp ## alter each formula in every place, and see that a test fails
	$(BIN)/python -m tests.mutants $(ARGS)

clean: ## remove the environment, caches and builds (runs/ stays)
	rm -rf $(VENV) .nox build dist mutants site .fuzz .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp is written last, so an interrupted set-up is done again.
$(VENV)/created.stamp:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "ragmetrics needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/demo.stamp: $(VENV)/created.stamp pyproject.toml
	@echo "Installing ragmetrics with the extras cli, embedded and openai into $(VENV) (about a minute)"
	$(PIP) install --editable '.[cli,embedded,openai]'
	@touch $@

$(VENV)/uv.stamp: $(VENV)/created.stamp requirements/uv.txt
	$(PIP) install --require-hashes --requirement requirements/uv.txt
	@touch $@

# torch comes by pip, whose configuration can offer a build for CPUs; that of the index for Linux brings CUDA.
$(VENV)/dev.stamp: $(VENV)/uv.stamp pyproject.toml requirements/dev.txt requirements/torch.txt
	@echo "Installing ragmetrics with everything its checks use into $(VENV) (about a minute)"
	$(UV) sync --python $(BIN)/python --compile-bytecode requirements/uv.txt requirements/dev.txt
	$(PIP) install --no-deps --require-hashes --requirement requirements/torch.txt \
	  || echo "no build of torch for CPUs that pip can find: the tests that use torch are skipped"
	$(UV) install --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

# Without a build for this machine the fuzzer is left out, and inputs are changed blindly.
$(VENV)/fuzz.stamp: $(VENV)/dev.stamp
	$(PIP) install '$(FUZZER)' || echo "no $(FUZZER) for this machine: the search has no coverage to guide it"
	@touch $@

$(VENV)/mutants.stamp: $(VENV)/dev.stamp
	$(PIP) install '$(MUTATOR)'
	@touch $@
