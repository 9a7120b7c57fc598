"""Whatever is written on the command line or at the table, and tables drawn in any position.

``FUZZ=50 pytest tests/fuzz`` tries fifty times as many examples, other ones each time.
"""

from __future__ import annotations

import contextlib
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mahjong_env
from mahjong_env import VARIANTS, make_engine
from mahjong_env.basics.tiles import GLYPHS
from mahjong_env.cli import main
from mahjong_env.cli.play_command import play
from mahjong_env.drawing.text import WIDTH, columns, table_text
from mahjong_env.environments.agents import RandomAgent
from mahjong_env.testing import eager_actions
from mahjong_env.testing.play import changed_array, frozen_arrays
from support.fuzz_strategies import INTEGERS, SEEDS, TEXTS, examples, possible_win

NAMES = sorted(VARIANTS)


def run(words):
    """What a command line leaves: its exit status; errors are told in words, on stderr alone."""
    told, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(said):
        try:
            status = main(words)
        except SystemExit as left:
            status = left.code
    assert status in (0, 2)
    assert (status == 0) == (said.getvalue() == "")
    return status, told.getvalue()


# --- Words -------------------------------------------------------------------------------------------------------

SHORT = st.one_of(TEXTS, st.integers(-3, 8).map(str), INTEGERS.map(str), st.sampled_from(NAMES))
SCORE_OPTIONS = (
    *("--hand", "--winning-tile", "--wild", "--flowers", "--round-wind", "--house-wind", "--from-seat", "--seat"),
    *("--dealer", "--dealer-streak", "--kong-draws", "--red-discards", "--gambits", "--source", "--meld", "--knob"),
    *("--other-meld", "--running-points", "--variant"),
)
FLAGS = ("--flower-draw", "--last-tile", "--first-draw", "--robbing-gold", "--discarded-wild", "--json")


def as_words(told):
    """The arguments of `score` as words of its command."""
    words = []
    for name, value in told.items():
        option = f"--{name.replace('_', '-')}"
        if name == "melds":
            words += [f"--meld={meld}" for meld in value]
        elif isinstance(value, bool):
            words += [option] * value
        elif isinstance(value, list):
            words += [option, *map(str, value)]
        else:
            words.append(f"{option}={value}")
    return words


@pytest.mark.thorough
@pytest.mark.parametrize("variant", NAMES)
@examples(40)
@given(SEEDS, st.lists(st.tuples(st.sampled_from(SCORE_OPTIONS), SHORT), max_size=2), st.lists(st.sampled_from(FLAGS)))
def test_score(variant, seed, changes, flags):
    told = possible_win(mahjong_env.rules(variant), seed)
    more = [f"{option}={value}" for option, value in changes]
    status, printed = run(["score", "--variant", variant, *as_words(told), *more, *flags])
    assert (printed != "") == (status == 0)


@pytest.mark.parametrize("seat", ["\u00b2", "9" * 5000, "4", "-1", "", "1.0"], ids=lambda seat: seat[:5])
def test_seats_of_other_melds(seat):
    words = ["score", "--variant=hebei", "--hand=1122z", "--winning-tile=2z", "--source=draw"]
    words += ["--meld=chow 123s@2", "--meld=pung 999s@1", "--meld=kong 7777p"]
    assert run([*words, "--other-meld=1:pung 444p@0"])[0] == 0
    assert run([*words, f"--other-meld={seat}:pung 444p@0"])[0] == 2


GAME_OPTIONS = ("--knob", "--seed", "--agents", "--tables", "--seat", "--variant")
FEW_HANDS = st.sampled_from(["1", "2", "0", "-1", "x", "1.5", "", " 1", "\u0661"])


@pytest.mark.thorough
@examples(80)
@given(
    st.sampled_from(["show", "play", "rules"]),
    st.sampled_from(NAMES),
    st.lists(st.tuples(st.sampled_from(GAME_OPTIONS), SHORT), max_size=2),
    st.one_of(st.none(), FEW_HANDS),
)
def test_games(nobody_there, command, variant, changes, hands):
    words = [command, "--variant", variant, *(f"{option}={value}" for option, value in changes)]
    run(words if hands is None else [*words, f"--num-hands={hands}"])


@pytest.fixture(scope="module")
def nobody_there():
    """A person at the terminal who has nothing to say."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.StringIO())
        yield


@pytest.mark.thorough
@examples(150)
@given(
    st.lists(st.one_of(TEXTS, st.sampled_from(["score", "show", "play", "rules", "-h", "--", "--hand"])), max_size=6)
)
def test_any_words(nobody_there, words):
    run(words)


# --- At the table ------------------------------------------------------------------------------------------------

ANSWERS = st.lists(
    st.one_of(TEXTS, st.sampled_from(["win", "pass", "pung", "chow", "kong", "d", "discard", "1m", "?", "5z", "Q "])),
    max_size=30,
)


@pytest.mark.thorough
@examples(40)
@given(st.sampled_from(NAMES), SEEDS, ANSWERS)
def test_answers_of_a_person(variant, seed, answers):
    """Whatever is typed, the next legal action is asked for; when nothing more comes, the person leaves."""
    engine = make_engine(variant, 1, seed=seed)
    lines = iter(answers)
    asked = []

    def read(prompt):
        asked.append(prompt)
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    agents = [None, *[RandomAgent()] * (engine.num_people - 1)]
    with contextlib.redirect_stdout(io.StringIO()) as told:
        play(engine, agents, np.random.default_rng(seed), read=read)
    assert len(asked) <= len(answers) + 1
    assert told.getvalue().count("you have left the table") == int(engine.seat_to_act[0] >= 0)


# --- Tables drawn ------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("variant", NAMES)
@examples(12)
@given(SEEDS, st.integers(0, 120))
def test_tables_in_any_position(variant, seed, steps):
    """Drawn for everybody and for each person, in notation and in characters; nothing is changed by looking."""
    rng = np.random.default_rng(seed)
    engine = make_engine(variant, 2, seed=seed, num_hands=2)
    for _ in range(steps):
        engine.step(eager_actions(engine, rng))
    before = frozen_arrays(engine)
    for game in range(2):
        for person in (None, *range(engine.num_people)):
            for unicode in (False, True):
                text = table_text(engine, game, person=person, unicode=unicode)
                assert text.startswith(engine.rules.title)
                assert unicode or not set(text) & set(GLYPHS)
                assert max(map(columns, text.splitlines())) <= WIDTH
    assert changed_array(engine, before) is None
