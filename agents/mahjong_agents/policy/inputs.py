"""A few strong inputs for each legal action, with which a small network can weigh actions against each other.

Networks over whole observations need millions of hands to learn what can be computed: how far each action leaves the
hand from a win, what would help then, which plan it fits, and what others may do with the tile. This module computes
all of it, so that a network that looks at one action at a time is small enough to learn from the hands of minutes.

It needs only numpy, and the inputs are the same for every variant. Each is a small integer with a scale that makes it
about 1.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.plans import FAR_PLANS, PAIRS, PUNGS, far_plans, melds_after, weigh
from mahjong_agents.policy.custom_features import Features, added_inputs
from mahjong_agents.value.completions import declined_wins, next_draws
from mahjong_env import View
from mahjong_env.basics.actions import ADDED_KONG, CHOW_LOW, CONCEALED_KONG, KONG, NUM_ACTIONS, PASS, PUNG, WIN
from mahjong_env.basics.notation import MeldType
from mahjong_env.hands.codes import NUM_KINDS, RANKS, SUIT, split_wilds
from mahjong_env.hands.kind_sets import BIT_OF_KIND, count_planes
from mahjong_env.hands.shanten import Hands
from mahjong_env.observation.acceptance import FAR, concealed, hands_after, look_ahead, tiles_after

_GROUPS: Final = ("discard", "concealed kong", "added kong", "chow", "pung", "kong", "win", "pass")
GROUP_STARTS: Final = (0, CONCEALED_KONG, ADDED_KONG, CHOW_LOW, PUNG, KONG, WIN, PASS)
_PLANS: Final = ("one suit", "one suit and honours", "pungs", "pairs")
_PLACES: Final = {"two below": -2, "below": -1, "above": 1, "two above": 2}
_NEVER: Final = 9  # the distance of a plan that is no longer possible
_OTHERS: Final = (1, 2, 3)
_MARKS: Final = 4
_HONOUR: Final = 3  # the group of honours
_SUIT: Final = SUIT.astype(np.intp)
_RANK: Final = np.arange(NUM_KINDS) % RANKS
_BYTE_OF_SUIT: Final = np.uint32(1) << np.uint32(8) * _SUIT.astype(np.uint32)
_EDGE: Final = np.where(_SUIT == _HONOUR, 0, np.minimum(_RANK, RANKS - 1 - _RANK)).astype(np.int8)
_IS_258: Final = (_SUIT != _HONOUR) & (_RANK % 3 == 1)
# Rows of counts with two empty places on both sides of each suit and each honour, so that neighbours are one step away.
_WIDTH: Final = 2 + 3 * (RANKS + 2) + 3 * (NUM_KINDS - 3 * RANKS)
_AT: Final = np.where(_SUIT == _HONOUR, 3 * RANKS + 8 + 3 * _RANK, 2 + np.arange(NUM_KINDS) + 2 * _SUIT)
_IS_GROUP: Final = np.arange(len(_GROUPS))[:, None] == np.repeat(
    np.arange(len(_GROUPS)), np.diff([*GROUP_STARTS, NUM_ACTIONS])
)

VERSION: Final = 2
"""The version of the inputs. Raise it when an input changes its meaning, so that older policy files are refused.

Planes that are added to observations change nothing here."""

ACTION_FACTS: Final[Mapping[str, float]] = {
    **dict.fromkeys(_GROUPS, 1.0),
    "behind": 1.0,
    "behind at all": 1.0,
    "help": 0.05,
    "help lacking": 0.1,
    "distance": 0.3,
    "opens the hand": 1.0,
    **{f"distance to {plan}": 0.2 for plan in _PLANS},
    **{f"away from {plan}": 1.0 for plan in _PLANS},
    "wild": 1.0,
    "honour": 1.0,
    "from the edge": 0.3,
    "2, 5 or 8": 1.0,
    "held": 0.5,
    "held beside": 0.3,
    "held two away": 0.3,
    "unseen": 0.3,
    "unseen beside": 0.15,
    "unseen two away": 0.15,
    "just drawn": 1.0,
    "lying": 0.5,
    "lately discarded": 0.2,
    **{f"discarded by {slot}": 1.0 for slot in _OTHERS},
    **{f"in the suit of {slot}": 0.5 for slot in _OTHERS},
    "held of the suit": 0.2,
    "in the longest suit": 1.0,
    "round wind": 1.0,
    "own wind": 1.0,
    "dragon": 1.0,
    "never melded": 1.0,
    **{f"held {place}": 0.5 for place in _PLACES},
    **{f"unseen {place}": 0.3 for place in _PLACES},
    **{f"distance to {plan}": 0.2 for plan in FAR_PLANS},
    **{f"away from {plan}": 1.0 for plan in FAR_PLANS},
    "next help": 0.05,
    "next help lacking": 0.1,
    "wait by draw": 0.03,
    "wait by draw lacking": 0.05,
    "wait by discard": 0.03,
    "wait by discard lacking": 0.05,
    "win pays": 0.1,
    "win declined": 0.06,
}
"""The names of the A numbers for each action, with their scales."""

TABLE_FACTS: Final[Mapping[str, float]] = {
    **{f"distance {distance}": 1.0 for distance in range(8)},
    "best help": 0.05,
    "left": 0.03,
    "discards": 0.03,
    "closed": 1.0,
    "melds": 0.5,
    "flowers": 0.2,
    "wilds": 0.5,
    "wilds unseen": 0.5,
    "wild": 1.0,
    **{f"suit {place}": 0.2 for place in ("longest", "second", "third")},
    "honours": 0.2,
    "pairs": 0.3,
    "pairs of 2, 5 or 8": 0.5,
    "triplets": 0.5,
    "never melded": 0.5,
    **{f"distance to {plan}": 0.2 for plan in _PLANS},
    **{f"phase {phase}": 1.0 for phase in range(1, 6)},
    **{f"opening {stage}": 1.0 for stage in range(1, 4)},
    **{f"offered by {slot}": 1.0 for slot in _OTHERS},
    **{f"dealer {slot}": 1.0 for slot in range(4)},
    "streak": 0.3,
    **{f"melds of {slot}": 0.5 for slot in _OTHERS},
    **{f"flowers of {slot}": 0.2 for slot in _OTHERS},
    **{f"one suit of {slot}": 0.5 for slot in _OTHERS},
    **{f"own mark {number}": 0.5 for number in range(_MARKS)},
    **{f"most of mark {number}": 0.5 for number in range(_MARKS)},
    "kongs in a row": 1.0,
    "closing": 1.0,
    **{f"distance to {plan}": 0.2 for plan in FAR_PLANS},
    "best next help": 0.05,
    "best wait by draw": 0.03,
    "best wait by discard": 0.03,
    "own pungs": 0.5,
    **{f"pungs of {slot}": 0.5 for slot in _OTHERS},
}
"""The names of the C numbers for each row of a view, with their scales."""


@dataclass(frozen=True)
class Inputs:
    """The inputs of a network for n decisions that have m legal actions in all: numpy arrays, or torch tensors.

    Attributes:
        row: [m] the decision of each action, ascending: 0 to n - 1.
        action: [m] the actions, ascending within a decision.
        per_action: arrays [m, ...] by name.
        per_decision: arrays [n, ...] by name.
    """

    row: Any
    action: Any
    per_action: Mapping[str, Any]
    per_decision: Mapping[str, Any]

    def of_actions(self, which: Any) -> Inputs:
        """Return the same decisions with some of their actions; each decision must keep at least one."""
        per_action = {name: array[which] for name, array in self.per_action.items()}
        return Inputs(self.row[which], self.action[which], per_action, self.per_decision)

    def of_decisions(self, start: int, stop: int) -> Inputs:
        """Return the decisions from ``start`` up to ``stop``."""
        first, last = np.searchsorted(self.row, (start, stop))
        per_action = {name: array[first:last] for name, array in self.per_action.items()}
        per_decision = {name: array[start:stop] for name, array in self.per_decision.items()}
        return Inputs(self.row[first:last] - start, self.action[first:last], per_action, per_decision)

    def map(self, change: Callable[[Any], Any]) -> Inputs:
        """Return the inputs with every array changed, for instance into a tensor."""
        per_action = {name: change(array) for name, array in self.per_action.items()}
        per_decision = {name: change(array) for name, array in self.per_decision.items()}
        return Inputs(change(self.row), change(self.action), per_action, per_decision)

    @classmethod
    def joined(cls, parts: Sequence[Inputs], sizes: Sequence[int]) -> Inputs:
        """Join the decisions of several parts, given the number of decisions of each."""
        first = np.cumsum([0, *sizes])
        return cls(
            np.concatenate([part.row + start for part, start in zip(parts, first, strict=False)]),
            np.concatenate([part.action for part in parts]),
            {name: np.concatenate([part.per_action[name] for part in parts]) for name in parts[0].per_action},
            {name: np.concatenate([part.per_decision[name] for part in parts]) for name in parts[0].per_decision},
        )


def action_inputs(view: View, features: Features | None = None) -> Inputs:
    """Compute the strong inputs of every row of a view.

    Args:
        view: what the seats see.
        features: a researcher's own inputs, which are appended to those of the table; None for none.

    Returns:
        The legal actions, with ``facts`` [m, A] int8 of each action (`ACTION_FACTS`) and ``table`` [n, C] int8 of each
        row (`TABLE_FACTS`, followed by the added inputs).

    Raises:
        AgentError: the added inputs are not integers of the right shape and range.
    """
    row, action = np.nonzero(view.action_mask)
    found = _ActionFeatures(view, row, action)
    facts, table = _columns(found.of_actions(), ACTION_FACTS), _columns(found.of_table(), TABLE_FACTS)
    if features is not None:
        table = np.concatenate([table, added_inputs(features, view)], axis=1)
    return Inputs(row, action, {"facts": facts}, {"table": table})


def fingerprint() -> str:
    """Return a short text that changes whenever the layout of the inputs changes."""
    layout = (VERSION, [*ACTION_FACTS.items()], [*TABLE_FACTS.items()])
    return hashlib.sha256(repr(layout).encode()).hexdigest()[:16]


def _columns(numbers: Mapping[str, Any], names: Mapping[str, float]) -> NDArray[np.int8]:
    """Return arrays [k] by name as the columns of one array [k, names] int8."""
    assert numbers.keys() == names.keys(), numbers.keys() ^ names.keys()
    first = next(iter(numbers.values()))
    columns = np.empty((len(names), len(first)), np.int8)
    for column, name in zip(columns, names, strict=True):
        column[:] = numbers[name]
    return np.ascontiguousarray(columns.T)


class _ActionFeatures:
    """The facts by name of the n rows of a view and of their m legal actions."""

    def __init__(self, view: View, row: NDArray[np.intp], action: NDArray[np.intp]) -> None:
        n = len(view)
        self.view, self.every, self.row, self.action = view, np.arange(n), row, action
        self.first = np.flatnonzero(np.diff(row, prepend=-1))  # the first action of each row that has one
        self.ahead = look_ahead(view)
        self.nearest = self.ahead.distance.min(axis=1)
        self.best_help = self.ahead.help.max(axis=1)
        self.natural = view.natural_hand
        self.wild = view.wild.astype(np.intp)
        # The kind that each action is about: the tile given up, or the one offered.
        offered = np.maximum(view.offered, view.drawn)[row]
        self.kind = np.where(action < CHOW_LOW, action % NUM_KINDS, np.maximum(offered, 0)).astype(np.intp)
        # [n, slot, group] the counts of the four groups are added up in one number, a byte each. A kong of a hidden
        # kind counts as one of the first suit.
        exists = view.meld_type > MeldType.NONE
        by_suit = (_BYTE_OF_SUIT.take(np.maximum(view.meld_kind, 0)) * exists).sum(axis=2, dtype="<u4")
        self.melds_of_suit = by_suit.view(np.int8).reshape(*by_suit.shape, 4)
        # [n, slots] the number of each slot's melds if they are all of one suit, else 0
        number = view.num_melds
        self.single_suits = np.where(self.melds_of_suit[:, :, :3].max(axis=2) == number, number, 0)
        self.has_chow = (view.meld_type[:, 0] == MeldType.CHOW).any(axis=1)
        suits = self.natural[:, : 3 * RANKS].reshape(n, 3, RANKS).sum(axis=2, dtype=np.int8)
        self.of_suit = suits + 3 * self.melds_of_suit[:, 0, :3]
        self.honours = self.natural[:, 3 * RANKS :].sum(axis=1, dtype=np.int8) + 3 * self.melds_of_suit[:, 0, 3]
        self.longest = self.of_suit.argmax(axis=1)
        self.hands = concealed(view, self.every)
        self._find_plans()
        distance = self.ahead.distance[row, action]
        draws = next_draws(view, row, action, distance, distance == self.nearest[row])
        self._draws = {"next help": draws.next_help, "wait by draw": draws.by_draw, "wait by discard": draws.by_discard}
        pays, declined = declined_wins(view, row, action, distance)
        self._of_wins = {"win pays": pays, "win declined": declined}
        self._best_draws = {name: self._best(number, np.maximum) for name, number in self._draws.items()}

    def _best(self, numbers: NDArray[np.int8], better: np.ufunc) -> NDArray[np.int8]:
        """Return [n] the best of the numbers [m] of each row's actions; 0 for rows without actions."""
        best = np.zeros(len(self.every), np.int8)
        best[self.row.take(self.first)] = better.reduceat(numbers, self.first)
        return best

    # --- Plans --------------------------------------------------------------------------------------------------
    def _find_plans(self) -> None:
        """Find the distance of each row from the plans and the far plans, before and after each claim and kong."""
        view, n = self.view, len(self.every)
        self.changes = np.flatnonzero((self.action >= CONCEALED_KONG) & (self.action < WIN))  # [c] claims and kongs
        row, action = self.row[self.changes], self.action[self.changes]
        natural_after, _ = split_wilds(tiles_after(view, row, action), self.wild[row])
        melds_after_it = melds_after(view, row, action)
        melds_of_suit = self.melds_of_suit[row, 0].copy()
        melds_of_suit[np.arange(len(row)), _SUIT[self.kind[self.changes]]] += 1
        has_chow = self.has_chow[row] | ((action >= CHOW_LOW) & (action < PUNG))
        # All k = n + c hands at once, with their rows and melds; this takes little longer than the n rows alone.
        after = hands_after(view, row, action)
        natural = np.concatenate([self.natural, natural_after])
        hands = Hands(
            np.concatenate([self.hands.codes, after.codes], axis=1),
            np.concatenate([self.hands.wilds, after.wilds]),
            np.concatenate([self.hands.sets, after.sets]),
            np.concatenate([self.hands.closed, after.closed]),
            count_planes(natural),
        )
        row = np.concatenate([self.every, row])
        melds = np.concatenate([self.melds_of_suit[:, 0], melds_of_suit])
        has_chow = np.concatenate([self.has_chow, has_chow])
        types = np.concatenate([view.meld_type[:, 0], melds_after_it.type])
        kinds = np.concatenate([view.meld_kind[:, 0], melds_after_it.kind])

        suit = self.longest[row]
        plan = np.stack([1 + suit, 4 + suit, np.full_like(suit, PUNGS), np.full_like(suit, PAIRS)], axis=1)
        found = weigh(hands, np.repeat(np.arange(len(row)), len(_PLANS)), plan.ravel())
        of_suit, every = melds[np.arange(len(melds)), suit], melds.sum(axis=1)
        possible = np.stack([every == of_suit, every == of_suit + melds[:, _HONOUR], ~has_chow, hands.closed], axis=1)
        distance = np.where(possible, found.distance.reshape(plan.shape), _NEVER)
        distance = np.minimum(distance, _NEVER).astype(np.int8)
        self.plan_distance, self.plan_after = distance[:n], distance[n:]  # [n, 4] and [c, 4]
        self.plan_spare = found.spare.reshape(plan.shape)[:n]  # kinds that may go without raising the distance
        far = far_plans(hands, natural, types, kinds, has_wild=view.rules.has_wild)
        self.far_distance, self.far_after, self.far_spare = far.distance[:n], far.distance[n:], far.spare[:n]

    def _plan_facts(
        self, plans: Sequence[str], distance: NDArray[np.int8], spare: NDArray[np.uint64], changed: NDArray[np.int8]
    ) -> dict[str, Any]:
        """Return the distances from plans after each action, by the names in `ACTION_FACTS`.

        Args:
            plans: the names of k plans.
            distance: [n, k] the distances before the actions.
            spare: [n, k] kinds that may go without raising the distance.
            changed: [c, k] the distances after the claims and kongs among the actions.
        """
        tile, is_discard = BIT_OF_KIND.take(self.kind), self.action < CONCEALED_KONG
        # A wild tile can never be spared, whatever it stands for.
        is_wild = self.kind == self.wild.take(self.row)
        facts: dict[str, Any] = {}
        for place, plan in enumerate(plans):
            spared = (spare[:, place].take(self.row) & tile).astype(np.bool_) & ~is_wild
            after = np.minimum(distance[:, place].take(self.row) + (is_discard & ~spared), _NEVER)
            after[self.changes] = changed[:, place]
            facts[f"distance to {plan}"] = after
            facts[f"away from {plan}"] = np.minimum(after - self._best(after, np.minimum).take(self.row), 3)
        return facts

    # --- Actions ------------------------------------------------------------------------------------------------
    def of_actions(self) -> dict[str, Any]:
        """Return the numbers of `ACTION_FACTS`, [m] each."""
        view, row, action, kind = self.view, self.row, self.action, self.kind
        facts: dict[str, Any] = dict(zip(_GROUPS, _IS_GROUP.take(action, axis=1), strict=True))
        at = row * NUM_ACTIONS + action
        distance, help_ = self.ahead.distance.reshape(-1).take(at), self.ahead.help.reshape(-1).take(at)
        behind = np.minimum(distance - self.nearest.take(row), 4)
        facts |= {
            "behind": behind,
            "behind at all": behind > 0,
            "help": np.minimum(help_, FAR),
            "help lacking": np.where(behind > 0, 0, np.minimum(self.best_help.take(row) - help_, FAR)),
            "distance": distance,
            "opens the hand": (action >= CHOW_LOW) & (action <= KONG) & self.hands.closed.take(row),
        }
        facts |= self._of_wins
        for name, number in self._draws.items():
            facts[name] = number
            facts[f"{name} lacking"] = np.where(number > 0, self._best_draws[name].take(row) - number, 0)
        facts |= self._plan_facts(_PLANS, self.plan_distance, self.plan_spare, self.plan_after)
        facts |= self._plan_facts(FAR_PLANS, self.far_distance, self.far_spare, self.far_after)
        # The tile.
        suit = _SUIT.take(kind)
        lengths = np.concatenate([self.of_suit, self.honours[:, None]], axis=1)
        at = row * NUM_KINDS + kind
        facts |= {
            "wild": kind == self.wild.take(row),
            "honour": suit == _HONOUR,
            "from the edge": _EDGE.take(kind),
            "2, 5 or 8": _IS_258.take(kind),
            "held": view.hand.reshape(-1).take(at),
            "unseen": view.unseen.reshape(-1).take(at),
            "held of the suit": lengths.reshape(-1).take(row * 4 + suit),
            "in the longest suit": suit == self.longest.take(row),
            "just drawn": view.drawn.take(row) == kind,
            "round wind": view.round_wind.take(row) == kind - 3 * RANKS,
            "own wind": view.house_wind[:, 0].take(row) == kind - 3 * RANKS,
            "dragon": kind >= 3 * RANKS + 4,
            "never melded": view.rules.never_melded.take(kind),
        }
        place = row * _WIDTH + _AT.take(kind)
        for name, counts in (("held", self.natural), ("unseen", view.unseen)):
            spaced = np.zeros((len(self.every), _WIDTH), np.int8)
            spaced[:, _AT] = counts
            beside = {where: spaced.reshape(-1).take(place + step) for where, step in _PLACES.items()}
            facts |= {f"{name} {where}": number for where, number in beside.items()}
            facts[f"{name} beside"] = beside["below"] + beside["above"]
            facts[f"{name} two away"] = beside["two below"] + beside["two above"]
        # The earlier discards of the tile's kind, and who collects its suit.
        latest = view.latest.max(axis=1)
        lately = np.where(latest > 0, 20 - np.minimum(view.num_discards[:, None] - latest, 20), 0)
        facts["lying"] = view.discards.sum(axis=1, dtype=np.int8).reshape(-1).take(at)
        facts["lately discarded"] = lately.reshape(-1).take(at)
        in_suit = self.single_suits[:, :, None] * (self.melds_of_suit == view.num_melds[:, :, None])
        for slot in _OTHERS:
            facts[f"discarded by {slot}"] = (view.latest[:, slot] > 0).reshape(-1).take(at)
            facts[f"in the suit of {slot}"] = in_suit[:, slot].reshape(-1).take(row * 4 + suit)
        return facts

    # --- The table ----------------------------------------------------------------------------------------------
    def of_table(self) -> dict[str, Any]:
        """Return the numbers of `TABLE_FACTS`, [n] each."""
        view, n = self.view, len(self.every)
        suits = np.sort(self.of_suit, axis=1)
        is_pair = self.natural == 2
        has_wild = self.wild >= 0
        facts: dict[str, Any] = {f"distance {distance}": self.nearest == distance for distance in range(7)}
        facts["distance 7"] = (self.nearest >= 7) & (self.nearest < FAR)
        facts |= {
            "best help": np.minimum(self.best_help, FAR),
            "left": np.minimum(view.left, 127),
            "discards": view.num_discards,
            "closed": self.hands.closed,
            "melds": view.num_melds[:, 0],
            "wilds": self.hands.wilds,
            "wilds unseen": view.unseen[self.every, self.wild] * has_wild,
            "wild": has_wild,
            "suit longest": suits[:, 2],
            "suit second": suits[:, 1],
            "suit third": suits[:, 0],
            "honours": self.honours,
            "pairs": is_pair.sum(axis=1),
            "pairs of 2, 5 or 8": is_pair[:, _IS_258].sum(axis=1),
            "triplets": (self.natural >= 3).sum(axis=1),
            "never melded": view.hand[:, view.rules.never_melded[:NUM_KINDS]].sum(axis=1),
            "streak": np.minimum(view.streak, 10),
            "kongs in a row": np.minimum(view.kong_draws, 4),
            "closing": view.closing,
        }
        facts |= {f"distance to {plan}": self.plan_distance[:, place] for place, plan in enumerate(_PLANS)}
        facts |= {f"distance to {plan}": self.far_distance[:, place] for place, plan in enumerate(FAR_PLANS)}
        facts |= {f"best {name}": number for name, number in self._best_draws.items()}
        facts |= {f"phase {phase}": view.phase == phase for phase in range(1, 6)}
        facts |= {f"opening {stage}": view.opening == stage for stage in range(1, 4)}
        facts |= {f"dealer {slot}": view.dealer == slot for slot in range(4)}
        flowers = view.flowers.sum(axis=2, dtype=np.int8)
        pungs = (view.meld_type > MeldType.CHOW).sum(axis=2, dtype=np.int8)
        facts["flowers"], facts["own pungs"] = flowers[:, 0], pungs[:, 0]
        for slot in _OTHERS:
            facts[f"offered by {slot}"] = view.offered_from == slot
            facts[f"melds of {slot}"] = view.num_melds[:, slot]
            facts[f"flowers of {slot}"] = flowers[:, slot]
            facts[f"one suit of {slot}"] = self.single_suits[:, slot]
            facts[f"pungs of {slot}"] = pungs[:, slot]
        marks = np.zeros((n, 4, _MARKS), np.int8)
        marks[:, :, : view.marks.shape[2]] = np.minimum(view.marks, 10)
        for number in range(_MARKS):
            facts[f"own mark {number}"] = marks[:, 0, number]
            facts[f"most of mark {number}"] = marks[:, 1:, number].max(axis=1)
        return facts
