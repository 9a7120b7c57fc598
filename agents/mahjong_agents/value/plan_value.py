"""An agent that compares plans for its hand by what the variant's scoring pays for the hands that they may lead to."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.greedy import reference_agent
from mahjong_agents.plans import (
    ANY,
    DISCARD,
    PAIRS,
    Melds,
    Options,
    Prospects,
    discards_for,
    options_of,
    plans_within_reach,
)
from mahjong_agents.policy.network import greatest_of_rows
from mahjong_agents.value.completions import complete, declined_wins, lay_open, price
from mahjong_env import AgentError, View
from mahjong_env.basics.actions import CONCEALED_KONG, WIN
from mahjong_env.basics.types import is_integer
from mahjong_env.hands.kind_sets import BIT_OF_KIND, count_planes, count_tiles
from mahjong_env.observation.acceptance import look_ahead
from mahjong_env.ruleset.shapes import other_shapes
from mahjong_env.scoring.wins import Source

PATIENCE: Final = 1.4
"""The factor by which the next draw must pay more on average than a win for the win to be declined."""
_MOST_SAMPLES: Final = 1000
_MOST_MARGIN: Final = 1000
_NO_KIND = np.uint64(0)
_REACH: Final = 3
"""The plans that are compared are at most this many tiles farther than the nearest one."""
# Others' tiles that a hand may claim for each tile that it draws; for a closed hand, other ways to come nearer.
_CLOSED_CLAIMS: Final = 1.0
_OPEN_CLAIMS: Final = 2.4
_LAST_CLAIMS: Final = 1.2
_RIVALS: Final = 0.35
"""Probability that another seat wins between two draws, at the end of the wall."""
_MOST_DISTANCE: Final = 9
_MOST_TURNS: Final = 24
_TYPICAL_ACCEPTANCE: Final = np.array([1.0, 5.5, 14.5, 25.0, 40.0, 58.0, 75.0, 85.0, 90.0, 95.0])
"""The typical number of unseen tiles that bring a hand of the greedy agent nearer, at distances from 0 on."""


def check_margin(agent: str, margin: Any) -> None:
    """Raise `AgentError` unless a margin is a number from 0 to 1000."""
    if isinstance(margin, bool) or not isinstance(margin, int | float) or not 0 <= margin <= _MOST_MARGIN:
        raise AgentError(f"{agent}: margin is a number from 0 to {_MOST_MARGIN}, not {margin!r}")


def decline_wins(view: View, actions: NDArray[np.int64]) -> None:
    """Decline wins where the next draw would pay at least `PATIENCE` times as much on average.

    They are replaced by the actions that lead to that draw.

    Args:
        view: what n seats see.
        actions: [n] their actions; changed in place.
    """
    wins = np.flatnonzero(actions == WIN)
    if not wins.size:
        return
    asked = view.take(wins)
    row, action = np.nonzero(asked.action_mask)
    pays, declined = declined_wins(asked, row, action, look_ahead(asked).distance[row, action])
    best = greatest_of_rows(declined, row)
    of_win = (pays[action == WIN] / 10.0) ** 2
    of_draw = (declined[best] / 5.0) ** 2 / np.maximum(asked.unseen.sum(axis=1), 1)
    declines = of_draw >= PATIENCE * of_win
    actions[wins[declines]] = action[best[declines]]


class PlanValueAgent:
    """Compares plans: any shape, one suit with or without honours, pungs alone, seven pairs.

    For every legal action and every plan that it leaves possible, the agent completes the hand with unseen tiles,
    scores the completions by the rules of the variant, and multiplies what they pay by the probability to complete them
    in time. It departs from the reference agent's choice only for one that is worth much more, and then plays for the
    plan as the greedy agent plays for any shape. It declines a win only for a draw that pays more on average.

    Where a win needs points (`Rules.aims`), it plays as the reference agent. Most hands that its plan "any shape" leads
    to may not win there, so that there is nothing to compare the other plans with.

    Attributes:
        name: "plan-value".
        games_at_once: see `mahjong_agents.base.games_at_once`.
    """

    name = "plan-value"
    games_at_once: Final = 1000

    def __init__(self, *, samples: int = 3, margin: float = 1.0) -> None:
        """Set how carefully the agent compares.

        Args:
            samples: the number of completions for each action and plan.
            margin: how much more another choice must be worth than the reference agent's, as a share of the latter; 1
                means twice as much.

        Raises:
            AgentError: ``samples`` is not an integer from 1 to 1000, or ``margin`` not a number from 0 to 1000.
        """
        if not is_integer(samples) or not 1 <= samples <= _MOST_SAMPLES:
            raise AgentError(f"plan-value: samples is an integer from 1 to {_MOST_SAMPLES}, not {samples!r}")
        check_margin("plan-value", margin)
        self._samples, self._margin = samples, margin

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        """Choose the action and plan worth most; see `mahjong_agents.Agent.act`."""
        usual = reference_agent(view.rules).act(view, rng)
        decline_wins(view, usual)
        if view.rules.aims is not None:
            return usual
        actions = usual.copy()
        options = options_of(view, np.flatnonzero(~view.action_mask[:, WIN] & view.action_mask.any(axis=1)))
        if not options.row.size:
            return actions
        melds = options.melds
        prospects = plans_within_reach(options.hands, melds.type, melds.kind, other_shapes(view.rules), _REACH)
        worth = self._worth(view, options, prospects, rng)
        is_usual = options.action == np.where(usual < CONCEALED_KONG, DISCARD, usual)[options.row]
        worth *= np.where(is_usual[prospects.hand] & (prospects.plan == ANY), 1 + self._margin, 1)

        row = options.row[prospects.hand]
        best = np.zeros(len(view))
        np.maximum.at(best, row, worth)
        chosen = np.flatnonzero((worth == best[row]) & (worth > 0))
        chosen = chosen[np.unique(row[chosen], return_index=True)[1]]
        option, plan = prospects.hand[chosen], prospects.plan[chosen]
        action = options.action[option]
        actions[row[chosen]] = np.where(action == DISCARD, actions[row[chosen]], action)
        planned = np.flatnonzero((action == DISCARD) & ((plan != ANY) | (usual[row[chosen]] >= CONCEALED_KONG)))
        at, hands = row[chosen[planned]], options.hands.take(option[planned])
        actions[at] = discards_for(view.take(at), hands, plan[planned], rng)
        return actions

    def _worth(
        self, view: View, options: Options, prospects: Prospects, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Return [k] the points that each pair of an option and a plan promises, played closed or open."""
        hand, plan = prospects.hand, prospects.plan
        row, hands, melds = options.row[hand], options.hands.take(hand), options.melds.take(hand)
        wild, unseen = view.wild[row], view.unseen[row]
        helps = prospects.help | np.where(wild >= 0, BIT_OF_KIND.take(wild, mode="wrap"), _NO_KIND)
        acceptance = count_tiles(helps, count_planes(unseen)).astype(np.float64)
        tiles = np.maximum(unseen.sum(axis=1), 1).astype(np.float64)
        drawable = view.rules.deck.sum() - view.rules.reserve - view.rules.seats * view.rules.hand_size
        elapsed = np.clip(1 - view.left[row] / drawable, 0, 1)
        turns = view.left[row] / view.rules.seats

        def priced(rows: Any, counts: Any, wilds: Any, last: Any, melds: Melds) -> NDArray[np.float64]:
            """Return [3, k] points by draw, points by discard, and whether a discard may be won on."""
            by_draw = price(view, rows, counts, wilds, last, melds, Source.DRAW)
            by_discard = price(view, rows, counts, wilds, last, melds, Source.DISCARD)
            return np.stack([by_draw, by_discard, by_discard > 0])

        # Sums over completions: of hands as they are, and of closed hands that lay a set open.
        assert hands.counts is not None
        natural = hands.counts.counts()
        some = np.flatnonzero(wild >= 0)
        unseen[some, wild[some]] = 0
        closed = np.flatnonzero(hands.closed & (plan != PAIRS))
        of, melds_of = hands.take(closed), melds.take(closed)
        sums, opened_sums = np.zeros((3, len(hand))), np.zeros((3, len(closed)))
        for _ in range(self._samples):
            counts, last = complete(natural, hands.wilds, hands.sets, plan, unseen, rng)
            sums += priced(row, counts, hands.wilds, last, melds)
            opened, laid, has_set = lay_open(counts[closed], of.wilds, of.sets, melds_of, rng)
            held = opened[np.arange(len(closed)), last[closed]] > 0
            last = np.where(held, last[closed], opened.argmax(axis=1))
            opened_sums += priced(row[closed], opened, of.wilds, last, laid) * has_set
        open_sums = sums.copy()
        open_sums[:, closed] = opened_sums

        worth = np.zeros(len(hand))
        for is_allowed, claims, (by_draw, by_discard, legal) in (
            (hands.closed, _CLOSED_CLAIMS, sums),
            (plan != PAIRS, _OPEN_CLAIMS, open_sums),
        ):
            discards = _LAST_CLAIMS * legal / self._samples  # winning discards of others for each draw
            points = (by_draw / self._samples + discards * by_discard / np.maximum(legal, 1)) / (1 + discards)
            chance = win_probability(prospects.distance, acceptance, tiles, claims, discards, turns, elapsed)
            worth = np.maximum(worth, chance * points * is_allowed)
        return worth


def win_probability(
    distance: NDArray[np.int8],
    acceptance: NDArray[np.float64],
    unseen: NDArray[np.float64],
    claims: float,
    last_claims: NDArray[np.float64],
    turns: NDArray[np.float64],
    elapsed: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the probability [k] that hands are completed before somebody else wins or the wall ends.

    Args:
        distance: [k] tiles that the hand lacks.
        acceptance: [k] unseen tiles that bring the hand nearer. At the distances that follow, the acceptance is taken
            to differ from the usual one by the same factor, 0.1 to 2.
        unseen: [k] unseen tiles, at least 1.
        claims: the number of others' tiles that the hand may claim, for each tile that it draws.
        last_claims: [k] the same for the winning tile.
        turns: [k] draws that the seat may still have.
        elapsed: [k] the share of the wall that has been drawn.
    """
    distance = np.clip(distance, 1, _MOST_DISTANCE)
    pace = np.clip(acceptance / _TYPICAL_ACCEPTANCE[distance], 0.1, 2.0)
    steps = np.arange(1, _MOST_DISTANCE + 1)
    share = np.minimum(_TYPICAL_ACCEPTANCE[1:] * (pace / unseen)[:, None], 0.9)
    share = np.where(steps == distance[:, None], (acceptance / unseen)[:, None], share)
    tiles = 1 + np.where(steps == 1, last_claims[:, None], claims)
    step = 1 - (1 - share) ** tiles
    at = (steps == distance[:, None]).astype(np.float64)
    won = np.zeros(len(distance))
    for turn in range(min(_MOST_TURNS, int(np.ceil(turns.max(initial=0))))):
        move = at * step * np.clip(turns - turn, 0, 1)[:, None]
        won += move[:, 0]
        at -= move
        at[:, :-1] += move[:, 1:]
        drawn = elapsed + (1 - elapsed) * np.minimum(turn / np.maximum(turns, 1), 1)
        at *= (1 - _RIVALS * drawn)[:, None]
    return won
