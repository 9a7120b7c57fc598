# Needs Python 3.11 or newer, pip and make; everything else goes into $(VENV). `make help` lists the targets.

VENV    ?= .venv
# Asked for only when the environment has to be created.
PYTHON  ?= $(shell for p in python3.11 python3.12 python3.13 python3; do \
             $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN     := $(VENV)/bin

VARIANT ?= hebei
STEPS   ?= 1000000
DEALS   ?= 2000
RUN     ?= runs/$(VARIANT)
JOBS    ?= 2
# More options for `python -m training train`, such as FLAGS='--warm-start-steps 0'.
FLAGS   ?=
HANDS   ?= 20000
MINUTES ?= 60

# A second thread per process slows small networks down, by a factor of forty when the cores are shared.
export OMP_NUM_THREADS ?= 1

.PHONY: help train test test-slow lint format proof golden readme rules soak bench tables notebooks wheel clean distclean
.DELETE_ON_ERROR:

help:
	@echo 'make train            learn $(VARIANT), then play the result against random and greedy'
	@echo '                      sizes: VARIANT=$(VARIANT) STEPS=$(STEPS) DEALS=$(DEALS) RUN=$(RUN)'
	@echo 'make test             lint, type-check, run the tests (JOBS=$(JOBS) processes)'
	@echo 'make test-slow        the proofs that take minutes'
	@echo 'make proof            engine against referee: HANDS=$(HANDS) of each variant (or VARIANT=), additive'
	@echo '                      over runs; FRESH=1 begins again; REPLAY=variant:batch plays one batch again'
	@echo 'make golden           write the readable games of tests/golden anew'
	@echo 'make readme           write the generated tables of README.md anew'
	@echo 'make rules            write the rule pages of docs/rules anew'
	@echo 'make soak             MINUTES=$(MINUTES) of play over all variants and knobs: memory stays flat'
	@echo 'make lint, format     only the linters and types; rewrite the layout'
	@echo 'make bench            decisions per second, beside other mahjong environments'
	@echo 'make tables           compute the tables of hands again'
	@echo 'make notebooks        execute the notebooks'
	@echo 'make wheel            build dist/*.whl'
	@echo 'make clean, distclean remove caches and builds; $(VENV) as well (runs/ is kept)'

# --- environments -------------------------------------------------------------------------------------------
# One environment; a stamp per set of extras says that pyproject.toml, as it now is, has been installed.

# Without Debian's python3-venv there is no ensurepip: pip then installs itself from outside.
$(BIN)/python:
	@test -n "$(PYTHON)" || { echo 'no Python 3.11 or newer found: install one, or name it with PYTHON=/path/to/python'; exit 1; }
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  $(PYTHON) -m venv --without-pip $(VENV) && $(PYTHON) -m pip --python $(BIN)/python install --quiet pip; }

$(VENV)/.installed-%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$(subst -,$(comma),$*)]'
	@touch $@
comma := ,

LEARN     := $(VENV)/.installed-train-evaluate
TEST      := $(VENV)/.installed-train-evaluate-render-dev
BENCH     := $(VENV)/.installed-bench
NOTEBOOKS := $(VENV)/.installed-train-evaluate-render-dev-notebooks
.PRECIOUS: $(VENV)/.installed-%

# --- learning -----------------------------------------------------------------------------------------------

train: $(LEARN)
	$(BIN)/python -m training train --variant $(VARIANT) --total-steps $(STEPS) --out $(RUN) \
	  $(if $(wildcard $(RUN)/config.json),--resume) $(FLAGS)
	$(BIN)/python -m training evaluate --variant $(VARIANT) --agents policy:$(RUN)/best.zip random greedy \
	  --deals $(DEALS) --out $(RUN)

# --- checking -----------------------------------------------------------------------------------------------

lint: $(TEST)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup

test-slow: $(TEST)
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup -m slow

# VARIANT has a default, meant for learning: here all variants are played unless one is asked for.
asked_variant := $(if $(filter command environment,$(origin VARIANT)),$(VARIANT))
proof: $(TEST)
	PYTHONPATH=tests $(BIN)/python -m scripts.proof --hands $(HANDS) --jobs $(JOBS) $(if $(FRESH),--fresh) \
	  $(if $(asked_variant),--variant $(asked_variant)) $(if $(REPLAY),--replay $(REPLAY))

golden: $(TEST)
	PYTHONPATH=tests $(BIN)/python -m scripts.golden_games

rules: $(TEST)
	PYTHONPATH=tests $(BIN)/python -m scripts.rule_pages

readme: $(TEST)
	PYTHONPATH=tests $(BIN)/python -m scripts.readme

soak: $(TEST)
	PYTHONPATH=tests $(BIN)/python -m scripts.soak --minutes $(MINUTES)

format: $(TEST)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(BENCH)
	$(BIN)/python -m mahjong_env bench

notebooks: $(NOTEBOOKS)
	$(BIN)/python -m pytest --nbmake notebooks

# --- making -------------------------------------------------------------------------------------------------

tables: $(TEST)
	$(BIN)/python -m mahjong_env.hands.build

wheel: $(TEST)
	rm -rf build
	$(BIN)/python -m build --wheel

clean:
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find mahjong_env agents training tests -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV)
