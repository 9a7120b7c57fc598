"""Scoring declared: contradictions, who pays, tiles turned up, circumstances, thirteen orphans with wild tiles."""

from __future__ import annotations

import pickle
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest
from guangdong_mahjong.guangdong import RULES as GUANGDONG

import mahjong_env
from mahjong_env import score
from mahjong_env.basics.errors import HandError, RulesError
from mahjong_env.hands.codes import encode
from mahjong_env.scoring.readings import THIRTEEN_ORPHANS, Concealed
from mahjong_env.scoring.rows import ByHand, ByKnob, Row, names
from mahjong_env.variants.hebei import PATTERNS, Hebei

ORPHANS = [0, 8, 9, 17, 18, 26, *range(27, 34)]
SIMPLE = {"hand": "123456789m 11p 55s", "winning_tile": "1p", "source": "draw"}


# --- Declarations ---------------------------------------------------------------------------------------------------


def test_a_row_that_replaces_one_that_lifts_a_bar_must_lift_it():
    """Else a hand would be known to win by a row that it does not have."""

    @dataclass(frozen=True, kw_only=True)
    class Contradictory(Hebei):
        rows: ClassVar[Any] = (
            *Hebei.rows[:-1],
            Row("Tide", "潮 cháo", 1, "every hand", per_hand=lambda win: 1, replaces=("Closed Hand",)),
            replace(Hebei.rows[-1], unless=names(*PATTERNS)),
        )

    with pytest.raises(ValueError, match="Tide replaces a row that waives a restriction"):
        score(Contradictory(), **SIMPLE)


def test_a_row_says_when_it_is_scored():
    with pytest.raises(ValueError, match="row 'Tide' does not say when it is scored: give it per_hand"):
        Row("Tide", "潮 cháo", 1, "every hand")


def test_only_one_restriction_may_be_known_to_refuse_every_reading():
    restriction = replace(
        Hebei.restrictions[0], per_reading=lambda reading: reading.all_runs, in_every_reading=lambda win: win.drawn
    )

    @dataclass(frozen=True, kw_only=True)
    class Contradictory(Hebei):
        restrictions: ClassVar[Any] = (restriction, replace(restriction, reason="another reason for the same"))

    with pytest.raises(ValueError, match="only one restriction"):
        score(Contradictory(), **SIMPLE)


def test_values_follow_knobs_and_hands():
    rules = mahjong_env.rules("hebei", all_pungs=2)
    rows = {row.name: row for row in rules.rows}
    assert rows["All Pungs"].value_in(rules) == 2
    assert rows["All Pungs"].value_text(rules) == "2 (knob all_pungs)"
    assert ByKnob("discard_payers", {"all": 7, "discarder": 8}).of(rules) == 8
    streak = Row(
        "Streak", "连", ByHand("1 a hand", lambda win: win.streak), "the dealer's streak", per_hand=lambda win: True
    )
    assert (streak.value_in(rules), streak.value_text(rules)) == (0, "1 a hand")


def test_rules_that_have_scored_are_pickled_by_their_knobs():
    rules = mahjong_env.rules("hebei", cap=8)
    score(rules, **SIMPLE)
    assert pickle.loads(pickle.dumps(rules)) == rules


# --- Tiles turned up after a win; what they change: tests/outside/guangdong_mahjong/cases.toml -----------------------


@pytest.mark.parametrize(
    ("rules", "turned_up", "words"),
    [("hebei", "7z", "does not use turned_up"), (GUANGDONG, "7z 7z 1m", "turns up 2"), (GUANGDONG, "1p 1p", "only 4")],
)
def test_tiles_turned_up_that_cannot_be(rules, turned_up, words):
    with pytest.raises(HandError, match=words):
        score(rules, turned_up=turned_up, **SIMPLE)


# --- Circumstances ----------------------------------------------------------------------------------------------------


def test_a_circumstance_of_another_variant_may_be_given_if_it_says_nothing():
    plain = score("hebei", **SIMPLE)
    assert score("hebei", gambits=0, red_discards=0, discarded_wild=False, robbing_gold=False, **SIMPLE) == plain
    for told in ({"gambits": 1}, {"red_discards": 2}, {"discarded_wild": True}, {"robbing_gold": True}):
        with pytest.raises(HandError, match=f"hebei does not use {next(iter(told))}"):
            score("hebei", **told, **SIMPLE)


def test_what_nobody_knows_is_an_unknown_knob():
    with pytest.raises(RulesError, match="hebei has no knob 'horses'"):
        score("hebei", horses=1, **SIMPLE)


FOUR_PUNGS = ["pung 222p@0", "pung 333p@0", "pung 666s@0", "pung 777s@0"]
ROBBED = {"hand": "123456789m 78p 55s", "winning_tile": "9p", "source": "kong", "from_seat": 1}
TWO_KONGS = {"hand": "456m 345p 99p 67s", "winning_tile": "8s"}
HANDS = {
    "wuhan": {"hand": "34s 456p 123m 55m", "melds": ["pung 444z@1"], "winning_tile": "2s"},
    "fuzhou": {"hand": "123456789m 11p 55s 777s", "winning_tile": "1p"},
    "taiwan": {"hand": "234m 456m 345p 678s 99p 67s", "winning_tile": "8s"},
}


@pytest.mark.parametrize(
    ("variant", "told", "words"),
    [
        ("hangzhou", {"gambits": -1}, "gambits is an integer from 0"),
        ("hangzhou", {"gambits": True}, "gambits is an integer from 0"),
        ("hangzhou", {"gambits": 1}, "gambits is about wild tiles, and no kind is wild"),
        ("hangzhou", {"gambits": 4, "wild": "5z"}, "fifth"),
        ("hangzhou", {"red_discards": 1}, "red_discards"),
        ("hangzhou", {"wild": "5z", "melds": ["pung 555z@1"], "hand": "123456m 11p 55s"}, "wild"),
        ("hangzhou", {"fortune": "white", "wild": "1m"}, "wild"),
        ("fuzhou", {"discarded_wild": 1}, "discarded_wild is True or False"),
        ("fuzhou", {"robbing_gold": True, "first_draw": True}, "robbing_gold and first_draw contradict each other"),
        ("fuzhou", {"robbing_gold": True, "wild": "9s"}, "the winning tile is the one turned up"),
        ("wuhan", {"gambits": "many"}, "gambits is an integer from 0"),
        *(("wuhan", {"melds": [meld]}, "cannot be made") for meld in ("pung 777z@2", "kong 7777z@1", "kong 7777z")),
        ("wuhan", {"hand": "34s 456p 55m 777z", "red_discards": 2}, "fifth"),
        ("wuhan", {"wild": "7z"}, "never wild"),
        ("taiwan", {"first_draw": True, "melds": ["kong 1111p"], "hand": "456m 345p 678s 99p 67s"}, "first_draw"),
        ("taiwan", {"first_draw": True, "other_melds": {2: ["pung 111z@1"]}}, "first_draw"),
        ("taiwan", {"flower_draw": True}, "flower_draw"),
        ("taiwan", {"flowers": "F1 F1"}, "F1"),
        ("taiwan", {"wild": "1m"}, "wild"),
        ("taiwan", {"kong_draws": 1}, "kong_draws"),
        ("taiwan", TWO_KONGS | {"melds": ["kong 1111p@1", "kong 2222s@1"], "kong_draws": 2}, "at most 1 can be kongs"),
        ("hebei", ROBBED | {"other_melds": {1: FOUR_PUNGS}}, "no pung of 9p"),
        ("taiwan", {"hand": "234m 456m 345p 678s 99p 67s 5z"}, "17 tiles"),
    ],
)
def test_what_contradicts_itself_is_refused(variant, told, words):
    hand = HANDS.get(variant, SIMPLE) | {"source": "draw"}
    score(variant, **hand)
    with pytest.raises(HandError, match=words):
        score(variant, **hand | told)


@pytest.mark.parametrize("melds", [["kong 1111p+@1", "kong 2222s@1"], ["kong 2222s", "kong 1111p@1"]])
def test_kongs_that_can_have_come_in_a_row_in_any_order(melds):
    rows = score("taiwan", **TWO_KONGS, melds=melds, source="draw", kong_draws=2).rows
    assert ("Gang Blossom", 1) in rows


# --- Thirteen orphans with wild tiles ---------------------------------------------------------------------------------


def brute_short(counts):
    """Tiles that thirteen orphans lack, by trying which kind is doubled."""
    return min(sum(max(0, 1 + (kind == double) - counts[kind]) for kind in ORPHANS) for double in ORPHANS)


def test_thirteen_orphans_with_any_number_of_wild_tiles():
    rng = np.random.default_rng(4)
    seen = Counter()
    for _ in range(3000):
        wilds = int(rng.integers(5))
        full = [*ORPHANS, int(rng.choice(ORPHANS))]
        kept = list(rng.permutation(full)[: 14 - wilds])
        for place in range(int(rng.integers(3))):
            kept[place] = int(rng.choice([*ORPHANS, 3, 13, 23]))
        counts = np.bincount(kept, minlength=34)
        if counts.max() > 4:
            continue
        tiles = Concealed.of(encode(counts[None]), wilds, np.int8(0))
        short = int(THIRTEEN_ORPHANS.short_of(tiles)[0])
        expected = brute_short(counts)
        assert (short <= wilds) == (expected <= wilds)
        assert short == expected or short == 99 > wilds + 1
        assert expected > wilds + 1 or short == expected, (kept, wilds)
        seen[expected - wilds] += 1
    assert min(seen[0], seen[1], seen[2]) > 50
