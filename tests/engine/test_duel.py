"""Engine and referee play the same games: after every action they must agree on everything (tests/support/duel.py).

Greedy play and house rules: tests/oracle/test_proof.py; `make proof` plays many more.
"""

from __future__ import annotations

import pytest

import mahjong_env
from mahjong_agents import make_agent
from mahjong_env.engine.phases import settle
from mahjong_env.testing.play import choose_actions
from oracle.referee import hangzhou
from support.duel import DisagreementError, Duel, choose_with, duel

VARIANTS = sorted(mahjong_env.VARIANTS)


@pytest.mark.parametrize("variant", VARIANTS)
def test_random_and_eager_play_over_matches(variant):
    assert duel(variant, 16, seed=1, choose=choose_actions, num_hands=6) == 96


def test_a_match_by_points_is_cut_after_200_hands(monkeypatch):
    assert settle.CUT_AFTER == hangzhou.LONGEST_POINTS_MATCH == 200
    monkeypatch.setattr(settle, "CUT_AFTER", 10)  # the same match, only shorter
    monkeypatch.setattr(hangzhou, "LONGEST_POINTS_MATCH", 10)
    cut = []
    hands = duel(
        "hangzhou",
        1,
        seed=4,
        choose=choose_with(make_agent("greedy")),
        on_end=lambda engine, result: cut.append(bool(result.truncated[0])),
        match_end="points",
        initial_points=100_000,
    )
    assert hands == 10
    assert cut == [False] * 9 + [True]


def test_a_disagreement_is_found_and_printed():
    """The comparison itself can fail: a tile that the referee does not know of is noticed at once."""
    engine = mahjong_env.make_engine("hebei", 1, seed=1)
    one = Duel(engine, 0, 1)
    one.before()
    engine.state.hand[0, 1, 0] ^= 1
    with pytest.raises(DisagreementError, match=r"(?s)hand of seat 1.*engine.*referee.*seed"):
        one.before()
