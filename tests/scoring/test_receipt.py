"""Receipts add up: what they print is calculated anew here, and compared with what was paid."""

from __future__ import annotations

from math import ceil

import numpy as np
import pytest

import mahjong_env
from mahjong_env import VARIANTS, make_engine, score
from mahjong_env.basics.notation import parse_tiles
from mahjong_env.drawing.text import groups_text
from mahjong_env.scoring.receipt import folded, rows_text
from mahjong_env.testing.play import eager_actions
from support.house_rules import HOUSES
from support.marks import everyday


def comes_to(text):
    """The number that a calculation ends with; every step in it is checked."""
    last = None
    for step in text.replace("; ", ", ").split(", "):
        left, equals, right = step.rpartition(" = ")
        if step.startswith("times the base point "):
            assert float(right) == last * int(left.rpartition(" ")[2]), text
        elif equals:
            assert set(left) <= set("0123456789.+×() "), text
            assert eval(left.replace("×", "*")) == float(right), text
        number = float(right.rpartition(" ")[2])
        assert not step.startswith("rounded up to") or number == ceil(last), text
        assert not step.startswith("at most") or number < last, text
        last = number
    return last


def kinds_held(engine, game, person, tile):
    """The concealed tiles of a winner at the end of a match, with the winning one, in order."""
    seat = engine.state.person_at[game].tolist().index(person)
    held = np.repeat(np.arange(34), engine.state.hand[game, seat, :34]).tolist()
    wanted = engine.rules.hand_size + 1 - 3 * int(engine.state.num_melds[game, seat])
    return sorted(held if len(held) == wanted or tile < 0 else [*held, tile])


def is_part_of_a_hand(kinds, wild):
    """Whether tiles are a set or a pair, once wild ones stand for others."""
    natural = sorted(kind for kind in kinds if kind != wild)
    if len(set(natural)) <= 1:
        return True
    in_a_row = len(kinds) == 3 and len(set(natural)) == len(natural) and natural[-1] - natural[0] <= 2
    return in_a_row and natural[-1] < 27 and natural[0] // 9 == natural[-1] // 9


def check_wins(rules, wanted, seed):
    """Play until so many hands have been won, and check the receipt of each; what was seen in their texts."""
    seen, wins, rng = set(), 0, np.random.default_rng(seed)
    engine = make_engine(rules, min(wanted, 512), seed=seed, num_hands=2)
    while wins < wanted:
        playing = np.flatnonzero(engine.seat_to_act >= 0)
        if not playing.size:
            engine.reset(seed=seed + wins)
            continue
        outcome = engine.step(eager_actions(engine, rng)[playing], playing).outcome
        for place in np.flatnonzero(outcome.winner >= 0).tolist():
            told, value, winner = outcome.receipts[place], int(outcome.value[place]), int(outcome.winner[place])
            assert told.rows == folded(outcome.rows[place])
            assert comes_to(told.formula[0] or str(value)) == value
            assert told.formula[0] or len(told.rows) < 2
            for person, paid in enumerate(outcome.payments[place].tolist()):
                text = told.shares[person][0]
                assert comes_to(text or str(value)) == -paid if paid < 0 else not text, (text, paid)
                seen |= {word for word in ("×", "at most", "Penalty", "he has") if paid < 0 and word in text}
            seen |= {word for word in ("×", "+", "(", "rounded", "at most", "base point") if word in told.formula[0]}
            game, tile = int(outcome.game[place]), int(outcome.tile[place])
            concealed = [group for group in told.groups if not group.melded]
            if engine.seat_to_act[game] < 0:  # the next hand has not been dealt
                held = kinds_held(engine, game, winner, tile)
                assert sorted(kind for group in concealed for kind in group.kinds) == held
                wild = int(engine.state.wild[game])
                assert len(concealed) == 1 or all(is_part_of_a_hand(group.kinds, wild) for group in concealed)
            assert [group.kinds[group.winning] for group in concealed if group.winning >= 0] == [tile][: tile >= 0]
            wins += 1
    assert outcome.receipts[:0] == ()
    return seen


@pytest.mark.parametrize("variant", everyday(HOUSES, ["hebei", "taiwan"]))
def test_what_receipts_say_is_what_is_paid(variant):
    seen = check_wins(VARIANTS[variant], 150, 3) | check_wins(mahjong_env.rules(variant, **HOUSES[variant]), 150, 4)
    wanted = {"hebei": {"base point", "at most"}, "hangzhou": {"Penalty", "he has"}, "fuzhou": {"(", "×"}, "mcr": {"+"}}
    assert seen >= wanted.get(variant, {"×"})


@pytest.mark.slow
@pytest.mark.parametrize("variant", HOUSES)
def test_ten_thousand_receipts(variant):
    check_wins(VARIANTS[variant], 5000, 5)
    check_wins(mahjong_env.rules(variant, **HOUSES[variant]), 5000, 6)


# --- What they read like ---------------------------------------------------------------------------------------------


def test_like_rows_stand_together_and_the_hand_by_its_sets():
    hand = {"hand": "123m 456m 789m 123p 22p 55s", "winning_tile": "2p", "source": "draw", "dealer": 1}
    told = score("fuzhou", **hand, flowers="F1 F2 F3 1z 2z 3z").receipt
    assert told.rows == (("Base Points", 5, 1), ("Flower Points", 1, 6))
    assert told.formula[0] == "(5 + 6) × 2 = 22"
    assert groups_text(told.groups) == "123m  456m  789m  13p+2p  222p  55s"
    told = score("wuhan", "23m 456p 55p 789s", winning_tile="1m", melds=["pung 333s@1"], source="draw").receipt
    assert told.formula == ("1 × 2 × 2 × 1.5 × 2 = 12", "1 × 2 × 2 × 1.5 × 2 = 12")
    assert groups_text(told.groups) == "23m+1m  456p  789s  55p  333s"
    assert rows_text([("Open Mouth", 2)] * 3 + [("Dealer", 2)], {"Dealer": "庄家"}) == "Open Mouth 2 × 3, Dealer 庄家 2"


def test_what_is_not_whole_what_is_cut_and_what_has_a_base_point():
    pungs = {"hand": "111m 222p 333s 444z 5z", "winning_tile": "5z", "source": "draw"}
    told = score("hebei", **pungs, cap=5, base_score=3).receipt
    assert told.formula == (
        "2 × 3 × 2 = 12, at most 5, times the base point 3 = 15",
        "2 × 3 × 2 = 12，封顶 5，乘底分 3 = 15",
    )
    dear = {"hand": "2233m 4455p 3366s 7z", "winning_tile": "7z", "source": "draw", "wild": "9s", "dealer_streak": 2}
    told = score("hangzhou", **dear, cap=64, base_score=5, running_points=[0, 70, 60, 50]).receipt
    assert told.formula[0] == "5 × 2 × 2 = 20"
    assert [share for share, _ in told.shares] == [
        "",
        "20 × 8 = 160, at most 64",
        "20 × 8 = 160, at most 64; nobody pays more than he has: 60",
        "20 × 8 = 160, at most 64; nobody pays more than he has: 50",
    ]


def test_other_shapes_have_other_groups():
    pairs = score("hebei", "1144m 2277p 3366s 7z", winning_tile="7z", source="draw").receipt
    assert [group.kinds for group in pairs.groups] == [(0, 0), (3, 3), (10, 10), (15, 15), (20, 20), (23, 23), (33, 33)]
    orphans = score("hebei", "19m 19p 19s 1234567z", winning_tile="1z", source="draw").receipt
    assert [group.kinds for group in orphans.groups] == [tuple(sorted(parse_tiles("19m 19p 19s 11234567z")))]
    assert score("hebei", "1147m 2277p 3366s 7z", winning_tile="7z", source="draw").receipt is None
