"""What the lookahead says of each action, against the hands that really come of it, counted by slow code."""

from __future__ import annotations

import numpy as np
import pytest

from mahjong_agents import look_ahead
from mahjong_agents.greedy import GreedyAgent
from mahjong_env import ACTIONS, make_engine
from mahjong_env.basics.actions import CHOW_LOW, KONG, PASS, PUNG, WIN
from mahjong_env.environments.agents import choose_at_random
from mahjong_env.observation.acceptance import FAR
from mahjong_env.ruleset.shapes import other_shapes
from mahjong_env.testing import random_actions
from oracle import hands as brute_force
from support.distances import any_shape
from support.marks import variants

ORPHANS = brute_force.ORPHANS


def positions(variant, games=6, seed=0, rounds=90):
    """Engines in mid-hand; half of the choices are greedy ones, so that hands come near a win."""
    engine = make_engine(variant, games, seed=seed, auto_reset=True, **any_shape(variant))
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


def slow_help(view, row, hand, melds):
    """The unseen tiles that bring a hand of a discard nearer."""
    now, wild, found = slow_distance(view.rules, hand, int(view.wild[row]), melds), int(view.wild[row]), 0
    for kind in np.flatnonzero(~view.rules.flower_kinds[:34] & (view.unseen[row] > 0)):
        more = hand + (np.arange(34) == kind)
        if kind == wild or (hand[kind] < 4 and slow_distance(view.rules, more, wild, melds) < now):
            found += int(view.unseen[row, kind]) * (now > 0)
    return found


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
    @pytest.mark.parametrize("variant", variants("hebei"))
    def test_every_action_leaves_what_it_says(self, variant):
        checked = dict.fromkeys(("discard", "kong", "claim", "pass"), 0)
        rng = np.random.default_rng(1)
        helped = 0
        for step, engine in enumerate(positions(variant)):
            view = engine.view()
            ahead = look_ahead(view)
            distance = ahead.distance
            nearest = np.where(view.action_mask[:, :34], distance[:, :34], FAR).argmin(axis=1)
            nearest[distance[np.arange(len(view)), nearest] > distance.min(axis=1)] = -1
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
                if step % 3 == 0 and chosen == nearest[game]:
                    helping = slow_help(view, game, *after)
                    assert ahead.help[game, chosen] == helping, ACTIONS[chosen]
                    helped += helping > 0
                checked["kong" if "kong" in kind else "claim" if CHOW_LOW <= chosen <= PUNG else kind[0]] += 1
        assert checked["discard"] > 50
        assert checked["claim"] > 0
        assert checked["pass"] > 0
        assert helped > 3


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
