"""Described hands, of which very many are drawn: what the package makes of them, and what the referee does."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import mahjong_env
from mahjong_env import HandError
from oracle import referee
from proof.watch import knob_values
from support.fuzz_strategies import possible_win
from support.house_rules import with_needed


def compare(variant, hands, seed):
    """Score random wins and near misses both ways; how many may win, may not win, and can be read in several ways."""
    rules, known = mahjong_env.rules(variant), referee.VARIANTS[variant].knob_defaults
    tally = Counter()
    for number in range(seed * 1_000_000, seed * 1_000_000 + hands):
        rng = np.random.default_rng(number)
        told = possible_win(rules, number)
        for name in set(rules.knobs) & set(known) - {"players"}:
            if rng.random() < 0.3:
                values = knob_values(variant, name)
                told[name] = values[int(rng.integers(len(values)))]
        told = with_needed(told)
        if told["source"] != "draw":
            told.pop("gambits", None)  # the game does not ask, the referee is not asked
        told.pop("eight_flowers", None)  # a mark of the turn, which the referee knows from play alone
        if variant != "hangzhou":  # elsewhere nobody can run out of points
            told.pop("running_points", None)
        try:
            ours = mahjong_env.score(variant, **told)
        except HandError:
            continue  # it names more tiles than there are, or a wild tile that cannot be
        theirs = referee.score(variant, **told)
        assert ours.legal == theirs.legal, (told, ours, theirs)
        assert ours.points == theirs.points, (told, ours, theirs)
        assert sorted(ours.rows) in [sorted(rows) for rows in theirs.tied_rows], (told, ours, theirs.tied_rows)
        assert list(ours.payments) == list(theirs.payments), (told, ours, theirs)
        tally["wins" if ours.legal else "refused"] += 1
        tally["ways"] += len(theirs.tied_rows) > 1
    return tally


@pytest.mark.parametrize("variant", sorted(referee.VARIANTS))
def test_package_and_referee_agree(variant):
    tally = compare(variant, 150, seed=1)
    assert tally["wins"] > 15
    assert tally["refused"] > 5


@pytest.mark.slow
@pytest.mark.parametrize("variant", sorted(referee.VARIANTS))
def test_package_and_referee_agree_at_length(variant):
    tally = compare(variant, 20_000, seed=2)
    assert min(tally["wins"], tally["refused"]) > 1000
