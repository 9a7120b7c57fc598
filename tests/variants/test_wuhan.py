"""Wuhan: what may win, the wild tile, the next hand."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pytest

import mahjong_env
from mahjong_env import HandError
from mahjong_env.variants.wuhan import Wuhan
from support.fuzz_strategies import possible_win


@dataclass(frozen=True, kw_only=True)
class _Listening(Wuhan):
    """Wuhan that keeps the wins it was asked about."""

    def score(self, wins):
        heard.append(wins)
        return super().score(wins)


heard: list = []


def test_what_may_win_is_known_without_pricing_and_mostly_without_reading():
    """`legal` finds out without reading hands what reading them says; hands are priced one by one as in a batch."""
    told = [possible_win(Wuhan(), seed) for seed in range(400)]
    heard.clear()
    verdicts = []
    for one in told:
        with suppress(HandError):  # more tiles of a kind than there are, with the one turned up
            verdicts.append(mahjong_env.score(_Listening(), **one))
    batch = join(heard)
    hands = len(verdicts)
    assert hands > 330
    rules = Wuhan()
    legal = rules.complete(batch) & rules.legal(batch)
    np.testing.assert_array_equal(legal, [verdict.legal for verdict in verdicts])
    scores = rules.score(batch)
    np.testing.assert_array_equal(scores.legal, legal)
    np.testing.assert_array_equal(scores.points, [verdict.points for verdict in verdicts])
    np.testing.assert_array_equal(scores.payments, [verdict.payments for verdict in verdicts])
    assert [tuple(scores.rows_of(place, rules.rows)) for place in range(hands)] == [one.rows for one in verdicts]


def join(wins):
    return type(wins[0]).join(wins)


# --- The wild tile, the Reds -----------------------------------------------------------------------------------------


def test_wild_kinds_follow_their_indicators():
    state = mahjong_env.make_engine("wuhan", 2048, seed=3).state
    follows = {indicator: int(state.wild[game]) for game, indicator in enumerate(state.indicator.tolist())}
    assert len(follows) == 34
    cycle = {27: 28, 28: 29, 29: 30, 30: 31, 31: 32, 32: 27, 33: 31}
    expected = {kind: cycle.get(kind, kind // 9 * 9 + (kind + 1) % 9) for kind in range(34)}
    assert follows == expected
    assert (state.left(np.arange(2048)) == 82).all()


@pytest.mark.parametrize("meld", ["pung 777z@2", "kong 7777z@1", "kong 7777z+@3", "kong 7777z"])
def test_a_meld_of_reds_is_refused(meld):
    with pytest.raises(ValueError, match="cannot be made"):
        mahjong_env.score("wuhan", "34s 456p 123m 55m", melds=[meld], winning_tile="2s", source="draw")


def test_reds_in_hand_and_discarded_are_four_at_most():
    told = {"melds": ["pung 555z@1", "pung 666z@2"], "winning_tile": "2m", "source": "draw"}
    assert mahjong_env.score("wuhan", "777z 34m 88p", red_discards=1, **told).legal
    with pytest.raises(ValueError, match="fifth"):
        mahjong_env.score("wuhan", "777z 34m 88p", red_discards=2, **told)


def test_red_is_never_wild():
    with pytest.raises(ValueError, match="never wild"):
        mahjong_env.score(
            "wuhan", "34456p 789s 55m", melds=["chow 123m@3"], winning_tile="5p", source="draw", wild="7z"
        )


# --- The next hand ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("winner", [0, 2, -1])
@pytest.mark.parametrize("dealer_rule", ["retain_else_next", "winner_becomes", "always_next", "retain_on_draw"])
def test_round_wind_changes_every_four_hands_whoever_deals(dealer_rule, winner):
    engine = mahjong_env.make_engine("wuhan", 1, seed=1, num_hands=40, dealer_rule=dealer_rule, start="first")
    state, game = engine.state, np.array([0])
    winds = [int(state.round_wind[0])]
    for hand in range(1, 20):
        state.hand_in_match[0] = hand
        engine.rules.succeed(state, game, np.array([winner], np.int8))
        winds.append(int(state.round_wind[0]))
    assert winds == [0] * 4 + [1] * 4 + [2] * 4 + [3] * 4 + [0] * 4


def test_the_streak_counts_hands_that_the_dealer_has_kept():
    engine = mahjong_env.make_engine("wuhan", 1, seed=1, num_hands=40, start="first")
    state, game, seen = engine.state, np.array([0]), []
    first = int(state.dealer[0])
    for winner in (first, first, (first + 2) % 4, -1):
        engine.rules.succeed(state, game, np.array([winner], np.int8))
        seen.append(((int(state.dealer[0]) - first) % 4, int(state.streak[0])))
    assert seen == [(0, 1), (0, 2), (1, 0), (2, 0)]
