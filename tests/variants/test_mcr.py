"""MCR in play: the conformance kit, seats and winds of a match, and legality without reading every shape."""

import numpy as np
import pytest

import mahjong_env
from mahjong_env import make_engine, testing
from mahjong_env.basics.notation import MeldType
from mahjong_env.engine.phases import claims, judge
from mahjong_env.environments.agents import find_agent
from mahjong_env.scoring.driver import ScoredRules
from mahjong_env.scoring.wins import Source, Wins, wins_from_state
from proof.batches import Batch
from proof.both_ways import play_both_ways

MCR = mahjong_env.rules("mcr")


def play(engine, agent, steps, seed=1):
    """Play with one agent in all seats; every step's result."""
    rng, agent = np.random.default_rng(seed), find_agent(agent)
    for _ in range(steps):
        live = np.flatnonzero(engine.seat_to_act >= 0)
        if not live.size:
            return
        yield engine.step(agent.act(engine.view(live), rng), games=live)


@pytest.mark.parametrize("check", testing.CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_the_conformance_kit(check):
    check(lambda games, **options: make_engine("mcr", games, **options), games=8, seed=1)


@pytest.mark.thorough
@pytest.mark.parametrize("knobs", [{"change_seats": True, "minimum_points": 0}, {"flower_tiles": False, "base": 0}])
def test_house_rules_pass_too(knobs):
    for check in (testing.check_zero_sum, testing.check_scores, testing.check_legal_actions, testing.check_deals):
        check(lambda games, **options: make_engine("mcr", games, **knobs, **options), games=8, seed=2)


@pytest.mark.parametrize("style", ["random", "greedy"])
def test_few_games_are_played_as_many_are(style):
    hands, actions, left = play_both_ways(Batch("mcr", 3, style, {}, 2, "first"), 4, most_hands=6)
    assert hands
    assert left < actions / 5


def test_nobody_keeps_the_deal_and_winds_change_every_four_hands():
    engine = make_engine("mcr", 1, seed=3, num_hands=17)
    first, seen = int(engine.dealer[0]), []
    for number in range(17):
        seen.append((int(engine.dealer[0]), int(engine.state.round_wind[0])))
        assert engine.state.streak[0] == 0
        while engine.state.hand_in_match[0] == number and engine.seat_to_act[0] >= 0:
            for _ in play(engine, "random", 1, seed=number):
                pass
    assert seen == [((first + hand) % 4, hand // 4 % 4) for hand in range(17)]


SEATS = {"E": "ESNW", "S": "SEWN", "W": "WNES", "N": "NWSE"}
"""Where people sit in the four rounds, by where they began."""


@pytest.mark.parametrize("changes", [True, False])
def test_people_change_seats_after_each_round(changes):
    engine = make_engine("mcr", 1, seed=3, num_hands=20, change_seats=changes)
    first = int(engine.state.dealer[0])
    names = {(first + place) % 4: "ESWN"[place] for place in range(4)}  # of persons, by where they began
    for hand in range(20):
        turn = hand // 4 if hand < 16 else 3  # before the seventeenth hand nobody moves
        for place in range(4):
            person = int(engine.state.person_at[0, (first + place) % 4])
            assert "ESWN"[place] == (SEATS[names[person]][turn] if changes else names[person])
            seat = (first + place) % 4
            view = engine.view([0], person)
            assert (view.hand[0] == engine.state.hand[0, seat]).all()
            assert view.points[0, 0] == engine.points[0, person]
            assert (engine.seat_to_act[0] == person) == (engine.state.actor[0] == seat)
        while engine.state.hand_in_match[0] == hand and engine.seat_to_act[0] >= 0:
            for _ in play(engine, "random", 1, seed=hand):
                pass


def test_the_fourth_tile_is_counted_in_games(monkeypatch):
    """Compared with a count of the discards that lie there and the melds that are open, one by one."""
    seen = {False: 0, True: 0}

    def counted(state, seats, tile, source, from_seat):
        wins = wins_from_state(state, seats, tile, source, from_seat)
        for number, (game, kind) in enumerate(zip(seats.game, np.asarray(tile), strict=True)):
            lying = sum(state.lying_discards(game, seat).tolist().count(kind) for seat in range(4))
            for seat, meld in np.argwhere(state.meld_type[game] != MeldType.NONE):
                of_type, lowest = state.meld_type[game, seat, meld], state.meld_kind[game, seat, meld]
                if of_type == MeldType.CHOW:
                    lying += lowest <= kind < lowest + 3
                elif of_type != MeldType.CONCEALED_KONG and lowest == kind:
                    lying += 3 + (of_type != MeldType.PUNG)
            if source is not Source.ROBBED_KONG:
                assert wins.fourth_tile[number] == (lying - (source is Source.DISCARD) == 3)
                seen[bool(wins.fourth_tile[number])] += 1
        return wins

    monkeypatch.setattr(claims, "wins_from_state", counted)
    monkeypatch.setattr(judge, "wins_from_state", counted)
    for _ in play(make_engine("mcr", 300, seed=2, auto_reset=True), "greedy", 100):
        pass
    assert min(seen.values()) > 20


def test_legality_is_what_the_score_says():
    kept = []

    class Noted(type(MCR)):
        def legal(self, wins):
            kept.append(wins)
            return super().legal(wins)

    engine = make_engine(Noted(), 300, seed=2, auto_reset=True)
    for _ in play(engine, "greedy", 90):
        pass
    wins = Wins.join(kept)
    for least in (8, 0, 13, 30):
        rules = mahjong_env.rules("mcr", minimum_points=least)
        legal = rules.score(wins.take(np.arange(len(wins)))).legal
        assert (rules.legal(wins.take(np.arange(len(wins)))) == legal).all()
        assert (ScoredRules.legal(rules, wins.take(np.arange(len(wins)))) == legal).all()
    assert 0.05 < MCR.score(wins).legal.mean() < 0.6
