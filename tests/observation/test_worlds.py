"""Worlds of a view: they continue its positions, know nothing that its seats cannot know, and cost nothing unasked."""

from __future__ import annotations

import copy
import pickle

import gymnasium
import numpy as np
import pytest

from mahjong_agents.search.opponent_hands import shipped_opponent_hands
from mahjong_env import VARIANTS, Deal, ViewError, action, make_engine
from mahjong_env.basics.actions import PASS, WIN
from mahjong_env.engine.opponent_hands import OpponentHands, distances_of_hands
from mahjong_env.environments.agents import RandomAgent
from mahjong_env.state.arrays import Phase
from mahjong_env.testing.engine_checks import require_books, require_tiles
from mahjong_env.testing.play import (
    changed_array,
    choose_actions,
    frozen_arrays,
    require_same_states,
    view_differences,
)
from support.positions import positions

ALL = sorted(VARIANTS)


@pytest.mark.parametrize("variant", ALL)
def test_worlds_continue_what_the_seats_see(variant):
    engine = positions(variant, num_hands=2)
    view = engine.view()
    worlds = view.worlds(3, np.random.default_rng(0))
    assert worlds.num_games == 3 * len(view)
    assert not worlds.auto_reset
    assert worlds.seat_to_act.tolist() == np.repeat(engine.seat_to_act, 3).tolist()
    assert view_differences(view.take(np.repeat(np.arange(len(view)), 3)), worlds.view()) == []
    require_tiles(worlds)
    require_books(worlds)


@pytest.mark.parametrize("variant", ALL)
@pytest.mark.parametrize("hands", [lambda rules: None, shipped_opponent_hands], ids=["any", "likely"])
def test_worlds_know_nothing_that_is_hidden(variant, hands):
    """With other hidden tiles behind the same view, the same chance gives the same worlds, array by array."""
    engine = positions(variant)
    other = engine.select(np.arange(engine.num_games))
    other.resample_hidden(engine.seat_to_act, np.random.default_rng(11))
    assert not np.array_equal(engine.state.hand, other.state.hand)
    ours, theirs = (each.view().worlds(4, np.random.default_rng(5), hands(engine.rules)) for each in (engine, other))
    require_same_states(ours, theirs, np.arange(ours.num_games), "a world")


@pytest.mark.parametrize("variant", ALL)
def test_worlds_leave_the_games_as_they_are(variant):
    engine = positions(variant)
    before = frozen_arrays(engine)
    worlds = engine.view().worlds(2, np.random.default_rng(1))
    rng = np.random.default_rng(2)
    for _ in range(2000):
        if not (worlds.seat_to_act >= 0).any():
            break
        worlds.step(choose_actions(worlds, rng))
    assert not (worlds.seat_to_act >= 0).any()
    assert changed_array(engine, before) is None


def test_worlds_do_not_remember_what_was_drawn_or_answered_nor_which_deal_they_come_from():
    """The number of a game in its seed, and of its hand, with a seed that is known, are all tiles."""
    engine = positions("wuhan", num_hands=3)
    assert len(set(engine.state.stream.tolist())) > 1
    assert (engine.state.best_seat >= 0).any()
    worlds = engine.view().worlds(1, np.random.default_rng(0)).state
    places = np.arange(worlds.wall.shape[1])
    is_drawn = (places < worlds.front[:, None]) | (places >= places.size - worlds.back[:, None])
    assert (worlds.wall[is_drawn] == -1).all()
    assert (worlds.best_seat == -1).all()
    assert not worlds.stream.any()
    assert not worlds.hands_dealt.any()
    assert not np.isin(worlds.seed, engine.state.seed).any()


def test_hidden_tiles_are_everywhere_alike():
    """Tiles come to a hidden hand as often as they are among the unseen ones."""
    engine = positions("hebei", games=8, seed=3)
    game = int(np.flatnonzero(engine.state.phase == Phase.TURN)[0])
    view, count = engine.view(games=[game]), 4000
    worlds = view.worlds(count, np.random.default_rng(0))
    other = (int(engine.seat_to_act[game]) + 1) % 3
    hands = worlds.state.hand[:, other]
    size = int(hands[0].sum())
    expected = view.unseen[0] * size / view.unseen[0].sum()
    error = np.sqrt(np.maximum(expected, 0.01) / count)
    assert (abs(hands.mean(axis=0) - expected) < 5 * error).all()


def test_part_of_a_view_has_its_own_worlds():
    engine = positions("taiwan")
    view = engine.view().take(np.array([5, 2]))
    worlds = view.worlds(2, np.random.default_rng(0))
    assert worlds.seat_to_act.tolist() == np.repeat(engine.seat_to_act[[5, 2]], 2).tolist()
    assert view_differences(view.take(np.array([0, 0, 1, 1])), worlds.view()) == []


def test_a_view_that_is_out_of_date_says_so():
    engine = positions("hebei")
    view = engine.view()
    engine.step(choose_actions(engine, np.random.default_rng(0))[:1], games=[0])
    with pytest.raises(ViewError, match="row 0: the game has moved on"):
        view.worlds(1, np.random.default_rng(0))
    rest = view.take(np.arange(1, len(view)))
    assert rest.worlds(1, np.random.default_rng(0)).num_games == len(rest)
    for change in (
        lambda: engine.step(choose_actions(engine, np.random.default_rng(0))),
        engine.reset,
        lambda: engine.restore(engine.snapshot()),
        lambda: engine.resample_hidden(0, np.random.default_rng(0)),
    ):
        view = engine.view()
        change()
        with pytest.raises(ViewError, match="moved on"):
            view.worlds(1, np.random.default_rng(0))


def test_only_seats_to_act_have_worlds():
    engine = make_engine("hebei", 2, seed=0)
    idle = (engine.seat_to_act + 1) % 3
    with pytest.raises(ViewError, match="row 0: the seat is not to act"):
        engine.view(seats=idle).worlds(1, np.random.default_rng(0))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda view: pickle.loads(pickle.dumps(view))])
def test_copies_of_a_view_leave_the_games_behind(copied):
    view = make_engine("hebei", 2, seed=0).view()
    twin = copied(view)
    assert view_differences(view, twin) == []
    with pytest.raises(ViewError, match="lost its engine"):
        twin.worlds(1, np.random.default_rng(0))


@pytest.mark.parametrize("count", [10**9, 2**31, 2**62, 2**63 - 1, 2**64, 10**30])
def test_more_worlds_than_there_is_room_for(count):
    """Refused before an array is made: numpy itself ends the interpreter for some of these numbers."""
    view = make_engine("hebei", 4, seed=0).view()
    with pytest.raises(ViewError, match=f"{4 * count} games would take about"):
        view.worlds(count, np.random.default_rng(0))


def test_a_machine_whose_memory_is_full_says_so(monkeypatch):
    view = make_engine("hebei", 4, seed=0).view()

    def full(games):
        raise MemoryError

    monkeypatch.setattr(np, "repeat", lambda *arguments: full(arguments))
    with pytest.raises(ViewError, match="8 games do not fit into the free memory"):
        view.worlds(2, np.random.default_rng(0))


@pytest.mark.parametrize("opponent_hands", [5, "near", np.ones((1, 1, 1))])
def test_nearness_that_is_none(opponent_hands):
    with pytest.raises(ViewError, match="opponent_hands is an OpponentHands or None, not"):
        make_engine("hebei", 1, seed=0).view().worlds(1, np.random.default_rng(0), opponent_hands)


@pytest.mark.parametrize(
    "chances",
    [
        *([[[1.0]]], "near", None, np.array([[["a"]]]), np.ones((1, 1, 0)), np.ones((0, 1, 1))),
        *(np.ones((1, 1)), np.full((1, 1, 2), -0.5), np.full((1, 1, 2), 0.4)),
    ],
)
def test_chances_of_nearness_that_are_none(chances):
    with pytest.raises(ViewError, match="chances of opponent_hands"):
        OpponentHands(chances)


class Looks:
    """Plays the first legal action, and draws worlds whenever it is asked."""

    drawn = 0

    def act(self, view, rng):
        worlds = view.worlds(2, rng)
        assert worlds.num_games == 2 * len(view)
        assert np.array_equal(worlds.action_mask[::2], view.action_mask)
        self.drawn += 1
        return view.action_mask.argmax(axis=1)


def test_opponents_have_worlds():
    agent, agents = Looks(), [Looks(), Looks(), RandomAgent()]
    env = gymnasium.make("mahjong_env/Hebei-v0", opponents=agent)
    envs = gymnasium.make_vec("mahjong_env/Wuhan-v0", num_envs=6, opponents=agents)
    (_, info), (_, infos) = env.reset(seed=1), envs.reset(seed=1)
    for _ in range(10):
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
        _, _, _, _, infos = envs.step(infos["action_mask"].argmax(axis=1))
        if over:
            _, info = env.reset()
    assert min(looks.drawn for looks in (agent, *agents[:2])) > 5


@pytest.mark.parametrize("variant", ALL)
def test_hidden_hands_are_as_near_to_a_win_as_asked(variant):
    """Every hand that can be brought to two tiles short is; the position is the same, no tile is lost."""
    engine = positions(variant, games=12)
    chances = np.zeros((1, 1, 4))
    chances[..., 2] = 1
    view, state = engine.view(), engine.state
    worlds = view.worlds(2, np.random.default_rng(0), OpponentHands(chances))
    assert view_differences(view.take(np.repeat(np.arange(len(view)), 2)), worlds.view()) == []
    require_tiles(worlds)
    require_books(worlds)
    games, seats = np.arange(worlds.num_games), np.repeat(engine.seat_to_act, 2)
    rules, start = engine.rules, view.worlds(2, np.random.default_rng(0)).state
    for step in range(1, rules.seats):
        other = (seats + step) % rules.seats
        is_redrawn = (worlds.state.hand[games, other] != state.hand[games // 2, other]).any(axis=1)
        near = distances_of_hands(worlds.state, rules, games, other)[is_redrawn]
        assert (near <= distances_of_hands(start, rules, games, other)[is_redrawn]).all()
        assert (near <= 2).mean() > 0.9


def test_distances_are_drawn_as_often_as_their_chances_say():
    chances = np.array([[[0.2, 0.8, 0.0]], [[0.0, 0.0, 1.0]]])
    drawn = OpponentHands(chances).draw(np.repeat([0, 7], 4000), np.repeat(3, 8000), np.random.default_rng(0))
    np.testing.assert_allclose(np.bincount(drawn[:4000], minlength=3) / 4000, [0.2, 0.8, 0], atol=0.03)
    assert (drawn[4000:] == 2).all()


def test_whoever_may_rob_fuzhou_s_gold_is_asked_anew_when_hands_are_resampled():
    hands = ["", "333s 666s 222p 777p 45p 88p", "", "333m 666m 111p 999p 45p 88p"]
    engine = make_engine("fuzhou", 200, seed=6)
    engine.reset(deals=Deal(hands=hands, dealer=2, wild="6p"))
    assert (engine.seat_to_act == 3).all()
    engine.resample_hidden(3, np.random.default_rng(8))
    require_tiles(engine)
    require_books(engine)
    engine.step(np.full(200, PASS))
    # Seat 1 with another hand is seldom asked, and the dealer after it: if so, then rightly.
    asked = np.flatnonzero(engine.state.phase == Phase.OPENING)
    assert len(asked) < 100
    assert (engine.step(np.full(len(asked), WIN), asked).outcome.value > 0).all()


def test_who_sits_out_knows_no_hand():
    engine = make_engine("hebei", 50, seed=3, num_hands=4, rotation=True)
    assert (engine.state.person_at != 3).all()
    before = engine.state.hand.copy()
    engine.resample_hidden(3, np.random.default_rng(1))
    require_tiles(engine)
    require_books(engine)
    assert (engine.state.hand != before).any(axis=2).all()


@pytest.mark.parametrize(("seat", "is_known"), [(1, True), (0, False), (2, False)])
def test_a_seat_remembers_its_own_answer_alone(seat, is_known):
    """Seat 1 would rather have a pung than win; seat 2, who may win as well, is asked next and passes."""
    engine = make_engine("hebei", 20, seed=1)
    hands = ["5p 147m 258s 369s 1234z", "123m 456m 789s 55p 11z", "123m 456m 789s 46p 22z"]
    engine.reset(deals=Deal(hands=hands))
    for what in ("discard 5p", "pung"):
        engine.step(np.full(20, action(what)))
    assert (engine.seat_to_act == 2).all()
    engine.resample_hidden(seat, np.random.default_rng(0))
    require_books(engine)
    engine.step(np.full(20, PASS))
    assert (engine.state.num_melds[:, 1] == is_known).all()
