"""Distances to one dragon, flower dragon and a wild tile that waits for its pair: hands to be checked by eye."""

from __future__ import annotations

import numpy as np
import pytest

from mahjong_agents.plans import FAR_PLANS, IMPOSSIBLE, far_plans
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
