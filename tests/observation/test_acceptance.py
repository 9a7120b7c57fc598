"""What the lookahead says of each action, against the hands that really come of it, counted by slow code."""

from __future__ import annotations

import numpy as np
import pytest

from mahjong_agents import look_ahead
from mahjong_agents.greedy import GreedyAgent
from mahjong_env import ACTIONS, VARIANTS, make_engine, rules
from mahjong_env.basics.actions import CHOW_LOW, KONG, PASS, PUNG, WIN
from mahjong_env.environments.agents import choose_at_random
from mahjong_env.observation.acceptance import FAR
from mahjong_env.ruleset.shapes import other_shapes
from mahjong_env.testing import random_actions
from oracle import hands as brute_force

ORPHANS = brute_force.ORPHANS


def positions(variant, games=6, seed=0, rounds=90):
    """Engines in mid-hand; half of the choices are greedy ones, so that hands come near a win."""
    engine = make_engine(variant, games, seed=seed, auto_reset=True)
    rng = np.random.default_rng(seed)
    greedy = GreedyAgent()
    for turn in range(rounds):
        if turn % 3 == 0:
            yield engine
        nearer = greedy.act(engine.view(), rng)
        engine.step(np.where(rng.random(games) < 0.7, nearer, random_actions(engine.action_mask, rng)))


def slow_distance(rules_, hand, wild, melds):
    """The fewest missing tiles over all shapes that the rules play, for concealed tiles by kind."""
    natural = list(hand)
    wilds = 0
    if wild >= 0:
        wilds, natural[wild] = natural[wild], 0
    best = brute_force.distance(tuple(natural), rules_.sets - melds, wilds)
    with_pairs, with_orphans = other_shapes(rules_)
    if with_pairs and melds == 0:
        pairs, singles = sum(n // 2 for n in natural), sum(n % 2 for n in natural)
        best = min(best, max(7 - pairs + max(7 - pairs - singles, 0) - wilds, 0))
    if with_orphans and melds == 0:
        held = [natural[kind] for kind in ORPHANS]
        best = min(best, 14 - sum(n > 0 for n in held) - any(n > 1 for n in held))
    return best


def hand_after(engine, game, chosen):
    """The seat's hand and melds once the action has been played, or None if it was not granted at once."""
    twin = engine.select([game])
    seat = twin.seat_to_act[0]
    melds = int(twin.state.num_melds[0, seat])
    before = twin.state.hand[0, seat].copy()
    if chosen < CHOW_LOW // 3:  # a discard: what follows it may already be somebody else's draw, so count by hand
        before[chosen] -= 1
        return before, melds
    if ACTIONS[chosen].startswith(("concealed kong", "added kong")):
        kind = chosen % 34
        before[kind] = 0 if ACTIONS[chosen].startswith("concealed") else before[kind] - 1
        return before, melds + ACTIONS[chosen].startswith("concealed")
    if chosen == PASS:
        return before, melds
    twin.step([chosen])
    if twin.seat_to_act[0] != seat or twin.state.num_melds[0, seat] != melds + 1 or chosen == KONG:
        return None
    return twin.state.hand[0, seat].copy(), melds + 1


class TestDistance:
    @pytest.mark.thorough
    @pytest.mark.parametrize("variant", sorted(VARIANTS))
    def test_every_action_leaves_what_it_says(self, variant):
        checked = dict.fromkeys(("discard", "kong", "claim", "pass"), 0)
        rng = np.random.default_rng(1)
        for engine in positions(variant):
            view = engine.view()
            distance = look_ahead(view).distance
            assert (distance == FAR)[~view.action_mask].all()
            assert (distance[:, WIN] == 0)[view.action_mask[:, WIN]].all()
            game = int(rng.integers(engine.num_games))
            for chosen in np.flatnonzero(view.action_mask[game]):
                after = hand_after(engine, game, int(chosen)) if chosen != WIN else None
                if after is None:
                    continue
                wanted = slow_distance(view.rules, after[0], int(view.wild[game]), after[1])
                if CHOW_LOW <= chosen <= PUNG:
                    wanted = max(wanted, 1)
                assert distance[game, chosen] == wanted, ACTIONS[chosen]
                kind = ACTIONS[chosen].split()
                checked["kong" if "kong" in kind else "claim" if CHOW_LOW <= chosen <= PUNG else kind[0]] += 1
        assert checked["discard"] > 50
        assert checked["claim"] > 0
        assert checked["pass"] > 0


@pytest.mark.parametrize(("variant", "pairs"), [("hebei", True), ("hangzhou", True), ("taiwan", False)])
def test_the_rules_are_asked_which_shapes_they_play(variant, pairs):
    assert other_shapes(rules(variant)) == (pairs, variant == "hebei")


def test_rows_do_not_depend_on_each_other():
    view, rows = make_engine("hebei", 12, seed=2).view(), np.array([7, 2, 2])
    whole, part = look_ahead(view), look_ahead(view.take(rows))
    np.testing.assert_array_equal(part.distance, whole.distance[rows])
    np.testing.assert_array_equal(part.help, whole.help[rows])


def test_choose_at_random_takes_every_allowed_one_about_equally_often():
    allowed = np.zeros((6000, 8), np.bool_)
    allowed[:, [1, 4, 6]] = True
    counts = np.bincount(choose_at_random(allowed, np.random.default_rng(0)), minlength=8)
    assert counts[[0, 2, 3, 5, 7]].sum() == 0
    assert np.abs(counts[[1, 4, 6]] - 2000).max() < 200  # 5.5 standard deviations
