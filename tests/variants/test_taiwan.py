"""Taiwanese 16-tile: the best reading against a slow search, Eight Flowers, winds by dice, and whole matches."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

import mahjong_env
from mahjong_env.basics.notation import format_counts, format_tiles
from mahjong_env.testing import check_variant, count_all_tiles
from mahjong_env.testing.cases import SceneRunner
from oracle.taiwan_readings import EAST, Hand, divisions, priced_readings

MELD_TEXTS = {
    "chow": "chow {}@3",
    "pung": "pung {}@2",
    "exposed": "kong {}@2",
    "added": "kong {}+@2",
    "concealed": "kong {}",
}
IDLE = ["147m 258p 369s 1234567z 9m", "258m 369p 147s 1234567z", "369m 147p 258s 1234567z", "159m 159p 159s 1234567z"]


SEVEN = "F1 F2 F3 F4 S1 S2 S3"


def play(hands, script, **deal):
    """Play a scene; returns what it was played with."""
    runner = SceneRunner("taiwan", {"deal": {"hands": hands, **deal}})
    runner.run(script)
    return runner


# --- Random winning hands --------------------------------------------------------------------------------------------


def random_division(rng):
    """Five sets and a pair of at most four tiles of a kind, often crowded so that they can be read in several ways."""
    style = rng.choice(["crowded", "crowded", "one suit", "honours", "anything"])
    suit, low = 9 * rng.randrange(3), rng.randrange(5)
    kinds = {
        "crowded": [*range(suit + low, suit + low + 5)],
        "one suit": [*range(suit, suit + 9), *([*range(27, 34)] if rng.random() < 0.5 else [])],
        "honours": [*range(27, 34), suit + low],
        "anything": [*range(34)],
    }[style]
    runs = [kind for kind in kinds if kind < EAST and kind % 9 <= 6 and kind + 2 in kinds]
    few_triples = rng.random() < 0.6
    for _ in range(1000):
        parts = [("pair", rng.choice(kinds))]
        for _ in range(5):
            is_run = runs and rng.random() < (0.8 if few_triples else 0.3)
            parts.append(("run", rng.choice(runs)) if is_run else ("triple", rng.choice(kinds)))
        tiles = Counter(kind for part in parts for kind in part_tiles(part))
        if max(tiles.values()) <= 4:
            return parts, tiles
    return random_division(rng)


def part_tiles(part):
    word, kind = part
    return [kind, kind + 1, kind + 2] if word in ("run", "chow") else [kind] * (2 if word == "pair" else 3)


def random_hand(rng):
    """A random winning hand in a situation that can occur."""
    parts, tiles = random_division(rng)
    sets = parts[1:]
    rng.shuffle(sets)
    melds = []
    for word, kind in sets[: rng.choice([0, 0, 0, 1, 1, 2, 3, 4, 5])]:
        if word == "run":
            melds.append(("chow", kind))
        elif tiles[kind] == 3 and rng.random() < 0.6:
            tiles[kind] += 1
            melds.append((rng.choice(["exposed", "added", "concealed"]), kind))
        else:
            melds.append(("pung", kind))
    concealed = Counter(kind for part in [parts[0], *sets[len(melds) :]] for kind in part_tiles(part))
    source = rng.choice(["draw", "discard", "discard", "kong"])
    winning_tile = rng.choice(sorted(concealed))
    if source == "kong":  # three others lie in the konger's pung
        alone = [kind for kind in concealed if tiles[kind] == 1]
        source, winning_tile = ("kong", rng.choice(alone)) if alone else ("discard", winning_tile)
    hand = Hand(concealed, winning_tile, melds, source)
    hand.flowers = set(rng.sample([f"{letter}{n}" for letter in "FS" for n in "1234"], rng.choice([0, 0, 1, 2, 5, 8])))
    hand.round_wind, hand.house_wind = rng.randrange(27, 31), rng.randrange(27, 31)
    hand.is_dealer = rng.random() < 0.3
    if source == "draw":
        kongs = sum(word in ("exposed", "added", "concealed") for word, _ in melds)
        hand.kong_draws = rng.choice([0, 0, kongs])
        hand.flower_draw = bool(hand.flowers) and rng.random() < 0.3
        hand.last_tile = rng.random() < 0.2
        hand.first_draw = not melds and rng.random() < 0.2
    return hand


def described(hand, rng):
    """The arguments of `score` for a hand of seat 0."""
    before = np.zeros(34, int)
    for kind, count in hand.concealed.items():
        before[kind] = count
    before[hand.winning_tile] -= 1
    melds = []
    for word, kind in hand.melds:
        tiles = [kind, kind + 1, kind + 2] if word == "chow" else [kind] * (3 if word == "pung" else 4)
        melds.append(MELD_TEXTS[word].format(format_tiles(tiles)))
    return {
        "hand": format_counts(before),
        "melds": melds,
        "winning_tile": format_tiles([hand.winning_tile]),
        "source": hand.source,
        "from_seat": None if hand.source == "draw" else rng.randrange(1, 4),
        "dealer": 0 if hand.is_dealer else rng.randrange(1, 4),
        "dealer_streak": rng.randrange(4),
        "flowers": " ".join(sorted(hand.flowers)),
        "kong_draws": hand.kong_draws,
        "flower_draw": hand.flower_draw,
        "last_tile": hand.last_tile,
        "first_draw": hand.first_draw,
        "round_wind": format_tiles([hand.round_wind]),
        "house_wind": format_tiles([hand.house_wind]),
    }


def expected_payments(told, tai):
    """taiwan.md#the-dealers-tai and taiwan.md#who-pays with base 3 and unit 1."""
    payments = [0, 0, 0, 0]
    for payer in [1, 2, 3] if told["from_seat"] is None else [told["from_seat"]]:
        dealers = 1 + 2 * told["dealer_streak"] if told["dealer"] in (0, payer) else 0
        payments[payer] -= 3 + tai + dealers
        payments[0] += 3 + tai + dealers
    return tuple(payments)


def compare_with_slow_search(hands, seed):
    """Score random hands both ways; returns how many had readings of different worth."""
    rng = random.Random(seed)
    matters = 0
    for _ in range(hands):
        hand = random_hand(rng)
        told = described(hand, rng)
        knobs = {"strict_peaceful": rng.random() < 0.2}
        readings = priced_readings(hand, **knobs)
        worth = [sum(tai for _, tai in rows) for rows in readings]
        best = [rows for rows, tai in zip(readings, worth, strict=True) if tai == max(worth)]
        verdict = mahjong_env.score("taiwan", **told, **knobs)
        assert verdict.legal, told
        assert verdict.points == max(worth), (told, verdict, best)
        assert sorted(verdict.rows) in best, (told, verdict, best)
        assert verdict.payments == expected_payments(told, max(worth)), (told, verdict)
        matters += len(set(worth)) > 1
    return matters


@pytest.mark.thorough
def test_best_reading_is_that_of_an_exhaustive_search():
    assert compare_with_slow_search(1000, seed=1) > 50


@pytest.mark.slow
def test_best_reading_is_that_of_an_exhaustive_search_at_length():
    assert compare_with_slow_search(20_000, seed=2) > 1000


def test_incomplete_hands_are_refused():
    """A winning hand with one tile exchanged wins if and only if the slow search can divide it."""
    rng = random.Random(3)
    refused = 0
    for _ in range(300):
        hand = random_hand(rng)
        hand.melds, hand.source, hand.first_draw, hand.kong_draws = [], "discard", False, 0
        _, hand.concealed = random_division(rng)
        out, into = rng.choice(sorted(hand.concealed)), rng.randrange(34)
        hand.concealed = hand.concealed - Counter([out]) + Counter([into])
        if hand.concealed[into] > 4:
            continue
        hand.winning_tile = into
        told = described(hand, rng) | {"flower_draw": False, "last_tile": False}
        verdict = mahjong_env.score("taiwan", **told)
        assert verdict.legal == (next(divisions(hand.concealed, 5), None) is not None), told
        refused += not verdict.legal
    assert refused > 100


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


def test_in_the_opening_too():
    hands = [IDLE[0], IDLE[1], f"369m 147p 25s {SEVEN} S4", IDLE[3]]
    runner = play(hands, "2 win", replacements="1z 2z 3z 4z 5z 6z 7z 8s")
    assert (runner.outcome.source[0], runner.outcome.tile[0], runner.outcome.rows[0]) == (
        "flowers",
        -1,
        [("Eight Flowers", 8)],
    )


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


def test_seven_flowers_win_nothing():
    verdict = mahjong_env.score("taiwan", hand="147m 258p 369s 1234567z", source="flowers", flowers=SEVEN)
    assert not verdict.legal
    assert "eight flowers" in verdict.reason
    assert verdict.payments == (0, 0, 0, 0)


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


# --- Whole matches ---------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("knobs", [{}, {"add_discard_to_pung": False, "dead_tiles": 0, "dealer_is_east": True}])
def test_conformance(knobs):
    check_variant("taiwan", games=16, seed=4, **knobs)


def test_random_matches_to_the_end():
    """Tiles are conserved, payments sum to zero, somebody can act, the dealer's streak and winds stay in range."""
    engine = mahjong_env.make_engine("taiwan", 64, seed=11, num_hands=6, start="random")
    rng = np.random.default_rng(11)
    hands, steps = np.zeros(64, int), 0
    while (engine.seat_to_act >= 0).any():
        live = engine.seat_to_act >= 0
        assert engine.action_mask.any(axis=1)[live].all()
        noise = rng.random(engine.action_mask.shape)
        result = engine.step(np.where(engine.action_mask, noise, -1).argmax(axis=1))
        assert not result.rewards.sum(axis=1).any()
        hands[result.hand_over] += 1
        state = engine.state
        assert np.isin(state.marks, (0, 1)).all()
        np.testing.assert_array_equal(np.sort(state.house_wind, axis=1), np.broadcast_to(np.arange(4), (64, 4)))
        if steps % 25 == 0:
            still = engine.seat_to_act >= 0
            np.testing.assert_array_equal(
                count_all_tiles(engine)[still], np.broadcast_to(engine.rules.deck, (still.sum(), 42))
            )
            assert (state.left(np.arange(64))[still] >= 0).all()
        steps += 1
        assert steps < 3000
    assert (hands == 6).all()
