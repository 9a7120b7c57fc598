"""What is valid works: notation, hands, deals and actions of which very many are drawn.

``FUZZ=50 pytest tests/fuzz`` tries fifty times as many examples, other ones each time.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mahjong_env
from mahjong_env import (
    ACTIONS,
    VARIANTS,
    Deal,
    DealError,
    NotationError,
    RulesError,
    make_engine,
)
from mahjong_env.basics.notation import format_tiles, parse_meld, parse_tiles
from mahjong_env.testing import count_all_tiles, eager_actions
from mahjong_env.testing.play import changed_array, frozen_arrays
from support.fuzz_strategies import MELDS, SEEDS, TEXTS, VALUES, counted, examples, possible_deal

NAMES = sorted(VARIANTS)
every_variant = pytest.mark.parametrize("variant", NAMES)


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
    engine.reset(deals=Deal(hands=hands, draws=format_tiles(suit_tiles[64:-1])))
    assert int(engine.state.indicator[0]) == suit_tiles[-1]
    before = frozen_arrays(engine)
    with pytest.raises(DealError, match="no tile to be turned up"):
        engine.reset(deals=Deal(hands=hands, draws=format_tiles(suit_tiles[64:])))
    assert changed_array(engine, before) is None
