"""Rows that count sets or facts, all asked at once: compared with counting, row by row."""

from operator import attrgetter
from types import SimpleNamespace

import numpy as np

from mahjong_env.basics.notation import MeldType
from mahjong_env.scoring.rows import Counted, Facts
from mahjong_env.scoring.set_counts import FactCounts, SetCounts


def test_rows_hold_as_if_their_sets_were_counted_one_by_one():
    rng = np.random.default_rng(0)
    number, kinds = 2000, rng.random((6, 34)) < 0.4
    triplets, runs = (np.zeros((number, 34), np.int8) for _ in range(2))
    for sets in (triplets, runs):
        for _ in range(2):
            np.add.at(sets, (np.arange(number), rng.integers(0, 34, number)), 1)
    pair = rng.integers(-1, 34, number)
    rows = {
        5: ((Counted(1, triplets=kinds[0]),),),
        2: ((Counted(2, triplets=kinds[1], runs=kinds[2]), Counted(1, pair=kinds[3])), (Counted(0, runs=kinds[4]),)),
        7: ((Counted(0, pair=kinds[5]), Counted(1, runs=kinds[0]), Counted(1, triplets=kinds[4])),),
        3: ((Counted(2, triplets=kinds[1], others=(lambda reading: extra,)), Counted(0, pair=kinds[2])),),
    }
    extra = rng.integers(0, 3, number)
    counts, reading = SetCounts(rows), SimpleNamespace(triplets=triplets, runs=runs, pair=pair)
    reading.once = lambda ask: ask(reading)
    held = counts.hold(reading)
    assert counts.columns.tolist() == [5, 2, 7, 3]
    pairs = np.eye(35, 34, dtype=np.int8)[pair]  # the last row for none
    for place, ways in enumerate(rows.values()):
        expected = np.zeros(number, np.bool_)
        for way in ways:
            all_hold = np.ones(number, np.bool_)
            for wanted in way:
                asked = zip((triplets, runs, pairs), wanted[1:4], strict=True)
                found = (sets[:, chosen].sum(axis=1) for sets, chosen in asked if chosen is not None)
                all_hold &= sum(found) + sum(ask(reading) for ask in wanted.others) == wanted.number
            expected |= all_hold
        np.testing.assert_array_equal(held[:, place], expected)
        assert 20 < expected.sum() < number - 20


def test_rows_hold_as_if_their_facts_were_counted_one_by_one():
    rng = np.random.default_rng(0)
    number, kinds = 2000, [group < 0.1 for group in rng.random((5, 34))]
    wins = SimpleNamespace(
        tiles=(rng.random((number, 34)) < 0.3).astype(np.int8),
        melded=SimpleNamespace(types=rng.integers(0, 3, (number, len(MeldType)))),
        drawn=rng.random(number) < 0.5,
        last_tile=rng.random(number) < 0.5,
        once=lambda flag: flag(wins),
    )
    drawn, last_tile = attrgetter("drawn"), attrgetter("last_tile")
    rows = {
        4: (Facts(2, kinds=tuple(kinds[:3])), Facts(1, flags=(drawn, last_tile))),
        1: (Facts(1, kinds=(kinds[3],), melds=(MeldType.CHOW,), flags=(drawn,)),),
        6: (Facts(0, kinds=(kinds[4],)), Facts(2, melds=(MeldType.PUNG, MeldType.ADDED_KONG))),
    }
    counts = FactCounts(rows)
    held = counts.hold(wins)
    assert counts.columns.tolist() == [4, 1, 6]
    for place, row in enumerate(rows.values()):
        expected = np.ones(number, np.bool_)
        for wanted in row:
            found = sum(wins.tiles[:, group].any(axis=1).astype(int) for group in wanted.kinds)
            found = found + sum(wins.melded.types[:, meld_type] for meld_type in wanted.melds)
            expected &= found + sum(flag(wins).astype(int) for flag in wanted.flags) == wanted.number
        np.testing.assert_array_equal(held[:, place], expected)
        assert 20 < expected.sum() < number - 20
