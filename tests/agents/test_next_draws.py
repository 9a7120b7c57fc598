"""What the next draws would make of a hand, against a plain enumeration with the public scoring."""

from __future__ import annotations

import numpy as np
import pytest

from mahjong_agents import GreedyAgent, look_ahead
from mahjong_agents.value.completions import next_draws, unit
from mahjong_env import action, make_engine, score
from mahjong_env.hands.codes import encode
from mahjong_env.hands.distance import cheapest_hands

TILES = [f"{rank}{suit}" for suit in "mps" for rank in range(1, 10)] + [f"{rank}z" for rank in range(1, 8)]
STEPS = {"fuzhou": 16}


def late_view(variant, games=400, steps=None):
    """Positions of greedy play, late in the hand."""
    steps = STEPS.get(variant, 50) if steps is None else steps
    engine, agent, rng = make_engine(variant, games, seed=11), GreedyAgent(), np.random.default_rng(0)
    for _ in range(steps):
        live = np.flatnonzero(engine.seat_to_act >= 0)
        engine.step(agent.act(engine.view(live), rng), games=live)
    return engine.view(np.flatnonzero(engine.seat_to_act >= 0))


def looked_at(view):
    row, legal = np.nonzero(view.action_mask)
    distance = look_ahead(view).distance
    nearest = distance.min(axis=1)[row] == distance[row, legal]
    return row, legal, distance[row, legal], next_draws(view, row, legal, distance[row, legal], nearest)


def short(natural, wilds, sets):
    """Tiles that natural tiles and wild ones lack of sets and a pair."""
    return max(int(cheapest_hands(encode(natural[None]).T, np.array([sets])).short[0]) - wilds, 0)


def parts(view, row, discard):
    natural = view.hand[row].copy()
    natural[discard] -= 1
    wild = int(view.wild[row])
    wilds = int(natural[wild]) if wild >= 0 else 0
    if wild >= 0:
        natural[wild] = 0
    return natural, wilds, wild, view.rules.sets - int(view.num_melds[row, 0])


def drawn(view, row, natural, wilds, wild):
    """Yield every kind that may be drawn, with the hand that it makes."""
    for kind in np.flatnonzero((view.unseen[row] > 0) & ~np.asarray(view.rules.flower_kinds[:34], bool)):
        after = natural.copy()
        if kind != wild:
            after[kind] += 1
        yield kind, after, wilds + (kind == wild)


def help_after_two(view, row, discard):
    """Return twice the mean of what the best discard will then wait for; sets and a pair alone."""
    natural, wilds, wild, sets = parts(view, row, discard)
    total = weight = 0
    for kind, after, more in drawn(view, row, natural, wilds, wild):
        if short(after, more, sets) != 1:
            continue
        best = 0
        for spare in np.flatnonzero(after):
            rest = after.copy()
            rest[spare] -= 1
            if short(rest, more, sets) != 1:
                continue
            waits = [k for k, won, w in drawn(view, row, rest, more, wild) if short(won, w, sets) == 0]
            best = max(best, int(view.unseen[row, waits].sum()))
        total += best * int(view.unseen[row, kind])
        weight += int(view.unseen[row, kind])
    return round(2 * total / weight) if weight else 0


@pytest.mark.parametrize("variant", ["taiwan", "fuzhou", "wuhan"])
def test_help_after_the_next_draw_is_that_of_an_enumeration(variant):
    view = late_view(variant)
    row, legal, distance, found = looked_at(view)
    some = np.flatnonzero((legal < 34) & (distance == 2) & (found.next_help > 0) & (view.wild[row] != legal))
    assert len(some) > 10
    for at in some[:: max(len(some) // 12, 1)]:
        assert found.next_help[at] == min(help_after_two(view, row[at], legal[at]), 127)


def test_waits_are_worth_their_tiles_times_what_they_pay():
    view = late_view("hangzhou")
    row, legal, distance, found = looked_at(view)
    seen = 0
    may_win, choices = view.action_mask[:, action("win")], view.action_mask.sum(axis=1)
    closed = (view.num_melds[row, 0] == 0) & ~may_win[row] & (choices[row] > 1)
    for at in np.flatnonzero((legal < 34) & (distance == 1) & closed):
        natural, wilds, wild, _ = parts(view, row[at], legal[at])
        held = np.flatnonzero(np.bincount([legal[at]], minlength=34) * -1 + view.hand[row[at]])
        tiles = "".join(TILES[kind] * int(natural[kind] + wilds * (kind == wild)) for kind in {*held, wild} - {-1})
        worth = 0
        for kind in np.flatnonzero(view.unseen[row[at]] > 0):
            won = score(
                "hangzhou",
                hand=tiles,
                winning_tile=TILES[kind],
                source="draw",
                wild=TILES[wild],
                dealer=int(view.dealer[row[at]]),
                dealer_streak=int(view.streak[row[at]]),
            )
            if won.legal:
                worth += int(view.unseen[row[at], kind]) * won.payments[0]
        expected = min(round(10 * (worth / unit(view.rules)) ** 0.5), 127)
        assert found.by_draw[at] == expected
        seen += worth > 0
    assert seen > 5


def test_a_wait_that_may_not_be_won_on_a_discard_is_worth_nothing_there():
    view = late_view("hangzhou")
    row, _, distance, found = looked_at(view)
    is_early = (view.streak[row] < 2) & (distance == 1) & (found.by_draw > 0)
    assert is_early.sum() > 5
    assert (found.by_discard[is_early] == 0).all()


def test_wins_and_far_hands_are_not_looked_at():
    view = late_view("hebei", steps=5)
    _, legal, distance, found = looked_at(view)
    away = (legal == action("win")) | (distance > 2)
    for numbers in (found.next_help, found.by_draw, found.by_discard):
        assert (numbers[away] == 0).all()
