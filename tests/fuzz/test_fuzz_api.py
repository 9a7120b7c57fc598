"""Whatever is passed in: nothing but the documented errors, nothing changed by them; and what is valid works.

``FUZZ=50 pytest tests/fuzz/test_fuzz_api.py`` tries fifty times as many examples, other ones each time.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import fields
from inspect import signature

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import mahjong_env
from mahjong_env import (
    ACTIONS,
    NUM_ACTIONS,
    VARIANTS,
    ActionError,
    Deal,
    DealError,
    HandError,
    IllegalActionError,
    MahjongError,
    NotationError,
    RulesError,
    Snapshot,
    SnapshotError,
    make_engine,
    score,
)
from mahjong_env.basics.notation import format_tiles, parse_kind, parse_meld, parse_tiles
from mahjong_env.state.arrays import Phase
from mahjong_env.testing import count_all_tiles, eager_actions
from mahjong_env.testing.play import changed_array, frozen_arrays
from support.fuzz_strategies import (
    INTEGERS,
    MELDS,
    SEEDS,
    TEXTS,
    VALUES,
    counted,
    examples,
    possible_deal,
    possible_win,
)

NAMES = sorted(VARIANTS)
every_variant = pytest.mark.parametrize("variant", NAMES)


# --- Notation ----------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@examples(300)
@given(TEXTS)
def test_tiles(text):
    try:
        kinds = parse_tiles(text)
    except NotationError:
        return
    assert all(0 <= kind < 42 for kind in kinds)
    assert parse_tiles(format_tiles(kinds)) == kinds


@pytest.mark.thorough
@examples(300)
@given(TEXTS)
def test_melds(text):
    try:
        meld = parse_meld(text)
    except NotationError:
        return
    assert parse_meld(str(meld)) == meld


@pytest.mark.thorough
@examples(200)
@given(st.one_of(TEXTS, st.sampled_from(ACTIONS), VALUES))
def test_actions_by_name(text):
    try:
        number = mahjong_env.action(text)
    except NotationError:
        return
    assert ACTIONS[number] == " ".join(str(text).lower().split())


@pytest.mark.thorough
@examples(100)
@given(VALUES)
def test_values_that_are_no_text(value):
    for read in (parse_tiles, parse_kind, parse_meld):
        try:
            read(value)
        except NotationError:
            continue
        assert isinstance(value, str)


@pytest.mark.thorough
@examples(100)
@given(st.lists(st.integers(0, 41), max_size=20), MELDS)
def test_what_is_written_reads_the_same(kinds, meld):
    assert parse_tiles(format_tiles(kinds)) == kinds
    assert parse_meld(str(meld)) == meld


# --- Rules -------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@examples(150)
@given(st.one_of(st.sampled_from(NAMES), VALUES), st.dictionaries(TEXTS, VALUES, max_size=2))
def test_rules_of_anything(variant, knobs):
    try:
        mahjong_env.rules(variant, **knobs)
    except RulesError:
        return
    assert variant in VARIANTS
    assert not knobs.keys() - VARIANTS[variant].knobs.keys()


@pytest.mark.thorough
@every_variant
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


@pytest.mark.thorough
@examples(60)
@given(VALUES, VALUES, VALUES, VALUES)
def test_engines_of_anything(games, seed, hands, start):
    assume(not isinstance(games, int | np.integer) or games < 1000)
    try:
        engine = make_engine("hebei", games, seed=seed, num_hands=hands, start=start)
    except MahjongError:
        return
    assert engine.num_games == games
    assert engine.num_hands == hands


# --- score -------------------------------------------------------------------------------------------------------

SCORE_ARGUMENTS = [name for name, about in signature(score).parameters.items() if about.kind is about.KEYWORD_ONLY]
ARGUMENTS = st.one_of(
    VALUES, st.lists(VALUES, max_size=3), st.dictionaries(st.integers(-1, 4), st.lists(TEXTS, max_size=2), max_size=2)
)


def check_score(result, rules, winner):
    assert len(result.payments) == rules.seats
    assert sum(result.payments) == 0
    if result.legal:
        assert result.reason == ""
        assert result.points >= 0
        assert result.payments[winner] >= 0
        assert all(amount <= 0 for seat, amount in enumerate(result.payments) if seat != winner)
    else:
        assert result.reason in rules.reasons[1:]
        assert result.rows == ()
        assert result.points == 0
        assert not any(result.payments)
    names = {row.name for row in rules.rows}
    assert {name for name, _ in result.rows} <= names


@pytest.mark.thorough
@every_variant
@examples(150)
@given(SEEDS)
def test_possible_hands_are_scored(variant, seed):
    rules = mahjong_env.rules(variant)
    told = possible_win(rules, seed)
    try:
        result = score(variant, **told)
    except HandError as error:
        # possible_win knows neither of tiles turned up or discarded, nor of marks of wild tiles where none is wild.
        assert "there are only" in str(error) or "no kind is wild" in str(error)  # noqa: PT017
        return
    check_score(result, rules, told["seat"])


@pytest.mark.thorough
@every_variant
@examples(80)
@given(SEEDS, st.data())
def test_hands_with_anything_in_them(variant, seed, data):
    """A possible description with one or two of its arguments replaced by anything."""
    rules = mahjong_env.rules(variant)
    told = possible_win(rules, seed)
    for name in data.draw(st.lists(st.sampled_from([*SCORE_ARGUMENTS, *rules.knobs]), min_size=1, max_size=2)):
        told[name] = data.draw(ARGUMENTS)
    try:
        result = score(variant, **told)
    except MahjongError:
        return
    check_score(result, rules, told["seat"])


# --- Deals -------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@every_variant
@examples(60)
@given(SEEDS, st.data())
def test_deals_of_anything(variant, seed, data):
    engine = ENGINES[variant]
    deal, _ = possible_deal(engine.rules, seed)
    changes = {}
    for item in data.draw(st.lists(st.sampled_from(fields(Deal)), max_size=2, unique_by=lambda item: item.name)):
        changes[item.name] = data.draw(st.one_of(VALUES, st.lists(st.one_of(TEXTS, INTEGERS), max_size=4)))
    check_dealt_or_refused(engine, Deal(**{item.name: getattr(deal, item.name) for item in fields(Deal)} | changes))


@pytest.mark.thorough
@examples(60)
@given(st.one_of(VALUES, st.lists(st.one_of(VALUES, st.builds(Deal)), max_size=3)))
def test_what_is_no_deal(deals):
    assume(deals is not None)
    check_dealt_or_refused(ENGINES["hebei"], deals)


def check_dealt_or_refused(engine, deals):
    before = frozen_arrays(engine)
    try:
        engine.reset(deals=deals)
    except MahjongError:
        assert changed_array(engine, before) is None
        return
    assert (count_all_tiles(engine) == engine.rules.deck).all()
    assert (engine.seat_to_act >= 0).all()


ENGINES = {variant: make_engine(variant, 2, seed=3) for variant in NAMES}


@pytest.mark.thorough
@every_variant
@examples(60)
@given(SEEDS)
def test_deals_are_dealt_as_named(variant, seed):
    engine = ENGINES[variant]
    rules, state = engine.rules, engine.state
    deal, named = possible_deal(rules, seed)
    engine.reset(deals=deal)
    assert (count_all_tiles(engine) == rules.deck).all()
    for game in range(engine.num_games):
        assert int(state.dealer[game]) == deal.dealer
        assert int(state.streak[game]) == deal.dealer_streak
        for seat, hand in enumerate(named["hands"]):
            tiles = counted(kind for kind in hand if not rules.flower_kinds[kind])
            held = counted(np.repeat(np.arange(34), state.hand[game, seat]))
            assert not tiles - held, f"game {game}, seat {seat}"
            laid = counted(np.repeat(np.arange(42), state.flowers[game, seat]))
            assert not counted(kind for kind in hand if rules.flower_kinds[kind]) - laid
        front = int(state.front[game])
        assert state.wall[game, front : front + len(named["draws"])].tolist() == named["draws"]
        length = state.wall.shape[1]
        last = state.wall[game, length - len(named["replacements"]) :]
        assert last[::-1].tolist() == named["replacements"]


def test_a_deal_that_leaves_nothing_to_turn_up_is_refused():
    """In Fuzhou honours are flowers: with every suit tile named, no gold can be turned."""
    suit_tiles = np.random.default_rng(0).permutation(np.repeat(np.arange(27), 4)).tolist()
    hands = [format_tiles(suit_tiles[16 * seat : 16 * seat + 16]) for seat in range(4)]
    engine = ENGINES["fuzhou"]
    check_dealt_or_refused(engine, Deal(hands=hands, draws=format_tiles(suit_tiles[64:-1])))
    assert int(engine.state.indicator[0]) == suit_tiles[-1]
    before = frozen_arrays(engine)
    with pytest.raises(DealError, match="no tile to be turned up"):
        engine.reset(deals=Deal(hands=hands, draws=format_tiles(suit_tiles[64:])))
    assert changed_array(engine, before) is None


# --- Snapshots ---------------------------------------------------------------------------------------------------


def snapshot_bytes():
    engine = make_engine("hangzhou", 2, seed=5)
    rng = np.random.default_rng(5)
    for _ in range(30):
        engine.step(eager_actions(engine, rng))
    return engine.snapshot().to_bytes()


DATA = snapshot_bytes()


@pytest.mark.thorough
@examples(150)
@given(st.lists(st.tuples(st.integers(0, len(DATA) - 1), st.binary(max_size=4), st.integers(0, 8)), max_size=4))
def test_damaged_snapshots(damages):
    data = DATA
    for place, put, cut in damages:
        data = data[:place] + put + data[place + cut :]
    check_read_or_refused(data)


@pytest.mark.thorough
@examples(100)
@given(st.binary(max_size=60))
def test_bytes_that_are_no_snapshot(data):
    check_read_or_refused(data)


def check_read_or_refused(data):
    """A snapshot that can be read and restored in spite of damage is the whole one."""
    engine = make_engine("hangzhou", 2, seed=6)
    before = frozen_arrays(engine)
    try:
        engine.restore(Snapshot.from_bytes(data))
    except SnapshotError:
        assert changed_array(engine, before) is None
        return
    assert engine.snapshot().to_bytes() == DATA


@pytest.mark.thorough
@examples(60)
@given(st.sampled_from(sorted(Snapshot.from_bytes(DATA).arrays)), st.one_of(VALUES, st.binary().map(bytearray)))
def test_snapshots_with_an_array_of_anything(name, value):
    taken = Snapshot.from_bytes(DATA)
    engine = make_engine("hangzhou", 2, seed=6)
    before = frozen_arrays(engine)
    with pytest.raises(SnapshotError):
        engine.restore(Snapshot(taken.header, {**taken.arrays, name: value}))
    assert changed_array(engine, before) is None


@pytest.mark.thorough
@examples(60)
@given(VALUES, st.dictionaries(TEXTS, VALUES, max_size=3))
def test_snapshots_of_anything(value, header):
    engine = ENGINES["hebei"]
    before = frozen_arrays(engine)
    for snapshot in (value, Snapshot(header, {})):
        with pytest.raises(SnapshotError):
            engine.restore(snapshot)
    with pytest.raises(SnapshotError):
        Snapshot.from_bytes(value if not isinstance(value, bytes) else b"")
    assert changed_array(engine, before) is None


# --- Actions and games -------------------------------------------------------------------------------------------

ARRAYS = st.one_of(
    VALUES,
    st.lists(st.integers(-2, NUM_ACTIONS + 1), max_size=4),
    st.lists(st.one_of(INTEGERS, st.lists(INTEGERS, max_size=2)), max_size=4),
    st.lists(st.booleans(), max_size=4),
    st.lists(st.integers(0, 3), max_size=4).map(np.array),
    st.lists(st.integers(0, 2**64 - 1), max_size=4).map(lambda numbers: np.array(numbers, np.uint64)),
)


@pytest.mark.thorough
@examples(300)
@given(ARRAYS, st.one_of(st.none(), ARRAYS))
def test_steps_of_anything(actions, games):
    engine = ENGINES["wuhan"]
    engine.reset()
    before = frozen_arrays(engine)
    try:
        engine.step(actions, games)
    except ActionError:
        assert changed_array(engine, before) is None


@pytest.mark.thorough
@examples(200)
@given(ARRAYS, ARRAYS, VALUES)
def test_looks_at_anything(games, seats, seed):
    engine = ENGINES["taiwan"]
    before = frozen_arrays(engine)
    for use in (engine.observe, engine.view, lambda games, seats: engine.select(games)):
        with suppress(MahjongError):
            use(games, seats)
    assert changed_array(engine, before) is None
    try:
        engine.reset(seed=seed, games=games)
    except MahjongError:
        assert changed_array(engine, before) is None


@pytest.mark.thorough
@every_variant
@examples(25)
@given(numbers=st.lists(st.integers(0, NUM_ACTIONS - 1), min_size=30, max_size=80), seed=st.integers(0, 2**70))
def test_sequences_of_actions(variant, numbers, seed):
    """Each number is played if it is legal; if it is not, it is refused, and the legal one nearest to it is played."""
    engine = make_engine(variant, 1, seed=seed)
    for number in numbers:
        if engine.state.phase[0] == Phase.OVER:
            break
        legal = np.flatnonzero(engine.action_mask[0])
        if number not in legal:
            before = frozen_arrays(engine)
            with pytest.raises(IllegalActionError, match=f"{ACTIONS[number]!r}"):
                engine.step([number])
            assert changed_array(engine, before) is None
        result = engine.step([legal[abs(legal - number).argmin()]])
        assert result.rewards.sum() == 0
        assert (count_all_tiles(engine) == engine.rules.deck).all() or result.done[0]
