"""Greedy and its lookahead as they were first written: every action's hand is looked at with every tile. Slow.

The agent has been made faster since, and keeps its choices: tests compare it with this one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env import ACTIONS, Rules, View, action
from mahjong_env.hands.codes import POWER, SUIT, encode
from mahjong_env.ruleset.shapes import other_shapes
from support.distances import (
    decode,
    distance_to_sets_and_pair,
    distance_to_seven_pairs,
    distance_to_thirteen_orphans,
)

FAR: Final = 100
"""The distance that illegal actions are given."""

NUM_KINDS: Final = len(POWER)
CONCEALED_KONG: Final = action("concealed kong 1m")
ADDED_KONG: Final = action("added kong 1m")
CHOW: Final = action("chow low")
PUNG: Final = action("pung")
KONG: Final = action("kong")
WIN: Final = action("win")
PASS: Final = action("pass")

_ORPHANS = np.array([0, 8, 9, 17, 18, 26, *range(27, NUM_KINDS)])
_IS_ORPHAN = np.isin(np.arange(NUM_KINDS), _ORPHANS)
# Which kind leaves the hand with each action, and how many tiles of it; the kind of claims is the offered tile.
_KIND = np.tile(np.arange(NUM_KINDS), 3)
_AMOUNT = np.zeros(len(ACTIONS), np.int8)
_AMOUNT[:CONCEALED_KONG], _AMOUNT[CONCEALED_KONG:ADDED_KONG], _AMOUNT[ADDED_KONG:CHOW] = 1, 4, 1
_AMOUNT[PUNG], _AMOUNT[KONG] = 2, 3
_NEW_MELD = np.zeros(len(ACTIONS), np.int8)
_NEW_MELD[CONCEALED_KONG:ADDED_KONG] = _NEW_MELD[CHOW : KONG + 1] = 1
# The two tiles that "chow low", "chow middle" and "chow high" take from the hand, relative to the claimed one.
_CHOW_STEPS = np.array([[1, 2], [-1, 1], [-2, -1]])


@dataclass(frozen=True)
class Lookahead:
    """What each legal action of n seats leads to.

    Attributes:
        distance: [n, 109] int8 tiles that the hand lacks after the action (for chows and pungs after the best
            discard that follows, too), 0 for a win, `FAR` for illegal actions.
        help: [n, 109] int16 tiles not seen yet that would lower the distance, for the actions of the least
            distance in their row (after a chow or pung: those that would with one of the discards); 0 elsewhere.
    """

    distance: NDArray[np.int8]
    help: NDArray[np.int16]


def look_ahead(view: View) -> Lookahead:
    """Look one action ahead for every row of a view."""
    after = _Hands.after_actions(view)
    after_distance = after.distance(view.rules)
    distance = np.full(view.action_mask.shape, FAR, np.int8)
    distance[after.row, after.action] = after_distance

    nearest = np.flatnonzero((after_distance == distance.min(axis=1)[after.row]) & (after.action != WIN))
    hands = after.take(nearest)
    kinds = hands.helping(view, after_distance[nearest])
    help_ = np.zeros(distance.shape, np.int16)
    help_[hands.row, hands.action] = (kinds * view.unseen[hands.row]).sum(axis=1, dtype=np.int16)
    return Lookahead(distance, help_)


@dataclass(frozen=True)
class _Hands:
    """m hands, each what one action in one row leaves concealed."""

    row: NDArray[np.intp]  # [m] row of the view, ascending
    action: NDArray[np.intp]  # [m]
    counts: NDArray[np.int8]  # [m, 34] without wild tiles
    codes: NDArray[np.int32]  # [m, 4] the same
    wilds: NDArray[np.int8]  # [m]
    sets: NDArray[np.int8]  # [m] sets that are still wanted
    closed: NDArray[np.bool_]  # [m] no melds

    def take(self, which: NDArray[np.intp]) -> _Hands:
        """Return some of them."""
        return _Hands(
            self.row[which],
            self.action[which],
            self.counts[which],
            self.codes[which],
            self.wilds[which],
            self.sets[which],
            self.closed[which],
        )

    @classmethod
    def after_actions(cls, view: View) -> _Hands:
        """Return the hand after each legal action."""
        row, chosen = np.nonzero(view.action_mask)
        places = np.arange(len(row))
        offered = np.maximum(view.offered, 0)[row]
        kind = np.where(chosen < CHOW, _KIND[np.minimum(chosen, CHOW - 1)], offered)
        amount = _AMOUNT[chosen]
        new_melds = _NEW_MELD[chosen]
        # A discard that may be added to an open pung takes nothing from the hand.
        adds = (chosen == KONG) & (view.hand[row, kind] < 3)
        amount[adds] = 0
        new_melds[adds] = 0
        is_wild = kind == view.wild[row]
        wilds = view.own_wilds[row] - amount * is_wild
        amount[is_wild] = 0

        counts = view.natural_hand[row]
        counts[places, kind] -= amount
        codes = encode(view.natural_hand)[row]
        codes[places, SUIT[kind]] -= POWER[kind] * amount
        chow = np.flatnonzero((chosen >= CHOW) & (chosen < PUNG))
        for step in _CHOW_STEPS[chosen[chow] - CHOW].T:
            taken = offered[chow] + step
            counts[chow, taken] -= 1
            codes[chow, SUIT[taken]] -= POWER[taken]
        melds = view.num_melds[row, 0] + new_melds
        sets = np.int8(view.rules.sets) - melds
        return cls(row, chosen, counts, codes, wilds, sets, melds == 0)

    def distance(self, rules: Rules) -> NDArray[np.int8]:
        """Return [m] the distance to the nearest shape."""
        distance = distance_to_sets_and_pair(self.codes, self.sets, self.wilds)
        for missing, closed in self._other_distances(rules):
            distance[closed] = np.minimum(distance[closed], missing)
        # A claimed meld is followed by a discard, which leaves a complete hand one tile short.
        claims = (self.action >= CHOW) & (self.action <= PUNG)
        distance[claims] = np.maximum(distance[claims], 1)
        distance[self.action == WIN] = 0
        return distance

    def _other_distances(self, rules: Rules) -> list[tuple[NDArray[np.int8], NDArray[np.intp]]]:
        """Return the distances to the other shapes that are played, and the hands that they are about."""
        with_pairs, with_orphans = other_shapes(rules)
        closed = np.flatnonzero(self.closed) if with_pairs or with_orphans else np.zeros(0, np.intp)
        if not closed.size:
            return []
        counts = self.counts[closed]
        found = []
        if with_pairs:
            found.append((distance_to_seven_pairs(counts, self.wilds[closed]), closed))
        if with_orphans:
            found.append((distance_to_thirteen_orphans(counts), closed))
        return found

    def helping(self, view: View, distance: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Return [m, 34] the kinds whose draw brings hands at these distances nearer to a win."""
        helps = helping_kinds(self.codes, self.sets, self.wilds)
        helps[distance_to_sets_and_pair(self.codes, self.sets, self.wilds) > distance] = False
        with_pairs, with_orphans = other_shapes(view.rules)
        if with_pairs:
            at = np.flatnonzero(self.closed)
            at = at[distance_to_seven_pairs(self.counts[at], self.wilds[at]) == distance[at]]
            helps[at] |= _helps_seven_pairs(self.counts[at])
        if with_orphans:
            at = np.flatnonzero(self.closed)
            at = at[distance_to_thirteen_orphans(self.counts[at]) == distance[at]]
            helps[at] |= _helps_orphans(self.counts[at])
        wild = view.wild[self.row]
        some = np.flatnonzero(wild >= 0)
        helps[some, wild[some]] = distance[some] > 0
        # A kind that is laid open and replaced never stays in the hand.
        helps[:, view.rules.flower_kinds[:NUM_KINDS]] = False
        return helps


def helping_kinds(codes: NDArray[Any], sets: NDArray[Any], wilds: NDArray[Any]) -> NDArray[np.bool_]:
    """Return [m, 34] the kinds held less than four times whose draw lowers the distance to sets and a pair."""
    now = distance_to_sets_and_pair(codes, sets, wilds)
    helps = np.zeros((len(codes), NUM_KINDS), np.bool_)
    for kind, held in enumerate(decode(codes).T):
        may_draw = np.flatnonzero(held < 4)
        more = codes[may_draw].copy()
        more[:, SUIT[kind]] += POWER[kind]
        helps[may_draw, kind] = distance_to_sets_and_pair(more, sets[may_draw], wilds[may_draw]) < now[may_draw]
    return helps


def _helps_seven_pairs(counts: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Return [m, 34] kinds that make a pair, or the first tile of one that is still lacking."""
    odd = counts % 2 == 1
    lacks_kinds = (counts >> 1).sum(axis=1) + odd.sum(axis=1) < 7
    return odd | (lacks_kinds[:, None] & (counts < 4))


def _helps_orphans(counts: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Return [m, 34] ones, nines and honours that lack, all of them while there is no pair."""
    has_pair = np.any(counts[:, _ORPHANS] > 1, axis=1, keepdims=True)
    return _IS_ORPHAN & ((counts == 0) | ((counts == 1) & ~has_pair))


_RANK = np.full(len(ACTIONS), 1, np.int32)
_RANK[CONCEALED_KONG:CHOW] = _RANK[KONG] = 0
_RANK[CHOW : PUNG + 1] = 2
_RANKS: Final = 3
_MOST_HELP: Final = 200  # more than the tiles of any set
_HAS_WON: Final = -1
_NEVER: Final = (FAR + 1) * _RANKS * _MOST_HELP


def choose(view: View, rng: np.random.Generator, *, claims: bool = True) -> NDArray[np.int64]:
    """Return the nearest way in each row."""
    best = best_actions(view, look_ahead(view), claims=claims)
    lots = rng.random(best.shape, np.float32)
    lots[~best] = -1.0
    return lots.argmax(axis=1)


def best_actions(view: View, ahead: Lookahead, *, claims: bool = True) -> NDArray[np.bool_]:
    """Return [n, 109] bool the actions between which `GreedyAgent` sees no difference."""
    cost = (ahead.distance.astype(np.int32) * _RANKS + _RANK) * _MOST_HELP - ahead.help
    cost[:, WIN] = _HAS_WON
    if not claims:
        cost[:, CHOW : KONG + 1] = _NEVER
    cost[~view.action_mask] = _NEVER
    best: NDArray[np.bool_] = cost == cost.min(axis=1, keepdims=True)
    return best
