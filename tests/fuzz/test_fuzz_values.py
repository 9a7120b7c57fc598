"""Whatever is passed in, written on a command line or typed at the table: nothing but the documented errors.

What is refused changes nothing; what is valid works. ``FUZZ=50 pytest tests/fuzz`` tries fifty times as many examples,
other ones each time.
"""

from __future__ import annotations

import contextlib
import io
from dataclasses import fields
from inspect import signature

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import mahjong_env
from mahjong_agents import make_agent
from mahjong_env import (
    ACTIONS,
    NUM_ACTIONS,
    VARIANTS,
    Deal,
    DealError,
    MahjongError,
    NotationError,
    RulesError,
    Snapshot,
    make_engine,
    score,
)
from mahjong_env.basics.notation import format_tiles, parse_kind, parse_meld, parse_tiles
from mahjong_env.cli import main
from mahjong_env.cli.play_command import play
from mahjong_env.drawing.text import Reader
from mahjong_env.environments.aec import MahjongAEC
from mahjong_env.environments.agents import RandomAgent
from mahjong_env.environments.single_seat import SingleSeatEnv
from mahjong_env.environments.vector_env import MahjongVectorEnv
from mahjong_env.testing import count_all_tiles, eager_actions
from mahjong_env.testing.play import changed_array, frozen_arrays
from proof.described import possible_win
from support.fuzz_strategies import (
    INTEGERS,
    MELDS,
    SEEDS,
    TEXTS,
    VALUES,
    examples,
    possible_deal,
)
from support.playing import match_of

NAMES = sorted(VARIANTS)
ARRAYS = st.one_of(
    VALUES,
    st.lists(st.integers(-2, NUM_ACTIONS + 1), max_size=4),
    st.lists(st.one_of(INTEGERS, TEXTS, st.lists(INTEGERS, max_size=2)), max_size=4),
    st.lists(st.booleans(), max_size=4),
    st.lists(st.integers(0, 3), max_size=4).map(np.array),
    st.lists(st.integers(0, 2**64 - 1), max_size=4).map(lambda numbers: np.array(numbers, np.uint64)),
)
AGENTS = st.from_regex(r"(random|greedy|nobody)(:[a-z./]*)?(\?[a-z=&0-9]*)?", fullmatch=True)


# --- Functions -------------------------------------------------------------------------------------------------------


def new_engine(games, seed, hands, start):
    assume(not isinstance(games, int | np.integer) or games < 1000)
    engine = make_engine("hebei", games, seed=seed, num_hands=hands, start=start)
    assert (engine.num_games, engine.num_hands) == (games, hands)


def rules_of(variant, name, value):
    rules = mahjong_env.rules(variant, **({name: value} if isinstance(name, str) else {}))
    assert rules.name in VARIANTS


def agent(spec):
    assert str(spec).partition("?")[0].partition(":")[0].strip() == make_agent(spec).name


FUNCTIONS = (parse_tiles, parse_kind, parse_meld, mahjong_env.action, Snapshot.from_bytes, new_engine, rules_of, agent)


@pytest.mark.thorough
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@examples(80)
@given(st.data())
def test_functions(function, data):
    value = st.one_of(VALUES, AGENTS, st.sampled_from([*NAMES, "cap", "players", "first"]))
    arguments = [data.draw(value) for _ in signature(function).parameters]
    with contextlib.suppress(MahjongError):
        function(*arguments)


# --- Engines ---------------------------------------------------------------------------------------------------------

ENGINES = {variant: make_engine(variant, 2, seed=3) for variant in NAMES}
TAKEN = ENGINES["wuhan"].snapshot()


def deal_with(engine, number, seed, place, value):
    """A possible deal in which one part is anything."""
    deal = possible_deal(engine.rules, seed if isinstance(seed, int) and seed >= 0 else 0)
    item = fields(Deal)[place % len(fields(Deal)) if isinstance(place, int) else 0]
    engine.reset(deals=Deal(**{one.name: getattr(deal, one.name) for one in fields(Deal)} | {item.name: value}))


def restore_with(engine, header, place, value):
    """A snapshot in which an array is anything, one with any header, and anything at all."""
    name = sorted(TAKEN.arrays)[place % len(TAKEN.arrays) if isinstance(place, int) else 0]
    for snapshot in (header, Snapshot(header, {}), Snapshot(TAKEN.header, {**TAKEN.arrays, name: value})):
        with pytest.raises(MahjongError):
            engine.restore(snapshot)


METHODS = {
    "deals": lambda engine, deals: engine.reset(deals=deals),
    "a deal": deal_with,
    "reset": lambda engine, seed, games: engine.reset(seed=seed, games=games),
    "step": lambda engine, actions, games: engine.step(actions, games),
    "observe": lambda engine, games, seats: engine.observe(games, seats),
    "view": lambda engine, games, seats: engine.view(games, seats),
    "select": lambda engine, games: engine.select(games),
    "restore": restore_with,
}


@pytest.mark.thorough
@pytest.mark.parametrize("variant", ["wuhan", "taiwan"])
@pytest.mark.parametrize("method", METHODS)
@examples(100)
@given(st.data())
def test_methods_of_engines(method, variant, data):
    """What is refused changes nothing; what is taken leaves a table with all its tiles, where somebody is to act."""
    engine = ENGINES[variant]
    engine.reset(seed=5)
    before = frozen_arrays(engine)
    number = len(signature(METHODS[method]).parameters) - 1
    try:
        METHODS[method](engine, *(data.draw(ARRAYS) for _ in range(number)))
    except MahjongError:
        assert changed_array(engine, before) is None
    assert (count_all_tiles(engine) == engine.rules.deck).all()
    assert (engine.seat_to_act >= 0).all()


# --- Environments ----------------------------------------------------------------------------------------------------

ENVS = (MahjongAEC, SingleSeatEnv, MahjongVectorEnv)
every_env = pytest.mark.parametrize("kind", ENVS, ids=lambda kind: kind.__name__)


def make_env(kind, **options):
    return kind(2, "hebei", **options) if kind is MahjongVectorEnv else kind("hebei", **options)


@pytest.mark.thorough
@every_env
@examples(80)
@given(st.data())
def test_arguments_of_environments(kind, data):
    """Those that are declared, but files to be written, and two more."""
    declared = signature(kind).parameters.keys() - {"num_envs", "variant", "knobs", "record"}
    names = data.draw(
        st.lists(st.sampled_from([*sorted(declared), "cap", "more"]), min_size=1, max_size=2, unique=True)
    )
    value = st.one_of(VALUES, st.sampled_from(["ansi", "human", "random", "end", "raise", "same_step", "dict", 0, 2]))
    options = {name: data.draw(value) for name in names}
    try:
        env = make_env(kind, **options)
    except MahjongError:
        return
    assert options.get("render_mode") in (None, *env.metadata["render_modes"])
    with contextlib.redirect_stdout(io.StringIO()):
        env.reset(seed=1)
        if env.render_mode is not None:
            env.render()


@pytest.mark.thorough
@every_env
@examples(80)
@given(st.one_of(VALUES, st.lists(VALUES, min_size=2, max_size=2)), st.booleans())
def test_steps_and_deals_of_environments(kind, value, is_deal):
    env = make_env(kind, **({} if kind is MahjongAEC else {"on_illegal": "raise"}))
    env.reset(seed=1)
    before = frozen_arrays(env.engine)
    try:
        if is_deal:
            env.reset(options={"deal": value})
            assert value is None
        else:
            env.step(value)
    except MahjongError:
        assert changed_array(env.engine, before) is None


# --- Described hands, as arguments and as words ----------------------------------------------------------------------

SCORE_ARGUMENTS = [name for name, about in signature(score).parameters.items() if about.kind is about.KEYWORD_ONLY]


@pytest.mark.thorough
@pytest.mark.parametrize("variant", NAMES)
@examples(60)
@given(SEEDS, st.data())
def test_described_hands(variant, seed, data):
    """A possible description with one or two of its arguments replaced by anything."""
    told = possible_win(mahjong_env.rules(variant), seed)
    lists = st.dictionaries(st.integers(-1, 4), st.lists(TEXTS, max_size=2), max_size=2)
    names = [*SCORE_ARGUMENTS, *mahjong_env.rules(variant).knobs]
    for name in data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=2)):
        told[name] = data.draw(st.one_of(VALUES, st.lists(VALUES, max_size=3), lists))
    with contextlib.suppress(MahjongError):
        assert sum(score(variant, **told).payments) == 0


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


# --- Other command lines, and answers at the table -------------------------------------------------------------------


@pytest.fixture(scope="module")
def nobody_there():
    """A person at the terminal who has nothing to say."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.StringIO())
        yield


COMMANDS = st.sampled_from(["score", "show", "play", "rules", "-h", "--", "--hand"])


@pytest.mark.thorough
@examples(150)
@given(st.lists(st.one_of(TEXTS, COMMANDS), max_size=6))
def test_any_words(nobody_there, words):
    run(words)


ANSWERS = st.sampled_from(["win", "pass", "pung", "chow", "kong", "d", "discard", "1m", "?", "hint", "5z", "Q "])


@pytest.mark.thorough
@examples(40)
@given(st.sampled_from(NAMES), SEEDS, st.lists(st.one_of(TEXTS, ANSWERS), max_size=30))
def test_answers_of_a_person(variant, seed, answers):
    """Whatever is typed, the next legal action is asked for; when nothing more comes, the person leaves."""
    lines, asked, begun = iter(answers), [], []

    def read(prompt):
        asked.append(prompt)
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    def begin(tell):
        begun.append(match_of(variant, seed, agent=RandomAgent(), tell=tell))
        return begun[0]

    with contextlib.redirect_stdout(io.StringIO()) as told:
        play(begin, Reader(0), read=read)
    assert len(asked) <= len(answers) + 1
    assert told.getvalue().count("you have left the table") == int(begun[0].waits_for != "over")


# --- What is valid --------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@examples(200)
@given(st.one_of(TEXTS, st.sampled_from(ACTIONS)))
def test_what_can_be_read_is_written_again(text):
    for read, write in ((parse_tiles, format_tiles), (parse_meld, str), (mahjong_env.action, ACTIONS.__getitem__)):
        try:
            found = read(text)
        except NotationError:
            continue
        assert read(write(found)) == found


@pytest.mark.thorough
@examples(100)
@given(st.lists(st.integers(0, 41), max_size=20), MELDS)
def test_what_is_written_can_be_read(kinds, meld):
    assert parse_tiles(format_tiles(kinds)) == kinds
    assert parse_meld(str(meld)) == meld


@pytest.mark.thorough
@pytest.mark.parametrize("variant", NAMES)
@examples(40)
@given(st.data())
def test_knobs_of_any_value(variant, data):
    """What is accepted is played, and payments still sum to zero."""
    known = mahjong_env.rules(variant).knob_help()
    knobs = {}
    for name in data.draw(st.lists(st.sampled_from(sorted(known)), unique=True, max_size=4)):
        choices = VARIANTS[variant].__dataclass_fields__[name].metadata["choices"] or (1, 10**5, 10**9)
        knobs[name] = data.draw(st.one_of(st.sampled_from(choices), VALUES))
    try:
        engine = make_engine(variant, 2, seed=1, num_hands=2, **knobs)
    except RulesError:
        return
    rng = np.random.default_rng(1)
    points = engine.points.astype(np.int64)
    for _ in range(100):
        points += engine.step(eager_actions(engine, rng)).rewards
    assert np.array_equal(points, engine.points)
    assert (points.sum(axis=1) == engine.num_people * engine.rules.starting_points).all()


def test_a_deal_that_leaves_nothing_to_turn_up_is_refused():
    """In Fuzhou honours are flowers: with every suit tile named, no gold can be turned."""
    suit_tiles = np.random.default_rng(0).permutation(np.repeat(np.arange(27), 4)).tolist()
    hands = [format_tiles(suit_tiles[16 * seat : 16 * seat + 16]) for seat in range(4)]
    engine = ENGINES["fuzhou"]
    engine.reset(deals=Deal(hands=hands, draws=format_tiles(suit_tiles[64:-1])))
    assert int(engine.state.indicator[0]) == suit_tiles[-1]
    before = frozen_arrays(engine)
    with pytest.raises(DealError, match="no tile to be turned up"):
        engine.reset(deals=Deal(hands=hands, draws=format_tiles(suit_tiles[64:])))
    assert changed_array(engine, before) is None
