"""Taiwanese 16-tile: Eight Flowers, winds by dice."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import mahjong_env
from mahjong_env.testing.cases import SceneRunner

IDLE = ["147m 258p 369s 1234567z 9m", "258m 369p 147s 1234567z", "369m 147p 258s 1234567z", "159m 159p 159s 1234567z"]


SEVEN = "F1 F2 F3 F4 S1 S2 S3"


def play(hands, script, **deal):
    """Play a scene; returns what it was played with."""
    runner = SceneRunner("taiwan", {"deal": {"hands": hands, **deal}})
    runner.run(script)
    return runner


# --- Winds, rounds, wall ---------------------------------------------------------------------------------------------


def test_three_dice_count_from_the_dealer_as_one():
    """The worked example: a seven makes the player across the dealer East House, the dealer West House.

    taiwan.md#house-winds.
    """
    state = mahjong_env.make_engine("taiwan", 4096, seed=5).state
    games = np.arange(4096)
    assert set(state.dice.tolist()) == set(range(3, 19))
    east = (state.dealer + state.dice - 1) % 4
    for wind in range(4):
        np.testing.assert_array_equal(state.house_wind[games, (east + wind) % 4], wind)
    seven = state.dice == 7
    assert (state.house_wind[games, state.dealer][seven] == 2).all()
    assert (state.house_wind[games, (state.dealer + 2) % 4][seven] == 0).all()
    ways = Counter(a + b + c for a in range(1, 7) for b in range(1, 7) for c in range(1, 7))
    thrown = np.bincount(state.dice, minlength=19)
    for total, number in ways.items():
        expected = 4096 * number / 216
        assert abs(thrown[total] - expected) < 5 * expected**0.5


def test_dealer_is_east_throws_no_dice():
    state = mahjong_env.make_engine("taiwan", 64, seed=5, dealer_is_east=True).state
    assert not state.dice.any()
    np.testing.assert_array_equal(state.house_wind, (np.arange(4) - state.dealer[:, None]) % 4)


def test_a_round_ends_when_all_four_have_lost_the_deal():
    """The deal passes from winner to winner, the round wind follows every fourth time and comes round again.

    taiwan.md#the-round-wind.
    """
    engine = mahjong_env.make_engine("taiwan", 1, seed=5, num_hands=100, start="first")
    state, rules, game = engine.state, engine.rules, np.array([0])
    first = int(state.dealer[0])
    for lost in range(1, 21):
        rules.succeed(state, game, state.dealer[game])
        rules.succeed(state, game, np.array([-1], np.int8))
        assert state.streak[0] == 2
        rules.succeed(state, game, (state.dealer[game] + 2) % 4)
        assert (int(state.dealer[0]), int(state.streak[0])) == ((first + lost) % 4, 0)
        assert int(state.round_wind[0]) == lost // 4 % 4


@pytest.mark.parametrize("dead_tiles", [-1, 72, 16.0, True])
def test_dead_tiles_must_be_there(dead_tiles):
    with pytest.raises(ValueError, match=r"dead_tiles.*0"):
        mahjong_env.rules("taiwan", dead_tiles=dead_tiles)


def test_every_opening_flower_costs_a_drawable_tile():
    """taiwan.md#the-dead-tiles: with 71 dead tiles the eight that are left are what the flowers may need."""
    state = mahjong_env.make_engine("taiwan", 256, seed=1, dead_tiles=71).state
    exposed = state.flowers.sum(axis=(1, 2))
    assert len(np.unique(exposed)) > 4
    np.testing.assert_array_equal(state.left(np.arange(256)), 8 - exposed)


# --- Jia gang from a discard -----------------------------------------------------------------------------------------


def test_nobody_adds_his_own_discard_to_his_pung():
    """Seat 1 discards the fourth tile of its own pung: nobody is asked, and the added kong stays possible before."""
    hands = [
        "147m 258p 369s 1234567z 5s",
        "258m 369p 1s 55s 1234567z",
        "369m 147p 289s 1234567z",
        "159m 159p 278s 1234567z",
    ]
    script = """
        0 discard 5s
        1 pung
        1 discard 7z
        2 discard 8m
        3 discard 9m
        0 discard 8p
        1 may added kong 5s, discard 5s
        1 discard 5s
        2 may not pass
    """
    play(hands, script, draws="8m 9m 8p 5s 2m")


# --- Eight Flowers ---------------------------------------------------------------------------------------------------


def test_a_win_by_flowers_has_no_tile_and_says_so():
    hands = [IDLE[0], f"258m 369p 147s {SEVEN}", IDLE[2], IDLE[3]]
    runner = play(hands, "0 discard 9m\n1 win", draws="S4", replacements="1z 2z 3z 4z 5z 6z 7z 8m")
    outcome = runner.outcome
    assert (outcome.source[0], outcome.tile[0], outcome.from_seat[0], outcome.value[0]) == ("flowers", -1, -1, 8)


def test_a_complete_hand_that_is_worth_more_counts_instead():
    """The replacement of the eighth flower completes the hand: 2 + 2 + 2 flowers, 3, Blossom, No Characters, Earth."""
    hands = [IDLE[0], f"234m 456m 345p {SEVEN}", IDLE[2], IDLE[3]]
    runner = play(
        hands,
        """
        0 discard 9m
        1 win
        rows Earth 16, Gang Blossom 1, Own Flower 1, Own Flower 1, Four Flowers 2, Four Seasons 2, No Characters 1
        rewards -28 82 -27 -27
        """,
        draws="S4",
        replacements="6s 7s 8s 9p 9p 6s 7s 8s",
        house_winds="4z 1z 2z 3z",
    )
    assert (runner.outcome.source[0], runner.outcome.tile[0]) == ("draw", 25)


def test_the_dealers_seventeenth_tile_may_be_the_eighth_flower():
    """It is asked in his turn, not in the opening: the replacement might complete the hand."""
    hands = [f"147m 258p 369s {SEVEN} S4", *IDLE[1:]]
    play(
        hands,
        """
        0 may win, discard 1m
        0 may not pass
        0 win
        rows Eight Flowers 8
        rewards 36 -12 -12 -12
        """,
        replacements="1z 2z 3z 4z 5z 6z 7z 9m",
    )


def test_a_hidden_gang_does_not_end_the_turn_of_the_eighth_flower():
    """Passed over for a gang, it may still be said before the discard, and no more after it."""
    hands = [IDLE[0], f"1111p 258m 47s {SEVEN}", "369m 479p 258s 1234567z", "159m 259p 159s 1234567z"]
    script = """
        0 discard 9m
        1 concealed kong 1p
        1 may win
        1 discard 3m
        2 discard 2p
        3 discard 2p
        0 discard 7m
        1 may not win
    """
    play(hands, script, draws="S4 2p 2p 7m 8m", replacements="1z 2z 3z 4z 5z 6z 7z 8s 3m")


# --- What contradicts itself -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "word"),
    [
        ({"first_draw": True, "melds": ["kong 1111p"], "hand": "456m 345p 678s 99p 67s"}, "first_draw"),
        ({"first_draw": True, "other_melds": {2: ["pung 111z@1"]}}, "first_draw"),
        ({"flower_draw": True}, "flower_draw"),
        ({"flowers": "F1 F1"}, "F1"),
        ({"wild": "1m"}, "wild"),
        ({"kong_draws": 1}, "kong_draws"),
        ({"hand": "234m 456m 345p 678s 99p 67s 5z"}, "17 tiles"),
    ],
)
def test_contradictions_are_refused(told, word):
    usual = {"hand": "234m 456m 345p 678s 99p 67s", "winning_tile": "8s", "source": "draw"}
    assert mahjong_env.score("taiwan", **usual).legal
    with pytest.raises(ValueError, match=word):
        mahjong_env.score("taiwan", **usual | told)
