"""Self time is given to the parts of a step; nothing is lost and nothing counts twice."""

from pathlib import Path

import pytest

import mahjong_env
from mahjong_benchmarks import PARTS, profile, shares_text
from mahjong_benchmarks.shares import (
    CHECKS,
    CLAIMS,
    DEALING,
    DRAWING,
    FUNCTIONS,
    HANDS,
    MASKS,
    MODULES,
    OBSERVATION,
    WINS,
    divide,
    part_of,
)
from mahjong_env import rules

HOME = Path(mahjong_env.__file__).parent


@pytest.mark.parametrize("play", ["random", "greedy"])
def test_shares_of_a_step_are_all_of_it(play):
    pytest.importorskip("agents")
    shares = profile(rules("fuzhou"), play, 64, steps=40)
    assert tuple(shares.parts) == PARTS
    assert sum(shares.parts.values()) == pytest.approx(1)
    assert all(share > 0 for share in shares.parts.values()), shares.parts
    assert (shares.variant, shares.play, shares.batch) == ("fuzhou", play, 64)
    assert shares.microseconds > 0
    lines = shares_text([shares]).splitlines()
    assert lines[0] == f"| {play} play, 64 games | fuzhou |"
    assert [line.split(" | ")[0].strip("| ") for line in lines[2:-1]] == list(PARTS)
    assert lines[-1].startswith("| microseconds for a decision | ")


def test_tables_stand_below_each_other():
    shares = [profile(rules("hebei"), "random", batch, steps=2) for batch in (2, 4)]
    assert len(shares_text(shares).splitlines()) == len(PARTS) + 3


def function(module, name):
    return str(HOME / f"{module}.py"), 1, name


CLAIM, LOOK_UP = function("engine/phases/claims", "offer_discard"), function("hands/summaries", "suit_summaries")
HELPER, NUMPY, BUILT_IN = function("state/arrays", "left"), ("/numpy/core.py", 1, "repeat"), ("~", 0, "<sum>")
DRAW, OFF = function("engine/phases/draw", "begin_turns"), ("~", 0, "<disable>")


def test_what_is_nobodys_is_its_callers():
    stats = {
        CLAIM: (1, 1, 4.0, 14.0, {}),
        DRAW: (1, 1, 1.0, 3.0, {}),
        LOOK_UP: (1, 1, 3.0, 5.0, {CLAIM: (1, 1, 3.0, 5.0)}),
        HELPER: (2, 2, 2.0, 6.0, {CLAIM: (1, 1, 1.5, 4.5), DRAW: (1, 1, 0.5, 1.5)}),
        NUMPY: (2, 2, 0.0, 4.0, {HELPER: (2, 2, 0.0, 4.0)}),
        BUILT_IN: (3, 3, 6.0, 6.0, {NUMPY: (2, 2, 4.0, 4.0), LOOK_UP: (1, 1, 2.0, 2.0)}),
        OFF: (1, 1, 100.0, 100.0, {}),
    }
    shares = divide(stats, 100.0, part_of)
    # claims: 4 own, 1.5 of the helper, 3/4 of 4; look-ups: 3 own and the built-in's 2; drawing: 1, 0.5, 1/4 of 4.
    assert shares[CLAIMS] == pytest.approx((4 + 1.5 + 3) / 16)
    assert shares[HANDS] == pytest.approx(5 / 16)
    assert shares[DRAWING] == pytest.approx((1 + 0.5 + 1) / 16)
    assert sum(shares.values()) == pytest.approx(1)


def test_what_the_profiler_adds_to_calls_is_taken_off():
    stats = {
        CLAIM: (1, 1, 12.0, 16.0, {}),
        LOOK_UP: (8, 8, 4.0, 4.0, {CLAIM: (8, 8, 4.0, 4.0)}),
    }
    # Without the profiler it takes 12: the eight calls cost 4, half in each of the two functions.
    assert divide(stats, 12.0, part_of)[CLAIMS] == pytest.approx(10 / 12)
    assert divide(stats, 20.0, part_of)[CLAIMS] == pytest.approx(12 / 16)


def test_functions_that_call_each_other():
    other = ("/numpy/other.py", 1, "f")
    stats = {
        CLAIM: (1, 1, 1.0, 4.0, {}),
        NUMPY: (2, 2, 1.0, 3.0, {CLAIM: (1, 1, 0.5, 3.0), other: (1, 1, 0.5, 1.0)}),
        other: (1, 1, 2.0, 2.5, {NUMPY: (1, 1, 2.0, 2.5)}),
    }
    assert divide(stats, 4.0, part_of)[CLAIMS] == pytest.approx(1)


@pytest.mark.parametrize(
    ("module", "name", "part"),
    [
        ("engine/batch", "step", CHECKS),
        ("engine/batch", "observe", OBSERVATION),
        ("engine/batch", "action_mask", MASKS),
        ("engine/arguments", "check_count", None),
        ("engine/step", "take_step", CHECKS),
        ("engine/phases/judge", "is_complete", HANDS),
        ("engine/phases/deal", "deal_hands", DEALING),
        ("basics/chance", "shuffle", DEALING),
        ("hands/summaries", "suit_summaries", HANDS),
        ("ruleset/questions", "tiles_short", HANDS),
        ("scoring/driver", "tiles_short", HANDS),
        ("variants/wuhan", "tiles_short", HANDS),
        ("variants/hebei", "score", WINS),
        ("variants/hebei", "_payers", None),
        ("handsome", "suit_summaries", None),
        ("state/arrays", "tiles_short", None),
    ],
)
def test_parts_of_functions(module, name, part):
    assert part_of(function(module, name)) == part


def test_foreign_functions_have_no_part():
    assert part_of(BUILT_IN) is None
    assert part_of(NUMPY) is None


def sources(module):
    """The files of a module, or of all modules of a folder (its name ends in a dot)."""
    path = HOME / module.replace(".", "/")
    return list(path.glob("*.py")) if module.endswith(".") else [path.with_suffix(".py")]


def test_every_phase_has_a_part():
    """What has none counts as its callers'; that is right for what the phases share, and for nothing else there."""
    shared = {"engine.phases.__init__", "engine.phases.context"}
    assert {f"engine.phases.{path.stem}" for path in (HOME / "engine" / "phases").glob("*.py")} - shared <= set(MODULES)


def test_what_has_a_part_exists():
    assert all(file.is_file() for module in MODULES for file in sources(module))
    for module, name in FUNCTIONS:
        if not module.endswith("."):  # a variant need not have its own
            assert f"def {name}(" in sources(module)[0].read_text(encoding="utf-8"), (module, name)


def test_no_part_depends_on_private_names():
    """A private function may be renamed, split or inlined, and the table of shares stays what it was."""
    names = {*MODULES, *(f"{module}.{name}" for module, name in FUNCTIONS)}
    assert not [name for name in names if any(part.startswith("_") for part in name.split("."))]
