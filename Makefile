# `make run` and `make test` are all that most people need; `make help` lists the rest.
PYTHON ?= $(or $(shell python3 packaging/bootstrap.py python),python3)
BIN := .venv/bin
LOCKS := $(wildcard packaging/lock/*.txt)

.DEFAULT_GOAL := help
.PHONY: help run test nightly quick lint types unit full bench compiled blocks size format setup lock tables recorded charts screenshots snapshots clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile | expand -t 16

run: .venv/app.stamp ## open the window, e.g. make run ARGS="photo.png --filter sobel_x"
	@$(BIN)/workbench $(ARGS)

# mypy has work for one core: the tests need not wait for it.
TOGETHER = +@$(MAKE) --no-print-directory --jobs 2 types unit

test: lint ## everything that CI runs
	$(TOGETHER)

# The rooms whose tests start neither a compiler, nor programs, nor windows.
QUICK := tests/test_rooms.py tests/kernels/rungs/test_first_run.py \
	$(addprefix tests/kernels/,core cpu engine filters oracle pictures sweeps) \
	$(addprefix tests/workbench/,base charts imaging model)
quick: lint ## format, style, types and the tests that answer soon, in about a minute
	$(TOGETHER) ARGS='$(QUICK) $(ARGS)'

lint: .venv/test.stamp ## format and style (ruff)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: .venv/test.stamp ## types (mypy, strict)
	$(BIN)/mypy

# A test that fails beside the others is tried once more, alone, and named: a loaded machine alone
# does not make a change red.  What fails twice does.
# Hundreds of processes import the program: without bytecode each would compile all of it anew.
unit: export PYTHONDONTWRITEBYTECODE =
# Each of those that import NumPy would keep one core more busy for 80 ms: so long OpenBLAS's threads
# look for work before they sleep.
unit: export OPENBLAS_THREAD_TIMEOUT = 4
# That is for `make quick`: all rungs are held against the oracle in more jobs elsewhere.
FIRST_RUN := tests/kernels/rungs/test_first_run.py::test_a_rung_says_of_one_picture_what_the_oracle_says
unit: .venv/test.stamp ## the tests alone, e.g. make unit ARGS="-k borders"
	$(BIN)/python -m pytest -n auto --maxprocesses 8 --dist loadfile --no-loadscope-reorder \
	$(or $(ARGS),--deselect $(FIRST_RUN)) \
	|| { [ $$? = 1 ] && echo "Those that failed, once more, alone:" \
	&& $(BIN)/python -m pytest --verbose --last-failed --last-failed-no-failures none; }

full: .venv/test.stamp ## the full product of cases: every implementation, on the GPU if there is one, and every kind of file
	$(BIN)/python -m pytest -n auto -m full tests/kernels tests/workbench/files $(ARGS)

nightly: .venv/nightly.stamp ## hours: bare machines, the oldest versions, the packaged program, long repetitions
	$(BIN)/python -m pytest --verbose -m nightly -o faulthandler_timeout=0 $(ARGS)

bench: .venv/test.stamp ## measure the program itself, e.g. make bench NAME=startup ARGS="--runs 3"
	@$(BIN)/python -m tests.benches.$(NAME) $(ARGS)

compiled: .venv/test.stamp ## compile rungs that changed for all cards, and keep what the compilers said for the tests
	$(BIN)/python -m tests.kernels.rungs.compiled

blocks: .venv/test.stamp ## record what the threads of rungs that changed load and store, for computers without a compiler
	$(BIN)/python -m tests.kernels.anatomy.recorded $(ARGS)

size: ## lines and files beside their bounds, and each room's beside its budget
	@$(PYTHON) -m tests.size

format: .venv/test.stamp ## put the format right
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

setup: ## set .venv up again and look for a GPU anew, e.g. after installing a driver
	@$(PYTHON) packaging/bootstrap.py app

# The stamps make a second call start at once: no bootstrap, no pip, no network.
.venv/app.stamp .venv/test.stamp .venv/nightly.stamp: .venv/%.stamp: packaging/bootstrap.py pyproject.toml $(LOCKS)
	@$(PYTHON) packaging/bootstrap.py $*

# They hold this folder's name: in a tree that was moved, .venv's scripts point nowhere.
ifneq ($(shell cat .venv/app.stamp 2>/dev/null),$(CURDIR))
.PHONY: .venv/app.stamp .venv/test.stamp .venv/nightly.stamp
endif

# --universal looks upwards only, so it has to start at the oldest Python, not at .venv's own.
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header --group build pyproject.toml $(ARGS)
lock: .venv/test.stamp ## resolve packaging/lock/ again, e.g. make lock ARGS=--upgrade
	$(BIN)/python -m pip install --quiet uv
	$(COMPILE) --output-file packaging/lock/app.txt
	for extra in test cuda12 cuda13; do $(COMPILE) --extra $$extra \
		--constraint packaging/lock/app.txt --output-file packaging/lock/$$extra.txt || exit; done

tables: .venv/test.stamp ## write the tables of the papers again, from the rungs and what was measured
	@$(BIN)/python packaging/ladder_tables.py
	@$(BIN)/python packaging/scale_tables.py

recorded: .venv/test.stamp ## measure every preset anew into assets/recorded/; goes on where it was stopped
	@$(BIN)/python packaging/record_sessions.py $(ARGS)

charts: .venv/test.stamp ## draw the charts of docs/sweeps.md again, from the recorded sessions
	@$(BIN)/python packaging/recorded_charts.py

screenshots: .venv/test.stamp ## draw the screenshots of docs/window.md and the help again, one per mode
	@$(BIN)/python packaging/screenshots.py

snapshots: .venv/test.stamp ## write the pictures that the window's states are tested against again
	@SNAPSHOTS=write $(BIN)/python -m pytest -q -k looks_as tests/workbench/window/test_snapshots.py

clean: ## remove .venv and everything else that was generated
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
