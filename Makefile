# Needs Python 3.11 or newer, pip and make; everything else goes into $(VENV). `make help` lists the targets.

VENV    ?= .venv
# Asked for only when the environment has to be created.
PYTHON  ?= $(shell for p in python3.11 python3.12 python3.13 python3; do \
             $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN     := $(VENV)/bin

VARIANT ?= hebei
# How to learn: ppo (by self-play, over strong inputs; up to GAMES hands) or sb3 (MaskablePPO, up to STEPS decisions).
METHOD  ?= ppo
# A hand of Wuhan takes three times as long: what its waits would pay is worked out with wild tiles.
GAMES_wuhan := 80000
GAMES   ?= $(or $(GAMES_$(VARIANT)),320000)
STEPS   ?= 1000000
DEALS   ?= 2000
# Each way to learn has a folder of its own.
RUN     ?= runs/$(VARIANT)$(if $(filter ppo,$(METHOD)),,-$(METHOD))
JOBS    ?= 2
# More options for `mahjong-env train` (`train-sb3`, with METHOD=sb3), such as FLAGS='--seed 1'.
FLAGS   ?=
HANDS   ?= 20000
WINS    ?= 20000
MINUTES ?= 60

# A second thread per process slows small networks down, by a factor of forty when the cores are shared.
export OMP_NUM_THREADS ?= 1

# The commands themselves are shown with V=1.
Q       := $(if $(V),,@)

.PHONY: help train evaluate test test-all test-rest test-slow lint format proof golden readme rules pictures screenshots docs pyodide soak bench tables \
        mutants distributed distributed-here notebooks wheel clean distclean
.DELETE_ON_ERROR:

help:
	@echo 'make train            learn $(VARIANT), then play the result against its teachers and others; interrupted by'
	@echo '                      Ctrl-C, run it again to resume'
	@echo '                      sizes: VARIANT=$(VARIANT) GAMES=$(GAMES) DEALS=$(DEALS) RUN=$(RUN) JOBS=$(JOBS);'
	@echo '                      METHOD=sb3 STEPS=$(STEPS) learns with Stable-Baselines3 instead'
	@echo 'make evaluate         play the result of $(RUN) again'
	@echo 'make test             lint, type-check, run the tests that protect everyday changes (JOBS=$(JOBS) processes)'
	@echo 'make test-all         the same, then all other tests (test-rest), those that take minutes (test-slow) too'
	@echo 'make mutants          plant known faults, one at a time in a copy: everyday tests must find each (FAULTS=name)'
	@echo 'make distributed      several machines: an environment with Ray in $(VENV)-distributed, its tests, a small run'
	@echo 'make proof            engine against referee: HANDS=$(HANDS) of each variant (or VARIANT=), WINS=$(WINS) random'
	@echo '                      wins, those of MCR against PyMahjongGB too; REPLAY=hands:variant:batch plays one batch again'
	@echo 'make golden           write the readable games of tests/golden anew'
	@echo 'make readme           write the tables of README.md, docs/reference, docs/leaderboard.md, docs/variants and cards anew'
	@echo 'make rules            write the pages of docs/rules and docs/variants anew'
	@echo 'make pictures         draw the pictures of the documentation anew'
	@echo 'make screenshots      photograph the pages in a browser anew'
	@echo 'make docs             build the documentation site in build/site, without the network'
	@echo 'make pyodide          fetch what the page of the site needs that plays in a tab; make docs then has it'
	@echo 'make soak             MINUTES=$(MINUTES) of play over all variants and knobs: memory stays flat'
	@echo 'make lint, format     only the linters and types; rewrite the layout'
	@echo 'make bench            decisions per second, beside other mahjong environments'
	@echo 'make tables           compute the tables of hands again'
	@echo 'make notebooks        execute the notebooks and write their outputs'
	@echo 'make wheel            build dist/*.whl'
	@echo 'make clean, distclean remove caches and builds; $(VENV) as well (runs/ is kept)'
	@echo 'V=1 shows the commands as they are run.'

# --- environments -------------------------------------------------------------------------------------------
# One environment; a stamp per set of extras says that pyproject.toml, as it now is, has been installed.

# Without Debian's python3-venv there is no ensurepip: pip then installs itself from outside.
$(BIN)/python:
	@test -n "$(PYTHON)" || { echo 'no Python 3.11 or newer found: install one, or name it with PYTHON=/path/to/python'; exit 1; }
	@echo "making an environment in $(VENV) with $(PYTHON)"
	$(Q)$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  $(PYTHON) -m venv --without-pip $(VENV) && $(PYTHON) -m pip --python $(BIN)/python install --quiet pip; }

# Not quiet: PyTorch is hundreds of megabytes, and pip shows how far it is.
$(VENV)/.installed-%: pyproject.toml | $(BIN)/python
	@echo "installing mahjong_env with its extras $(subst -,$(comma) ,$*) (the first time takes some minutes)"
	$(Q)$(BIN)/python -m pip install --disable-pip-version-check --editable '.[$(subst -,$(comma),$*)]'
	@touch $@
comma := ,

LEARN     := $(VENV)/.installed-train-evaluate
TEST      := $(VENV)/.installed-train-evaluate-render-notebooks-docs-dev
BENCH     := $(VENV)/.installed-bench
DISTRIBUTED := $(VENV)/.installed-distributed-train-evaluate-dev
.PRECIOUS: $(VENV)/.installed-%

# --- learning -----------------------------------------------------------------------------------------------

# The command that an interrupted run names for resuming it.
train: export MAHJONG_ENV_AGAIN = make train $(MAKEOVERRIDES)
LEARN_ppo = train --hands $(GAMES) --processes $(JOBS) --threads $(JOBS)
LEARN_sb3 = train-sb3 --total-steps $(STEPS)
SIZE_ppo  = $(GAMES) hands
SIZE_sb3  = $(STEPS) steps
train: $(LEARN)
	$(if $(LEARN_$(METHOD)),,$(error METHOD is ppo or sb3, not $(METHOD)))
	@echo "learning $(VARIANT) in $(RUN), up to $(SIZE_$(METHOD)) (Ctrl-C stops it; run the same command again to resume)"
	$(Q)$(BIN)/mahjong-env $(LEARN_$(METHOD)) --variant $(VARIANT) --out $(RUN) \
	  $(if $(wildcard $(RUN)/config.json),--resume) $(FLAGS)
	$(Q)if [ $(RUN)/evaluation.json -nt $(RUN)/best.zip ]; then \
	  echo "done: $(RUN)/best.zip, and its evaluation in $(RUN)/evaluation.json"; \
	  echo "make train $(if $(filter sb3,$(METHOD)),STEPS,GAMES)=... learns on; make evaluate plays it again"; \
	else $(MAKE) --no-print-directory evaluate; fi

evaluate: $(LEARN)
	@echo "playing $(RUN)/best.zip against its teachers and random, on $(DEALS) deals from every seat"
	$(Q)$(BIN)/mahjong-env evaluate --variant $(VARIANT) --agents policy:$(RUN)/best.zip random greedy \
	  --deals $(DEALS) --processes $(JOBS) --out $(RUN)

# --- checking -----------------------------------------------------------------------------------------------

# Text in an encoding that the system chooses is warned of, and our warnings are errors.
PYTEST := PYTHONWARNDEFAULTENCODING=1 $(BIN)/python -m pytest -n $(JOBS) --dist loadgroup

lint: $(TEST)
	@echo 'checking style, layout and types'
	$(Q)$(BIN)/ruff check .
	$(Q)$(BIN)/ruff format --check .
	$(Q)$(BIN)/mypy
	$(Q)$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml

test: lint
	@echo 'running the tests that protect everyday changes; make test-all runs all'
	$(Q)$(PYTEST) -m 'not slow and not thorough'

test-rest: $(TEST)
	@echo 'running the thorough tests'
	$(Q)$(PYTEST) -m 'thorough and not slow'

test-slow: $(TEST)
	@echo 'running the proofs that take minutes'
	$(Q)$(PYTEST) -m 'slow'

mutants: $(TEST)
	$(Q)PYTHONPATH=tests $(BIN)/python -m mutants --jobs $(JOBS) $(FLAGS) $(FAULTS)

test-all: test
	$(Q)$(MAKE) --no-print-directory test-rest
	$(Q)$(MAKE) --no-print-directory test-slow

# Ray's RLlib pins an older gymnasium than the rest would choose: an environment of its own.
distributed:
	$(Q)$(MAKE) --no-print-directory VENV=$(VENV)-distributed distributed-here

distributed-here: $(DISTRIBUTED)
	$(Q)$(BIN)/python -m mahjong_training.runtime
	@echo 'an evaluation in one process, and the same on a local cluster of two workers'
	$(Q)for way in '' '--ray local --processes 2'; do \
	  $(BIN)/mahjong-env evaluate --variant $(VARIANT) --agents greedy random --deals 200 $$way \
	    --out runs/distributed/$$(echo "evaluation$$way" | tr -d ' -') > /dev/null || exit 1; done
	$(Q)cmp runs/distributed/evaluation/evaluation.json runs/distributed/evaluationraylocalprocesses2/evaluation.json
	@echo 'the same result, byte for byte; now the tests, RLlib among them'
	$(Q)$(BIN)/python -m pytest -m distributed

# VARIANT has a default, meant for learning: here all variants are played unless one is asked for.
asked_variant := $(if $(filter command environment,$(origin VARIANT)),$(VARIANT))
proof: $(TEST)
	$(Q)PYTHONPATH=tests $(BIN)/python -m proof --hands $(HANDS) --wins $(WINS) --jobs $(JOBS) \
	  $(if $(asked_variant),--variant $(asked_variant)) $(if $(REPLAY),--replay $(REPLAY))

golden: $(TEST)
	$(Q)PYTHONPATH=tests $(BIN)/python -m tools.golden_games

rules: $(TEST)
	$(Q)PYTHONPATH=tests $(BIN)/python -m tools.rule_pages
	$(Q)PYTHONPATH=tests $(BIN)/python -m tools.variant_pages

readme: $(TEST)
	$(Q)$(BIN)/mahjong-env leaderboard page
	$(Q)PYTHONPATH=tests $(BIN)/python -m tools.readme
	$(Q)PYTHONPATH=tests $(BIN)/python -m tools.variant_pages

pictures: $(TEST)
	$(Q)PYTHONPATH=tests $(BIN)/python -m tools.pictures

screenshots: $(TEST)
	$(Q)PYTHONPATH=tests $(BIN)/python -m tools.screenshots

docs: $(TEST)
	$(Q)$(BIN)/python -m sphinx -W --keep-going -q -c docs . build/site
	@echo 'written: build/site/index.html'

pyodide: $(TEST)
	$(Q)$(BIN)/python -m tools.play_in_tab

soak: $(TEST)
	$(Q)PYTHONPATH=tests $(BIN)/python -m soak --minutes $(MINUTES)

format: $(TEST)
	$(Q)$(BIN)/ruff check --fix .
	$(Q)$(BIN)/ruff format .

bench: $(BENCH)
	$(Q)$(BIN)/mahjong-env bench

notebooks: $(TEST)
	$(Q)PYTHONPATH=tests $(BIN)/python -m tools.notebooks

# --- making -------------------------------------------------------------------------------------------------

tables: $(TEST)
	$(Q)$(BIN)/python -m tools.hand_tables

wheel: $(TEST)
	rm -rf build
	$(Q)$(BIN)/python -m build --wheel

clean:
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find mahjong_env agents training benchmarks tools experiments tests -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV) $(VENV)-distributed
