"""How much could perfect defence bring? `PYTHONPATH=tests python -m experiments.defence_bound --deals 400`.

The reference agent against copies of itself, but it looks into the hands of the others: a discard that somebody waits
for is replaced by the best one that nobody waits for, among those that leave the hand as near to a win ("as near"), or
among all ("any"). No player who keeps to the rules can defend as well; what is measured here bounds what an agent can
gain by defence over greedy play.
"""

from __future__ import annotations

import argparse
import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.control_variates import useful_weights
from mahjong_agents.greedy import reference_agent
from mahjong_env import VARIANTS, View
from mahjong_env.basics.actions import CONCEALED_KONG
from mahjong_env.basics.notation import MeldType
from mahjong_env.hands.codes import NUM_KINDS, encode
from mahjong_env.hands.kind_sets import count_planes, unpack
from mahjong_env.hands.shanten import Hands, Shanten
from mahjong_env.observation.acceptance import kinds_wanted, look_ahead
from mahjong_env.ruleset.shapes import other_shapes
from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import in_sigma, measure

SEED = 778


class AllSeeing:
    """The reference agent, which never discards what somebody waits for if another discard will do."""

    def __init__(self, *, as_near: bool) -> None:
        """Choose whether only discards will do that leave the hand as near to a win."""
        self.name, self._as_near = "all-seeing", as_near

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        actions: NDArray[np.int64] = reference_agent(view.rules).act(view, rng)
        rows = np.flatnonzero(actions < CONCEALED_KONG)
        waited_for = waits_of_others(view, rows)
        rows, waited_for = (part[waited_for[np.arange(len(rows)), actions[rows]]] for part in (rows, waited_for))
        seen = view.take(rows)
        ahead = look_ahead(seen)
        distance, help_ = ahead.distance[:, :NUM_KINDS].astype(np.intp), ahead.help[:, :NUM_KINDS]
        will_do = seen.action_mask[:, :NUM_KINDS] & ~waited_for
        if self._as_near:
            will_do &= distance == distance.min(axis=1, keepdims=True)
        best = np.where(will_do, help_ - 1000 * distance, np.iinfo(np.intp).min).argmax(axis=1)
        some = np.flatnonzero(will_do.any(axis=1))
        actions[rows[some]] = best[some]
        return actions


def waits_of_others(view: View, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return [k, 34] the kinds that complete the hand of another seat; limits on wins are not asked."""
    # No view tells; but what a function works with is open to whoever wants to know (docs/evaluation.md).
    origin: Any = inspect.getclosurevars(vars(view)["_ask"]).nonlocals["origin"]
    state, rules = origin.engine.state, view.rules
    games, own = (np.asarray(part)[rows].astype(np.intp) for part in (origin.games, origin.seats))
    wild, found = view.wild[rows], np.zeros((len(rows), NUM_KINDS), np.bool_)
    some = np.flatnonzero(wild >= 0)
    for step in range(1, rules.seats):
        seat = (own + step) % rules.seats
        natural, wilds = state.hand[games, seat][:, :NUM_KINDS].copy(), np.zeros(len(rows), np.int8)
        wilds[some] = natural[some, wild[some]]
        natural[some, wild[some]] = 0
        melds = (state.meld_type[games, seat] > MeldType.NONE).sum(axis=1)
        counts = count_planes(natural) if any(other_shapes(rules)) else None
        shanten = Shanten(
            Hands(encode(natural).T.copy(), wilds, rules.sets - melds, melds == 0, counts), other_shapes(rules)
        )
        kinds = kinds_wanted(shanten, np.maximum(shanten.distance, 1), wild if rules.has_wild else None, rules)
        found |= unpack(kinds) & (shanten.distance == 1)[:, None]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deals", type=int, default=400)
    deals = parser.parse_args().deals
    heads = ("variant", "the other discard is", "sigma a hand", "wins (each other)", "deal-ins (each other)")
    print(f"| {' | '.join(heads)} |", "|---" * len(heads) + "|", sep="\n")
    for name, rules in sorted(VARIANTS.items()):
        for as_near in (True, False):
            agents, off = [AllSeeing(as_near=as_near), reference_agent(rules)], useful_weights(rules) is not None
            lineup = one_against_copies(0, 1, rules.people)
            found = measure(rules, agents, lineup, deals=deals, seed=SEED, control_variates=off)
            one, other = found.of(0), found.of(1)
            gain = in_sigma(rules, one.points)
            points = gain.text(3, sign="+")
            rates = [
                f"{100 * getattr(one, what).mean:.1f} % ({100 * getattr(other, what).mean:.1f} %)"
                for what in ("wins", "deal_ins")
            ]
            print(f"| {name} | {'as near' if as_near else 'any'} | {points} | {' | '.join(rates)} |", flush=True)


if __name__ == "__main__":
    main()
