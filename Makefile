# Everything a new clone needs: `make demo`, `make test`. Needs Python 3.11+ and make.

# Of tables and status: paper, laptop (what `make demo` trains) or smoke.
SCALE ?= paper
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
READY := $(VENV)/.ready
# The oldest Python there is; PyPI has no wheels of the lowest versions for the newest one.
LOWEST_PYTHON ?= $(firstword $(wildcard /usr/bin/python3.11) python3.11)
LOWEST := .venv-lowest
# One part of the suite for each package that it stands on.
LOWEST_TESTS := tests/test_project.py tests/test_export.py tests/models/test_registry.py tests/nn/test_group_conv.py \
	tests/data/test_unpack.py tests/data/test_mnist.py tests/data/test_camelyon.py tests/data/test_shapes3d.py \
	tests/data/test_smallnorb.py tests/augment/test_augmentations.py tests/analysis/test_folders.py \
	tests/tables/test_formats.py tests/results tests/figures/test_coverage.py tests/scripts/test_publish_wandb.py \
	tests/training/test_sweep.py
PYTEST := $(RUN) -m pytest -n 2 --dist worksteal
# Tests start many processes: they are to find the modules compiled, also where the environment forbids it.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-gpu lint tables figures report docs status clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(READY) ## train T3CEN-H4 and its plain twin on hue-shifted real digits and compare them (a few minutes)
	@$(RUN) scripts/demo.py

test: $(READY) ## style, types, and the fast tests: every kind of thing once (minutes; docs/testing.md)
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check .
	@$(RUN) -m mypy
	@$(PYTEST) -m "not slow"

test-all: test ## the same, then the slow tests and those with the lowest versions: every single one
	@$(PYTEST) -rs -m slow
	@$(MAKE) --no-print-directory test-lowest

test-gpu: $(READY) ## the tests that need a GPU; where there is none, a line that says so
	@if $(RUN) -c 'import torch; exit(not torch.cuda.is_available())'; then $(RUN) -m pytest -m gpu tests/gpu; \
	else echo "skipped: the tests marked gpu need a CUDA device, and torch finds none"; fi

lint: $(READY) ## format the code and say what is left
	@$(RUN) -m ruff format .
	@$(RUN) -m ruff check --fix .
	@$(RUN) -m mypy

.PHONY: test-lowest
test-lowest: $(LOWEST)/.ready ## what depends on other packages, with the lowest versions that pyproject.toml allows (downloads 3 GB, takes 8)
	@$(LOWEST)/bin/python -m pytest -n 2 --dist worksteal -W default $(LOWEST_TESTS)

tables: $(READY) ## our numbers beside the paper's, from outputs/ (SCALE=laptop for those of that scale)
	@$(RUN) scripts/make_tables.py all --scale $(SCALE)

figures: $(READY) ## every figure, into outputs/figures; trains the runs they need first (hours)
	@$(RUN) scripts/make_figures.py all

# Of reproduce: a table of conf/table, at scale laptop unless SCALE is given on the command line.
TABLE ?= kutomadata
.PHONY: reproduce
reproduce: SCALE = laptop
reproduce: $(READY) ## TABLE=hue_shift made again from nothing, beside the committed one (docs/reproduce.md); goes on where it stopped
	@$(RUN) scripts/reproduce.py $(TABLE) --scale $(SCALE)

report: $(READY) ## one self-contained page: tables, figures, provenance
	@$(RUN) scripts/make_report.py

docs: $(READY) ## the pages as a site, into outputs/site
	@NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --strict --quiet

status: $(READY) ## which runs of which table are done (SCALE=laptop for those of that scale)
	@$(RUN) scripts/status.py --scale $(SCALE)

clean: ## remove the virtual environment and caches, never data or results
	rm -rf $(VENV) $(LOWEST) .pytest_cache .mypy_cache .ruff_cache *.egg-info

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit(f"t3cen needs Python 3.11 or newer, {sys.executable} is {v[0]}.{v[1]}; try: make PYTHON=python3.12")'
	@test -x $(RUN) || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) (a few minutes the first time)"
	@$(RUN) -m pip install --quiet --requirement requirements.lock
	@$(RUN) -m pip install --quiet --no-deps --editable .
	@touch $@

$(LOWEST)/.ready: pyproject.toml scripts/lowest_versions.py
	@command -v $(LOWEST_PYTHON) > /dev/null || { echo "the lowest versions need Python 3.11, and $(LOWEST_PYTHON) is not there; try: make test-lowest LOWEST_PYTHON=PATH" >&2; exit 1; }
	@test -x $(LOWEST)/bin/python || $(LOWEST_PYTHON) -m venv $(LOWEST)
	@echo "installing the lowest versions into $(LOWEST) (a few minutes the first time)"
	@$(LOWEST)/bin/python scripts/lowest_versions.py > $(LOWEST)/lowest.txt
	@$(LOWEST)/bin/python -m pip install --quiet --requirement $(LOWEST)/lowest.txt
	@$(LOWEST)/bin/python -m pip install --quiet --no-deps --editable .
	@touch $@
