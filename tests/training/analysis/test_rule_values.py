"""What rules are worth: paired deals, struck rows, and numbers that can be checked by hand."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from mahjong_env import rules, score
from mahjong_env.cli import main
from mahjong_training.analysis.rule_report import sentences
from mahjong_training.analysis.rule_values import (
    Influence,
    _mean,
    _share,
    changes_of,
    compare,
    every_knob,
    without_row,
)
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.estimates import Estimate
from support.marks import variants


def test_the_same_rules_make_no_difference():
    played = rules("hebei")
    base, (same, scaled) = compare(played, changes_of(played, ["cap=none", "base_score=2"]), deals=40)
    assert same.deals_that_differ == 0
    assert all(one.mean == one.half_width == 0 for one in same.differences.values())
    # Twice the base score: the same hands, wins pay twice, kongs do not.
    assert scaled.differences["discards"].half_width == 0
    assert scaled.measures.numbers["win_points"].value == pytest.approx(2 * base.numbers["win_points"].value)
    assert base.points.sum() == 0
    assert base.numbers["dealer_points"].value == base.points[:, 0].mean()
    assert base.numbers["sigma"].value == pytest.approx(base.points.std())
    assert sum(base.numbers[f"seat_{seat}_points"].value for seat in (1, 2)) == pytest.approx(
        -base.numbers["dealer_points"].value
    )
    words = list(sentences([same, scaled]))
    assert words[0] == "cap=none: not one deal is paid differently."
    assert "points that a win brings +" in words[1]


def test_where_a_rule_does_not_come_up_the_deal_is_played_alike():
    """Chance belongs to deals: a knob that changes some hands leaves all others as they are."""
    played = rules("hebei")
    _, (closed,) = compare(played, changes_of(played, ["closed_hand_on_discard=false"]), deals=60)
    assert 0 < closed.deals_that_differ < 0.5


def test_who_waits_for_a_seat_changes_no_hand():
    played = rules("hebei")
    base, (rotating,) = compare(played, changes_of(played, ["rotation=true"]), deals=60)
    assert rotating.deals_that_differ == 0
    assert rotating.measures.numbers["sigma"].value == base.numbers["sigma"].value


@pytest.mark.thorough
def test_knobs_about_matches_make_a_difference_over_several_hands():
    played = rules("hangzhou", initial_points=5)
    changes = changes_of(played, ["initial_points=100", "match_end=points"])
    _, (rich,) = compare(played, changes_of(played, ["initial_points=100"]), deals=60)
    assert rich.deals_that_differ == 0
    with pytest.raises(TrainingError, match="a match ends when somebody's points do"):
        compare(played, changes, deals=60)
    base, (rich, ended) = compare(played, changes, deals=60, hands=4)
    assert 0 < rich.deals_that_differ < 1
    assert rich.measures.numbers["match_sigma"].value > base.numbers["match_sigma"].value
    assert ended.measures.numbers["hands"].value != 4
    hands = base.numbers["hands"].value
    assert base.numbers["first_dealer_points"].value == pytest.approx(base.points[:, 0].mean() / hands)
    assert base.numbers["match_sigma"].value == pytest.approx(base.points.std())
    assert not {"dealer_points", "sigma"} & base.numbers.keys()
    assert base.rows == {}


@pytest.mark.thorough
def test_the_first_hand_of_matches_is_the_same_by_all_rules():
    """Hand k has the same cards: who deals next changes nothing before there is a next one."""
    played = rules("wuhan")
    changes = changes_of(played, ["dealer_rule=always_next"])
    _, (alike,) = compare(played, changes, deals=40, hands=1)
    _, (later,) = compare(played, changes, deals=40, hands=3)
    assert alike.deals_that_differ == 0
    assert later.deals_that_differ > 0.3


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        *[({"deals": deals}, "--deals must be at least 2, not") for deals in (1, 0, -3)],
        *[({name: 2.5}, f"--{name} is an integer, not 2.5") for name in ("deals", "hands", "seed")],
        ({"hands": 0}, "--hands must be at least 1, not 0"),
        ({"seed": -1}, "--seed must be from 0"),
        ({"agents": ()}, "--agents names one agent, or 3"),
    ],
)
def test_numbers_that_cannot_be_are_named(settings, told):
    played = rules("hebei")
    with pytest.raises(TrainingError, match=told):
        compare(played, changes_of(played, ["cap=4"]), **settings)


def test_rows_and_what_they_bring():
    base, _ = compare(rules("hebei"), {}, deals=60)
    assert 20 < base.rows["Dealer Win"][0].value < 80
    assert base.rows["Dealer Win"][1].value > base.rows["Dealer Win"][0].value  # it doubles what is paid
    assert all(0 < share.value <= 100 for _, share in base.rows.values())


def test_a_struck_row_is_not_scored():
    hand = {"hand": "123m 456m 789m 22p 55s", "winning_tile": "2p", "source": "discard", "from_seat": 2}
    played = rules("hebei")
    assert dict(score(played, **hand).rows) == {"Dealer Win": 2, "Closed Hand": 2, "One Dragon": 2}
    struck = without_row(played, "one dragon")
    assert dict(score(struck, **hand).rows) == {"Dealer Win": 2, "Closed Hand": 2}
    assert struck.knobs == played.knobs
    assert without_row(played, "one dragon") is struck
    # Without both patterns it is a Ping Hu, which nobody may win on a discard.
    plain = score(without_row(struck, "Closed Hand"), **hand)
    assert not plain.legal
    assert "Ping Hu" in plain.reason
    # What it took the place of comes back.
    pairs = {"hand": "1122334455667m", "winning_tile": "7m", "source": "draw"}
    assert "Pure Seven Pairs" in dict(score(played, **pairs).rows)
    rows = dict(score(without_row(played, "Pure Seven Pairs"), **pairs).rows)
    assert "Pure One Suit" in rows
    assert "Pure Seven Pairs" not in rows


@pytest.mark.parametrize("variant", variants("fuzhou"))
def test_every_row_can_be_struck_out_and_is_never_scored_then(variant):
    played = rules(variant)
    base, _ = compare(played, {}, deals=60)
    often = sorted(base.rows, key=lambda name: -base.rows[name][0].value)[:3]
    _, found = compare(played, changes_of(played, rows=often), deals=60)
    for name, one in zip(often, found, strict=True):
        assert one.name == f"without {name}"
        assert name not in one.measures.rows
    for row in played.rows:
        assert without_row(played, row.name).rows != played.rows


def test_several_changes_together():
    changes = changes_of(rules("hebei"), ["cap=4", "players=4"], ["Closed Hand"], together=True)
    both = changes["cap=4, players=4, without Closed Hand"]
    assert (both.cap, both.players) == (4, 4)
    struck = next(row for row in both.rows if row.name == "Closed Hand")
    assert not struck.per_hand(range(3)).any()


def test_every_knob_is_turned_to_each_of_its_other_values():
    tried, unknown = every_knob(rules("hebei", cap=8))
    assert {"players=4", "cap=none", "rotation=true", "closed_hand_on_discard=false"} <= set(tried)
    assert not {"players=3", "cap=8"} & set(tried)
    assert {"cap=4", "cap=16", "initial_points=25", "initial_points=100"} <= set(tried)
    assert {"base_score=2"} == {text for text in tried if text.startswith("base_score")}  # half of 1 is none
    assert not unknown
    assert every_knob(rules("hebei"))[1] == ["cap"]  # what is half of no limit?
    assert "match_end=points" not in every_knob(rules("hangzhou"))[0]  # which knows no single hands
    assert "match_end=points" in every_knob(rules("hangzhou"), hands=4)[0]
    assert "rotation=true" not in every_knob(rules("hebei", players=4))[0]  # which cannot be


def test_intervals_of_differences_cover():
    rng, covered = np.random.default_rng(5), []
    for _ in range(1000):
        shared = rng.normal(0, 5, 80)
        one, two = (shared + rng.normal(mean, 1, 80) for mean in (0.0, 0.3))
        by = np.ones(80)
        difference = _mean(two, by).less(_mean(one, by))
        covered.append(difference.low <= 0.3 <= difference.high)
    assert np.mean(covered) == pytest.approx(0.95, abs=0.022)
    assert isinstance(_mean(one, by), Influence)
    skewed = _mean(np.random.default_rng(6).gamma(0.5, 1, 80), by).estimate()
    assert skewed.high - skewed.mean > 1.2 * (skewed.mean - skewed.low)  # both ends are kept


def test_intervals_are_those_of_evaluations():
    """What few deals count has none, and what was never or always seen has one."""
    deals, none = np.ones(100), np.zeros(100)
    some = np.arange(100) < 29
    wins = _mean(np.where(some, 5, 0), some)
    assert (wins.value, wins.estimate().half_width) == (5, np.inf)
    assert wins.less(_mean(np.where(some, 4, 0), some)).half_width == np.inf
    assert wins.less(wins).half_width == 0
    assert _share(none, none).estimate() == _mean(none, none).estimate() == Estimate(0, -np.inf, np.inf)
    for seen, ends in ((none, (0, 3.62)), (deals, (96.38, 100))):
        found = _share(seen, deals).estimate()
        assert (found.low, found.high) == pytest.approx(ends, abs=0.01)
    once = _share(np.arange(100) == 0, deals).estimate()
    assert 0 == once.low < once.mean < once.high


def test_the_command(tmp_path, capsys):
    words = ["rule-values", "--variant", "hebei", "--knob", "cap=2", "--knob", "cap=4", "--rows", "closed hand"]
    assert main([*words, "--deals", "30", "--out", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "Hebei: 30 deals, greedy at all seats" in told
    assert "without Closed Hand: " in told
    found = json.loads((tmp_path / "rules.json").read_text(encoding="utf-8"))
    assert [one["change"] for one in found["changes"]] == ["cap=2", "cap=4", "without Closed Hand"]
    assert found["changes"][0]["differences"]["win_points"]["mean"] < 0
    assert (tmp_path / "rules.csv").read_text(encoding="utf-8").startswith("rules,number,mean,low,high,difference")
    assert max(map(len, told.splitlines()[:-1])) <= 100


@pytest.mark.thorough
def test_rules_without_a_row_survive_pickling():
    """As they are sent to other machines; a knob that is turned afterwards stays turned."""
    struck = replace(without_row(without_row(rules("wuhan"), "Hard Win"), "All Triplets"), cap=None)
    again = pickle.loads(pickle.dumps(struck))
    assert again.knobs == struck.knobs
    assert [row.name for row in again.rows] == [row.name for row in struck.rows]
    one, other, whole = (compare(one, {}, deals=60)[0].points for one in (struck, again, rules("wuhan", cap=None)))
    assert np.array_equal(one, other)
    assert not np.array_equal(one, whole)
