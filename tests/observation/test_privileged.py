"""`Engine.hidden` and its planes: what seats may not see, against the state and against hands tried one by one."""

from functools import cache

import numpy as np
import pytest

import mahjong_env
from mahjong_agents import make_agent
from mahjong_env import ActionError, Deal, make_engine
from mahjong_env.hands.codes import encode
from mahjong_env.observation.privileged import LAYOUT, NOBODY
from mahjong_env.state.arrays import SLOT_OF_OFFSET, Phase

EVERY = pytest.mark.parametrize("variant", mahjong_env.VARIANTS)


@cache
def late(variant):
    """An engine in which greedy players have come near to a win."""
    engine, rng, agent = make_engine(variant, 60, seed=4), np.random.default_rng(4), make_agent("greedy")
    for _ in range(45):
        live = np.flatnonzero(engine.seat_to_act >= 0)
        engine.step(agent.act(engine.view(live), rng), games=live)
    return engine


def complete(engine, hand, wild, num_melds):
    """Whether concealed tiles are a complete hand."""
    natural = hand.copy()
    wilds = natural[wild] if wild >= 0 else 0
    if wild >= 0:
        natural[wild] = 0
    codes = encode(natural[None])
    return bool(
        (engine.rules.tiles_short(codes, np.array([wilds], np.int8), np.array([num_melds], np.int8)) <= wilds)[0]
    )


@EVERY
def test_everything_stands_in_the_slots_of_the_seat_that_looks(variant):
    engine = late(variant)
    state, waiting = engine.state, 0
    for person in range(engine.num_people):
        hidden = engine.hidden(seats=person)
        assert len(hidden) == engine.num_games
        for offset, slot in enumerate(SLOT_OF_OFFSET[engine.num_seats]):
            seat = (person + offset) % engine.num_seats
            assert np.array_equal(hidden.hand[:, slot], state.hand[:, seat])
            for game in range(0, engine.num_games, 4):
                hand, wild, melds = state.hand[game, seat], int(state.wild[game]), int(state.num_melds[game, seat])
                if hand.sum() % 3 == 2:
                    assert not hidden.waits[game, slot].any()
                    continue
                wins = [
                    not engine.rules.flower_kinds[kind]
                    and hand[kind] < 4
                    and complete(engine, hand + (np.arange(34) == kind), wild, melds)
                    for kind in range(34)
                ]
                assert hidden.waits[game, slot].tolist() == wins
                if any(wins):
                    assert hidden.is_tenpai[game, slot]
                    assert hidden.shanten[game, slot] == 0
                waiting += any(wins)
        if engine.num_seats == 3:
            assert (hidden.shanten[:, 2] == NOBODY).all()
            assert not hidden.hand[:, 2].any()
            assert not hidden.waits[:, 2].any()
    assert waiting > 3


@EVERY
def test_hands_wall_and_what_lies_open_are_the_whole_set(variant):
    engine = late(variant)
    view, hidden = engine.view(seats=0), engine.hidden(seats=0)
    tiles = hidden.wall_counts.astype(int) + engine.state.flowers.sum(axis=1)
    tiles[:, :34] += hidden.hand.sum(axis=1) + view.discards.sum(axis=1)
    tiles[:, :34] += np.where(hidden.concealed_kongs, 4, 0).sum(axis=1)
    shown = view.melded.sum(axis=1, dtype=int)
    if not engine.rules.hides_concealed_kongs:
        shown -= np.where(hidden.concealed_kongs, 4, 0).sum(axis=1)
    tiles[:, :34] += shown
    rows = np.arange(len(view))
    turned = view.indicator >= 0
    tiles[rows[turned], view.indicator[turned]] += 1
    robbed = engine.state.phase == Phase.ROB
    np.testing.assert_array_equal(tiles[~robbed], np.broadcast_to(engine.rules.deck, tiles.shape)[~robbed])
    for row in range(len(view)):
        order = hidden.wall_order[row]
        assert np.bincount(order[order >= 0], minlength=42).tolist() == hidden.wall_counts[row].tolist()


def test_the_next_tile_drawn_is_the_first_of_the_order():
    engine = make_engine("hebei", 1, seed=1)
    engine.reset(deals=Deal(hands=("", "", ""), draws="5p 9s 1z"))
    assert engine.hidden().wall_order[0, :3].tolist() == [13, 26, 27]


def test_a_shape_of_the_variants_own_is_tenpai_as_well():
    engine = make_engine("mcr", 1, flower_tiles=False)
    engine.reset(deals=Deal(hands=["147m 258p 36s 12345z", "", "", ""], draws="9s", dealer=1))
    hidden = engine.hidden(0, 0)
    assert (hidden.shanten[0, 0], hidden.is_tenpai[0, 0]) == (0, True)
    assert np.flatnonzero(hidden.waits[0, 0]).tolist() == [26, 32, 33]
    assert repr(hidden).startswith("<Hidden: 1 rows of hand, ")


@EVERY
def test_planes_say_the_same(variant):
    engine = late(variant)
    planes, hidden = engine.observe(privileged=True), engine.hidden()
    assert planes.shape == (engine.num_games, *LAYOUT.shape)
    assert planes.dtype == np.int8
    low, high = LAYOUT.ranges()
    assert ((planes >= low) & (planes <= high)).all()
    assert np.array_equal(planes[:, LAYOUT.planes("hands")], hidden.hand[:, 1:])
    assert np.array_equal(planes[:, LAYOUT.planes("waits")], hidden.waits[:, 1:])
    order = planes[:, LAYOUT.planes("wall_order")].reshape(engine.num_games, -1)
    assert np.array_equal(order[:, : hidden.wall_order.shape[1]], hidden.wall_order + 1)
    shanten = planes[:, LAYOUT.planes("shanten")][:, 0, :4]
    assert np.array_equal(shanten - 1, np.where(hidden.shanten == NOBODY, -1, hidden.shanten))
    out = np.empty_like(planes)
    assert engine.observe(privileged=True, out=out) is out
    assert np.array_equal(out, planes)
    with pytest.raises(ActionError, match="out is"):
        engine.observe(privileged=True, out=np.empty((engine.num_games, 3, 34), np.int8))


def test_an_environment_gives_it_by_agent_and_no_view_does():
    env = mahjong_env.wuhan_v0.env()
    env.reset(seed=7)
    hidden = env.unwrapped.hidden("player_2")
    assert np.array_equal(hidden.hand[0, 0], env.unwrapped.view("player_2").hand[0])
    assert not hasattr(env.unwrapped.view("player_2"), "hidden")


def test_a_hand_that_adds_to_its_pung_is_told_as_it_is_while_the_kong_may_be_robbed():
    """Seat 0 draws its second 1z, keeps it, and adds the 5p that it has held: it waits for 6s and 9s then."""
    engine = make_engine("hebei", 1, seed=1)
    hands = ["555p 123m 456m 78s 156z", "147m 28p 369s 12347z", "123m 456m 789s 46p 22z"]
    engine.reset(deals=Deal(hands=hands, draws="5p 9m 9m 1z", dealer=0))
    played = "discard 6z, discard 5p, pass, pung, discard 5z, discard 9m, discard 9m, added kong 5p"
    for what in played.split(", "):
        engine.step([mahjong_env.action(what)])
    assert engine.state.phase[0] == Phase.ROB
    hidden = engine.hidden(seats=0)
    assert (hidden.is_tenpai[0, 0], hidden.shanten[0, 0]) == (True, 0)
    assert np.flatnonzero(hidden.waits[0, 0]).tolist() == [23, 26]
