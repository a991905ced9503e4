# The two commands of a newcomer are `make run` and `make test`; both make the environment first.
PYTHON ?= python3
VENV ?= .venv
# An exact torch first: the CPU build is enough, and an open range may pull several GB of GPU packages.
TORCH ?= torch==2.13.0
BIN = $(VENV)/bin
READY = $(VENV)/.ready

.PHONY: run test lint docs bench hostile coverage clean

run: $(READY)
	$(BIN)/latopo fit digits --labels 5 --out runs/digits --overwrite
	$(BIN)/latopo report runs/digits --out runs/digits/report.html

test: $(READY)
	scripts/ensure_chromium.sh
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto  # one thread a worker: more would only wait for each other

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Warnings are errors, dead links too; every notebook is executed.
docs: $(READY)
	rm -rf docs/generated
	PATH="$(abspath $(BIN)):$$PATH" OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python scripts/check_links.py docs/_build/html
	@echo "docs/_build/html/index.html"

# Every attack of tests/hostile, in minutes; the seed of a run is printed, and LATOPO_HOSTILE_SEED repeats it.
# HOSTILE=every stops each command at each of its writes and renames, which takes an hour or more.
HOSTILE = long
hostile: $(READY)
	LATOPO_HOSTILE=$(HOSTILE) OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto tests/hostile

# Lines of the method's packages that their own tests run; fails below 95 %. Compiled kernels are not counted: what
# numba runs cannot be seen (tests compare them with brute force).
METHOD = entmax neighbors cycles complex nn semi models training estimators table
coverage: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --cov $(METHOD:%=tests/%) $(METHOD:%=src/latopo/%)

bench: $(READY)
	$(BIN)/latopo bench --peers benchmarks/peers --out benchmarks

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet $(TORCH)
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $(READY)

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis dist
