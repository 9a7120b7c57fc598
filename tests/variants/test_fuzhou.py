"""Fuzhou: golds against a slow search, the opening questions, and whole matches.

The search lays physical tiles out as sets and a pair in every way, a gold in any place of any of them. It knows
nothing of the engine's tables: it must find the same payouts.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from random import Random

import numpy as np
import pytest

import mahjong_env
from mahjong_env.basics.notation import format_tiles, parse_tiles
from mahjong_env.basics.tiles import NO_TILE
from mahjong_env.scoring.wins import Source, wins_from_state
from mahjong_env.state.arrays import DISCARDED, MELDED, Phase

FUZHOU = mahjong_env.VARIANTS["fuzhou"]
WIN, PASS = mahjong_env.action("win"), mahjong_env.action("pass")
FLOWER_TILES = [kind for kind in range(27, 34) for _ in range(4)] + list(range(34, 42))


# --- The slow search -----------------------------------------------------------------------------------------------


@lru_cache(maxsize=50_000)
def layouts(tiles: tuple[int, ...], golds: int, sets: int, pairs: int) -> frozenset[tuple[bool, bool, bool]]:
    """All ways to use up tiles (sorted kinds) and golds: (some set is no run, pair of two golds, triplet of three)."""
    if len(tiles) + golds != 3 * sets + 2 * pairs or min(sets, pairs, golds) < 0:
        return frozenset()
    found = set()
    if not tiles:
        if golds == 0:
            return frozenset({(False, False, False)})
        found |= {(triplet, True, dragon) for triplet, _, dragon in layouts((), golds - 2, sets, pairs - 1)}
        for _, pair, dragon in layouts((), golds - 3, sets - 1, pairs):
            found |= {(True, pair, True), (False, pair, dragon)}
        return frozenset(found)
    first = tiles[0]
    for held in range(1, tiles.count(first) + 1):
        rest = tiles[held:]
        if held <= 2:
            found |= layouts(rest, golds - (2 - held), sets, pairs - 1)
        if held <= 3:
            found |= {(True, *other) for _, *other in layouts(rest, golds - (3 - held), sets - 1, pairs)}
    for low in range(max(first - 2, first // 9 * 9), min(first, first // 9 * 9 + 6) + 1):
        for held in product((False, True), repeat=3):
            used = [low + step for step in range(3) if held[step]]
            if first in used and all(kind in tiles for kind in used):
                found |= layouts(without(tiles, used), golds - (3 - len(used)), sets - 1, pairs)
    return frozenset(found)


def without(tiles: tuple[int, ...], used: list[int]) -> tuple[int, ...]:
    rest = list(tiles)
    for kind in used:
        rest.remove(kind)
    return tuple(rest)


def slow_payout(hand: dict, knobs: dict) -> int | None:
    """The best payout of a hand of `random_hand` by fuzhou.md#what-a-hand-is-worth; None if it is not complete."""
    gold, concealed, melds = hand["gold"], hand["concealed"], hand["melds"]
    golds = concealed.count(gold)
    natural = sorted(kind for kind in concealed if kind != gold)
    free = golds
    if hand["robbing_gold"]:
        natural, free = sorted([*natural, gold]), golds - 1
    found = layouts(tuple(natural), free, 5 - len(melds), 1)
    if not found:
        return None
    flowers = hand["flowers"]
    full_sets = sum(flowers.count(kind) == 4 for kind in range(27, 34))
    full_sets += {34, 35, 36, 37} <= set(flowers)
    full_sets += {38, 39, 40, 41} <= set(flowers)
    is_dealer = hand["dealer"] == 0
    bracket = 5 + len(flowers) + golds + full_sets * (2 if knobs.get("full_bloom") == "total" else 6)
    bracket += hand["dealer_streak"] if is_dealer else 0
    bracket += sum(1 if "@" in meld else knobs.get("concealed_kong", 2) for meld in melds if meld.startswith("kong"))
    others = [15] * (len(flowers) == 1) + [50] * hand["robbing_gold"]
    others += [50 if is_dealer else 40] * hand["first_draw"]
    special = 0
    for triplet, pair, dragon in found:
        runs = not triplet and all(meld.startswith("chow") for meld in melds)
        mine = others + [knobs.get("all_sequences", 10)] * runs
        starred = max(20 * pair, 30 * (golds >= 3), 40 * dragon)
        together = max if knobs.get("specials") == "highest" else sum
        special = max(special, starred, together(mine, default=0) if together is max else sum(mine))
    return 2 * bracket + special


def random_hand(rng: Random, golds: int, *, robbing: bool = False) -> dict:
    """Five sets and a pair with some tiles replaced by golds; if robbing, one gold is the tile turned up."""
    while True:
        sets = [random_set(rng) for _ in range(5)]
        hidden = sets[: rng.choice((5, 5, 4, 3, 1, 0))]
        concealed = [kind for one in hidden for kind in one] + [rng.randrange(27)] * 2
        gold = rng.choice((rng.choice(concealed), rng.randrange(27)))
        rng.shuffle(concealed)
        for place in range(len(concealed)):
            if concealed.count(gold) < golds:
                concealed[place] = gold
        melds = [describe_meld(rng, one) for one in sets[len(hidden) :]]
        every = concealed + melded_tiles(melds)
        if concealed.count(gold) == golds == every.count(gold) and all(every.count(kind) <= 4 for kind in every):
            break
    rng.shuffle(concealed)
    return {
        "gold": gold,
        "concealed": concealed,
        "melds": melds,
        "flowers": rng.sample(FLOWER_TILES, rng.choice((0, 1, 1, 2, 5, 30))),
        "dealer": rng.randrange(2),
        "dealer_streak": rng.randrange(3),
        "first_draw": not robbing and not melds and rng.random() < 0.2,
        "robbing_gold": robbing,
    }


def random_set(rng: Random) -> tuple[int, ...]:
    if rng.random() < 0.7:
        low = rng.randrange(3) * 9 + rng.randrange(7)
        return low, low + 1, low + 2
    return (rng.randrange(27),) * 3


def describe_meld(rng: Random, tiles: tuple[int, ...]) -> str:
    if tiles[0] != tiles[1]:
        return f"chow {format_tiles(tiles)}@3"
    four = format_tiles(tiles[:1] * 4)
    return rng.choice((f"pung {format_tiles(tiles)}@2", f"kong {four}@1", f"kong {four}+@2", f"kong {four}"))


def melded_tiles(melds: list[str]) -> list[int]:
    return [kind for text in melds for kind in parse_tiles(text.split("@")[0].split()[1].strip("+"))]


def score_of(hand: dict, knobs: dict) -> int | None:
    """What `score` says about a hand of `random_hand`; None if it may not win."""
    tiles = list(hand["concealed"])
    winning = hand["gold"] if hand["robbing_gold"] else tiles[-1]
    tiles.remove(winning)
    result = mahjong_env.score(
        "fuzhou",
        format_tiles(tiles),
        winning_tile=format_tiles([winning]),
        melds=hand["melds"],
        source="draw",
        dealer=hand["dealer"],
        dealer_streak=hand["dealer_streak"],
        wild=format_tiles([hand["gold"]]),
        flowers=" ".join(format_tiles([kind]) for kind in hand["flowers"]),
        first_draw=hand["first_draw"],
        robbing_gold=hand["robbing_gold"],
        **knobs,
    )
    assert sum(result.payments) == 0
    assert result.payments[0] == 3 * result.points
    return result.points if result.legal else None


KNOBS = (
    {},
    {"specials": "highest"},
    {"all_sequences": 15, "full_bloom": "total", "concealed_kong": 1},
    {"specials": "highest", "all_sequences": 15},
)


def compare(golds: int, number: int, *, robbing: bool = False) -> None:
    """Random hands, as they are and with one tile changed."""
    rng = Random(golds + 10 * robbing)
    complete = 0
    for turn in range(number):
        hand, knobs = random_hand(rng, golds, robbing=robbing), KNOBS[turn % len(KNOBS)]
        payout = slow_payout(hand, knobs)
        assert score_of(hand, knobs) == payout, hand
        complete += payout is not None
        natural = [place for place, kind in enumerate(hand["concealed"]) if kind != hand["gold"]]
        if natural:
            hand["concealed"][rng.choice(natural)] = rng.choice([k for k in range(27) if k != hand["gold"]])
            every = hand["concealed"] + melded_tiles(hand["melds"])
            if all(every.count(kind) <= 4 for kind in every):
                assert score_of(hand, knobs) == slow_payout(hand, knobs), hand
    # A robbed gold replaces a tile that it need not fit.
    assert complete > number // 3 if robbing else complete == number


@pytest.mark.thorough
@pytest.mark.parametrize(("golds", "number"), [(0, 300), (1, 700), (2, 300), (3, 300)])
def test_golds_are_read_for_the_highest_payout(golds, number):
    compare(golds, number)


@pytest.mark.parametrize(("golds", "number"), [(1, 300), (2, 300), (3, 300), (4, 100)])
def test_a_robbed_gold_is_itself_and_the_others_are_wild(golds, number):
    compare(golds, number, robbing=True)


@pytest.mark.slow
@pytest.mark.parametrize("robbing", [False, True])
@pytest.mark.parametrize(("golds", "number"), [(1, 20000), (2, 4000), (3, 1000)])
def test_golds_are_read_for_the_highest_payout_at_length(golds, number, robbing):
    compare(golds, number, robbing=robbing)


# --- Robbing the gold ------------------------------------------------------------------------------------------------


def near_complete(rng: Random, gold: int) -> list[int]:
    """17 tiles, one or two of which are wrong."""
    while True:
        tiles = [kind for _ in range(5) for kind in random_set(rng)] + [rng.randrange(27)] * 2
        rng.shuffle(tiles)
        for place in range(rng.randrange(3)):
            tiles[place] = rng.choice((gold, rng.randrange(27)))
        tiles[-1] = rng.randrange(27)
        if all(tiles.count(kind) <= 4 - (kind == gold) for kind in tiles):
            return tiles


def opening(hand: dict, **situation: bool) -> dict:
    return {"flowers": [], "melds": [], "dealer": 0, "dealer_streak": 0, "first_draw": False, **hand, **situation}


@pytest.mark.parametrize("number", [400, pytest.param(5000, marks=pytest.mark.slow)])
def test_the_dealer_gives_up_the_tile_that_leaves_him_most(number):
    rng = Random(5)
    golds = [rng.randrange(27) for _ in range(number)]
    hands = [near_complete(rng, gold) for gold in golds]
    best = []
    for gold, tiles in zip(golds, hands, strict=True):
        swapped = [[*without(tuple(tiles), [given]), gold] for given in set(tiles)]
        payouts = [slow_payout(opening({"gold": gold, "concealed": one}, robbing_gold=True), {}) for one in swapped]
        best.append(max((payout for payout in payouts if payout is not None), default=None))
    assert sum(payout is not None for payout in best) > number // 20

    deals = [
        mahjong_env.Deal(hands=[format_tiles(tiles)], wild=format_tiles([gold]))
        for tiles, gold in zip(hands, golds, strict=True)
    ]
    engine = mahjong_env.make_engine("fuzhou", number, seed=3)
    engine.reset(deals=deals)
    state = engine.state
    # Heaven and the other seats' robberies are passed: what remains is the swap, where there is one.
    while (others := (state.phase == Phase.OPENING) & ~((state.stage == 1) & (state.actor == 0))).any():
        engine.step(np.full(others.sum(), PASS), np.flatnonzero(others))
    asked = state.phase == Phase.OPENING
    assert asked.tolist() == [payout is not None for payout in best]
    result = engine.step(np.full(asked.sum(), WIN), np.flatnonzero(asked))
    assert result.rewards[:, 0].tolist() == [3 * payout for payout in best if payout is not None]
    assert_conserved(engine)
    robbed = np.flatnonzero(asked)
    assert (state.hand[robbed, 0].sum(axis=1) == 17).all()
    assert (state.wild == golds).all()
    assert (state.indicator[robbed] != NO_TILE).all()
    assert not state.public[robbed][:, :, DISCARDED].any()


@pytest.mark.parametrize("number", [400, pytest.param(5000, marks=pytest.mark.slow)])
def test_who_waits_for_the_gold_itself_may_rob_it(number):
    rng = Random(6)
    golds = [rng.randrange(27) for _ in range(number)]
    hands = [near_complete(rng, gold)[:16] for gold in golds]
    payouts = [
        slow_payout(opening({"gold": gold, "concealed": [*tiles, gold]}, robbing_gold=True, dealer=1), {})
        for gold, tiles in zip(golds, hands, strict=True)
    ]
    deals = [
        mahjong_env.Deal(hands=["", format_tiles(tiles)], wild=format_tiles([gold]), dealer=0)
        for tiles, gold in zip(hands, golds, strict=True)
    ]
    engine = mahjong_env.make_engine("fuzhou", number, seed=4)
    engine.reset(deals=deals)
    heaven = (engine.state.phase == Phase.OPENING) & (engine.state.stage == 0)
    engine.step(np.full(heaven.sum(), PASS), np.flatnonzero(heaven))
    # Seat 1 sits to the dealer's right: it is the first to be asked.
    asked = (engine.state.phase == Phase.OPENING) & (engine.state.actor == 1)
    assert asked.tolist() == [payout is not None for payout in payouts]
    assert asked.sum() > number // 100
    assert (engine.view(np.flatnonzero(asked)).drawn == NO_TILE).all()  # the dealer's draw is not for others
    result = engine.step(np.full(asked.sum(), WIN), np.flatnonzero(asked))
    robbed = np.flatnonzero(asked)
    flowers = engine.state.flowers[robbed, 1].sum(axis=1)
    plain = [payout for payout in payouts if payout is not None]
    expected = np.array(plain) + 2 * flowers + 15 * (flowers == 1) + 12 * full_sets(engine.state.flowers[robbed, 1])
    assert result.rewards[:, 1].tolist() == (3 * expected).tolist()
    assert (engine.state.indicator[robbed] == NO_TILE).all()
    assert_conserved(engine)


def test_other_robbers_are_found_anew_when_their_hands_are_resampled():
    hands = ["", "333s 666s 222p 777p 45p 88p", "", "333m 666m 111p 999p 45p 88p"]
    engine = mahjong_env.make_engine("fuzhou", 200, seed=6)
    engine.reset(deals=mahjong_env.Deal(hands=hands, dealer=2, wild="6p"))
    assert (engine.seat_to_act == 3).all()
    engine.resample_hidden(3, np.random.default_rng(8))
    state = engine.state
    assert (state.hand[np.arange(200), 2, state.drawn] > 0).all()
    assert not state.hand[:, :, FUZHOU.flower_kinds[:34]].any()
    assert_conserved(engine)
    engine.step(np.full(200, PASS))
    # Seat 1 with another hand is seldom asked, and the dealer after it: if so, then rightly.
    asked = np.flatnonzero(state.phase == Phase.OPENING)
    assert len(asked) < 100
    assert (engine.step(np.full(len(asked), WIN), asked).outcome.value > 0).all()


def full_sets(flowers: np.ndarray) -> np.ndarray:
    four_alike = (flowers[:, 27:34] == 4).sum(axis=1)
    return four_alike + flowers[:, 34:38].all(axis=1) + flowers[:, 38:42].all(axis=1)


# --- Whole games ---------------------------------------------------------------------------------------------------


def assert_conserved(engine: mahjong_env.Engine) -> None:
    """Every tile of the set lies somewhere."""
    state = engine.state
    there = state.flowers.sum(axis=1)
    there[:, :34] += state.hand.sum(axis=1) + state.public[:, :, (DISCARDED, MELDED)].sum(axis=(1, 2))
    place = np.arange(state.wall.shape[1])
    game, where = np.nonzero((place >= state.front[:, None]) & (place < (len(place) - state.back)[:, None]))
    np.add.at(there, (game, state.wall[game, where]), 1)
    turned = np.flatnonzero(state.indicator >= 0)
    there[turned, state.indicator[turned]] += 1
    robbed = np.flatnonzero(state.phase == Phase.ROB)
    there[robbed, state.offered[robbed]] += 1
    assert (there == FUZHOU.deck).all()


@pytest.mark.parametrize("knobs", [{}, {"rob_kong": True, "dealer_on_draw": "stay", "discard_payers": "all"}])
def test_whole_matches(knobs):
    engine = mahjong_env.make_engine("fuzhou", 64, seed=11, num_hands=6, **knobs)
    rng = np.random.default_rng(1)
    ends = wins = 0
    paid = np.zeros((64, 4), np.int64)
    for _ in range(6 * 64 * 4):
        live = engine.seat_to_act >= 0
        if not live.any():
            break
        mask = engine.action_mask
        assert mask.any(axis=1).tolist() == live.tolist()
        wanted = rng.random(mask.shape) + 3.0 * (np.arange(mask.shape[1]) >= 34)  # claims, kongs and wins above all
        wanted[:, PASS] = 0.5
        result = engine.step(np.where(mask, wanted, -1).argmax(axis=1))
        assert not result.rewards.sum(axis=1).any()
        paid += result.rewards
        ends += len(result.outcome)
        wins += int((result.outcome.winner >= 0).sum())
        if not knobs:
            assert_conserved(engine)
    assert not live.any()
    assert ends == 6 * 64
    assert wins > ends // 10
    assert (engine.points == paid + 50).all()


def test_whether_a_hand_may_win_needs_no_prices():
    engine = mahjong_env.make_engine("fuzhou", 256, seed=2)
    rng = np.random.default_rng(2)
    legal = 0
    for _ in range(30):
        game, seat, kind = (part.ravel() for part in np.indices((256, 4, 27)))
        live = engine.state.is_tenpai[game, seat] & (engine.seat_to_act[game] >= 0) & (seat != engine.state.turn[game])
        game, seat, kind = game[live], seat[live].astype(np.int8), kind[live].astype(np.int8)
        for source in (Source.DISCARD, Source.ROBBED_KONG):
            wins = wins_from_state(engine.state, engine.state.seats(game, seat), kind, source, engine.state.turn[game])
            wins = wins.take(FUZHOU.complete(wins))
            assert (FUZHOU.legal(wins) == FUZHOU.score(wins).legal).all()
            legal += int(FUZHOU.legal(wins).sum())
        mask = engine.action_mask
        engine.step(np.where(mask, rng.random(mask.shape), -1).argmax(axis=1))
    assert legal > 0
