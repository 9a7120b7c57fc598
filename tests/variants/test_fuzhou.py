"""Fuzhou: golds and the opening questions beside the referee, which lays tiles out in every way."""

from __future__ import annotations

from random import Random

import numpy as np

import mahjong_env
from mahjong_env.basics.notation import format_tiles
from mahjong_env.basics.tiles import NO_TILE
from mahjong_env.state.arrays import DISCARDED, Phase
from mahjong_env.testing import count_all_tiles
from oracle import referee

FUZHOU = mahjong_env.VARIANTS["fuzhou"]
WIN, PASS = mahjong_env.action("win"), mahjong_env.action("pass")


def random_set(rng: Random) -> list[int]:
    if rng.random() < 0.7:
        low = rng.randrange(3) * 9 + rng.randrange(7)
        return [low, low + 1, low + 2]
    return [rng.randrange(27)] * 3


def robbed(tiles: list[int], gold: int, dealer: int) -> int | None:
    """The referee's payout for 16 tiles and the gold that is turned up; None where that is no complete hand."""
    told = {"hand": format_tiles(tiles), "winning_tile": format_tiles([gold]), "wild": format_tiles([gold])}
    result = referee.score("fuzhou", **told, source="draw", dealer=dealer, robbing_gold=True)
    return result.points if result.legal else None


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


def without(tiles: list[int], kind: int) -> list[int]:
    place = tiles.index(kind)
    return tiles[:place] + tiles[place + 1 :]


def assert_conserved(engine: mahjong_env.Engine) -> None:
    assert (count_all_tiles(engine) == FUZHOU.deck).all()


def test_the_dealer_gives_up_the_tile_that_leaves_him_most():
    rng, number = Random(5), 150
    golds = [rng.randrange(27) for _ in range(number)]
    hands = [near_complete(rng, gold) for gold in golds]
    best = []
    for gold, tiles in zip(golds, hands, strict=True):
        payouts = [robbed(without(tiles, given), gold, 0) for given in set(tiles)]
        best.append(max((payout for payout in payouts if payout is not None), default=None))
    assert sum(payout is not None for payout in best) > number // 20

    engine = mahjong_env.make_engine("fuzhou", number, seed=3)
    engine.reset(
        deals=[
            mahjong_env.Deal(hands=[format_tiles(tiles)], wild=format_tiles([gold]))
            for tiles, gold in zip(hands, golds, strict=True)
        ]
    )
    state = engine.state
    # Heaven and the other seats' robberies are passed: what remains is the swap, where there is one.
    while (others := (state.phase == Phase.OPENING) & ~((state.stage == 1) & (state.actor == 0))).any():
        engine.step(np.full(others.sum(), PASS), np.flatnonzero(others))
    asked = state.phase == Phase.OPENING
    assert asked.tolist() == [payout is not None for payout in best]
    result = engine.step(np.full(asked.sum(), WIN), np.flatnonzero(asked))
    assert result.rewards[:, 0].tolist() == [3 * payout for payout in best if payout is not None]
    swapped = np.flatnonzero(asked)
    assert (state.hand[swapped, 0].sum(axis=1) == 17).all()
    assert (state.wild == golds).all()
    assert (state.indicator[swapped] != NO_TILE).all()
    assert not state.public[swapped][:, :, DISCARDED].any()
    assert_conserved(engine)


def test_who_waits_for_the_gold_itself_may_rob_it():
    rng, number = Random(6), 300
    golds = [rng.randrange(27) for _ in range(number)]
    hands = [near_complete(rng, gold)[:16] for gold in golds]
    payouts = [robbed(tiles, gold, 1) for gold, tiles in zip(golds, hands, strict=True)]
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
    laid = engine.state.flowers[np.flatnonzero(asked), 1]
    flowers = laid.sum(axis=1)
    full_sets = (laid[:, 27:34] == 4).sum(axis=1) + laid[:, 34:38].all(axis=1) + laid[:, 38:42].all(axis=1)
    plain = np.array([payout for payout in payouts if payout is not None])
    expected = plain + 2 * flowers + 15 * (flowers == 1) + 12 * full_sets
    assert result.rewards[:, 1].tolist() == (3 * expected).tolist()
    assert (engine.state.indicator[np.flatnonzero(asked)] == NO_TILE).all()
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
