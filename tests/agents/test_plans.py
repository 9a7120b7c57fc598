"""Plans are followed; distances to dragons and to a waiting wild tile, on hands to be checked by eye."""

from __future__ import annotations

import numpy as np
import pytest

from mahjong_agents.plans import CLOSED, FAR_PLANS, IMPOSSIBLE, OPEN, PAIRS, PUNGS, far_plans, follow_plans
from mahjong_env import Deal, action, make_engine
from mahjong_env.basics.notation import MeldType, count_tiles, parse_kind, parse_tiles
from mahjong_env.hands.codes import encode
from mahjong_env.hands.kind_sets import unpack
from mahjong_env.hands.shanten import Hands


def stand(tiles, *, wilds=0, melds=(), has_wild=False):
    """Return distances and spare kinds of one hand; melds are (type, lowest kind)."""
    natural = count_tiles(parse_tiles(tiles))[None].astype(np.int8)
    types, kinds = np.zeros((1, 5), np.int8), np.zeros((1, 5), np.int8)
    for place, (of, kind) in enumerate(melds):
        types[0, place], kinds[0, place] = of, parse_kind(kind)
    hands = Hands(
        encode(natural).T.astype(np.intp),
        np.array([wilds], np.int8),
        np.array([4 - len(melds)]),
        np.array([not melds]),
        None,
    )
    found = far_plans(hands, natural, types, kinds, has_wild=has_wild)
    return dict(zip(FAR_PLANS, found.distance[0].tolist(), strict=True)), {
        plan: np.flatnonzero(unpack(found.spare[:, place])[0]) for place, plan in enumerate(FAR_PLANS)
    }


@pytest.mark.parametrize(
    ("tiles", "plan", "distance"),
    [
        ("123456789m 11p 23s", "one dragon", 1),  # a set lacks a tile
        ("123456789m 111p 2s", "one dragon", 1),  # the pair lacks one
        ("12456789m 111p 22s", "one dragon", 1),
        ("123m 456p 789s 11z 234s", "flower dragon", 0),
        ("13m 456p 789s 11z 23m 5z", "flower dragon", 2),
        ("123s 456m 78p 11z 23m 5z", "flower dragon", 2),
    ],
)
def test_distances_of_dragons(tiles, plan, distance):
    assert stand(tiles)[0][plan] == distance


def test_a_run_that_is_laid_open_belongs_to_its_dragon_and_another_shuts_it_out():
    chow = [(MeldType.CHOW, "1m")]
    assert stand("456789m 234p 5z", melds=chow)[0]["one dragon"] == 1
    beside = [(MeldType.CHOW, "2m"), (MeldType.PUNG, "1z")]
    assert stand("456789m 5z", melds=beside)[0]["one dragon"] == IMPOSSIBLE


def test_what_a_dragon_can_spare():
    _, spare = stand("123456789m 11p 23s 9p")
    assert parse_kind("9p") in spare["one dragon"]
    assert parse_kind("5m") not in spare["one dragon"]


def test_a_wild_tile_that_waits_for_its_pair():
    sets = "123m 456p 789s 111z"
    assert stand(sets, wilds=1, has_wild=True)[0]["a wild pair"] == 0
    assert stand(sets, has_wild=True)[0]["a wild pair"] == 1  # the wild tile itself
    assert stand("123m 456p 789s 11z", wilds=2, has_wild=True)[0]["a wild pair"] == 0
    assert stand("123m 456p 789s 55z", wilds=1, has_wild=True)[0]["a wild pair"] == 1
    assert stand(sets, wilds=1)[0]["a wild pair"] == IMPOSSIBLE


def test_plans_are_followed():
    engine = make_engine("hebei", 1, seed=0)
    engine.reset(deals=Deal(hands=("11m 33m 55p 77p 99s 2s 4s 6s 1z", "", ""), dealer=0))
    view, rng = engine.view(), np.random.default_rng(0)
    kept = {action(f"discard {tile}") for tile in ("1m", "3m", "5p", "7p", "9s")}
    for plan in (PUNGS, PAIRS):
        assert int(follow_plans(view, np.array([plan]), rng)[0]) not in kept


def test_claiming_or_not_is_a_plan():
    engine = make_engine("hebei", 1, seed=0)
    engine.reset(deals=Deal(hands=("1m", "11m 234p 567p 23s 99s 5z", ""), dealer=0))
    engine.step(np.array([action("discard 1m")]))
    view, rng = engine.view(), np.random.default_rng(0)
    assert int(follow_plans(view, np.array([CLOSED]), rng)[0]) == action("pass")
    assert int(follow_plans(view, np.array([PUNGS]), rng)[0]) == action("pung")
    assert int(follow_plans(view, np.array([OPEN]), rng)[0]) in (action("pung"), action("pass"))
