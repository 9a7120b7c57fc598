"""What is known of the seats of a view, and of each legal action: laid out by `policy.inputs`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.plans import FAR_PLANS, PAIRS, PUNGS, Standing, far_plans, melds_after, weigh
from mahjong_agents.value.completions import next_draws
from mahjong_env import View
from mahjong_env.basics.actions import ADDED_KONG, CHOW_LOW, CONCEALED_KONG, KONG, PASS, PUNG, WIN
from mahjong_env.basics.notation import MeldType
from mahjong_env.hands.codes import NUM_KINDS, RANKS, SUIT
from mahjong_env.hands.kind_sets import BIT_OF_KIND, count_planes
from mahjong_env.hands.shanten import Hands
from mahjong_env.observation.acceptance import FAR, concealed, hands_after, look_ahead, tiles_after

GROUPS: Final = ("discard", "concealed kong", "added kong", "chow", "pung", "kong", "win", "pass")
_GROUP_STARTS: Final = (0, CONCEALED_KONG, ADDED_KONG, CHOW_LOW, PUNG, KONG, WIN, PASS)
PLANS: Final = ("one suit", "one suit and honours", "pungs", "pairs")
PLACES: Final = {"two below": -2, "below": -1, "above": 1, "two above": 2}
_NEVER: Final = 9  # the distance of a plan that is no longer possible
OTHERS: Final = (1, 2, 3)
MARKS: Final = 4
_HONOUR: Final = 3  # the group of honours


_SUIT: Final = SUIT.astype(np.intp)
_RANK: Final = np.arange(NUM_KINDS) % RANKS
_EDGE: Final = np.where(_SUIT == _HONOUR, 0, np.minimum(_RANK, RANKS - 1 - _RANK)).astype(np.int8)
_IS_258: Final = (_SUIT != _HONOUR) & (_RANK % 3 == 1)


class Seats:
    """The seats of a view, and what is known of them before any action is looked at."""

    def __init__(self, view: View) -> None:
        n = len(view)
        self.view, self.every = view, np.arange(n)
        self.ahead = look_ahead(view)
        self.nearest = self.ahead.distance.min(axis=1)
        self.best_help = self.ahead.help.max(axis=1)
        self.natural = view.natural_hand
        self.wild = view.wild.astype(np.intp)
        # Own melds: of which group, and whether there is a chow among them.
        exists = view.meld_type > MeldType.NONE
        group = np.where(exists, _SUIT[np.maximum(view.meld_kind, 0)], -1)
        self.melds_of_suit = np.stack([(group == suit).sum(axis=2) for suit in range(4)], axis=2)  # [n, slot, group]
        self.has_chow = (view.meld_type[:, 0] == MeldType.CHOW).any(axis=1)
        suits = self.natural[:, : 3 * RANKS].reshape(n, 3, RANKS).sum(axis=2)
        self.of_suit = suits + 3 * self.melds_of_suit[:, 0, :3]
        self.honours = self.natural[:, 3 * RANKS :].sum(axis=1) + 3 * self.melds_of_suit[:, 0, 3]
        self.longest = self.of_suit.argmax(axis=1)
        self.hands = replace(concealed(view, self.every), counts=count_planes(self.natural))
        self.plan_distance, self.spare = self._plans()
        self.far = self._far_plans(self.hands, self.natural, view.meld_type[:, 0], view.meld_kind[:, 0])

    # --- Plans --------------------------------------------------------------------------------------------------
    def _plans(self) -> tuple[NDArray[np.int8], NDArray[np.uint64]]:
        """Return [n, 4] distances to the plans, and the kinds that may go without raising them."""
        hand, plan = self._pairs(self.every)
        found = weigh(self.hands, hand, plan)
        shape = (len(self.every), len(PLANS))
        possible = self._possible(self.melds_of_suit[:, 0], self.has_chow, self.longest, self.hands.closed)
        distance = np.where(possible, found.distance.reshape(shape), _NEVER)
        return np.minimum(distance, _NEVER).astype(np.int8), found.spare.reshape(shape)

    def _pairs(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return what `weigh` is asked: each hand with each of its plans."""
        suit = self.longest[rows]
        plan = np.stack([1 + suit, 4 + suit, np.full_like(suit, PUNGS), np.full_like(suit, PAIRS)], axis=1)
        return np.repeat(np.arange(len(rows)), len(PLANS)), plan.ravel()

    def _possible(
        self,
        melds: NDArray[Any],
        has_chow: NDArray[np.bool_],
        suit: NDArray[np.intp],
        closed: NDArray[np.bool_],
    ) -> NDArray[np.bool_]:
        """Return [k, 4] which plans melds [k, 4] of each group allow."""
        of_suit, every = melds[np.arange(len(melds)), suit], melds.sum(axis=1)
        return np.stack([every == of_suit, every == of_suit + melds[:, _HONOUR], ~has_chow, closed], axis=1)

    def _plans_after(self, row: NDArray[np.intp], action: NDArray[np.intp]) -> NDArray[np.int8]:
        """Return [k, 4] distances to the plans after claims and kongs."""
        view = self.view
        natural = tiles_after(view, row, action)
        some = np.flatnonzero(self.wild[row] >= 0)
        natural[some, self.wild[row[some]]] = 0
        hands = replace(hands_after(view, row, action), counts=count_planes(natural))
        kind = self._kind_of(row, action)
        melds = self.melds_of_suit[row, 0].copy()
        melds[np.arange(len(row)), _SUIT[kind]] += 1
        has_chow = self.has_chow[row] | ((action >= CHOW_LOW) & (action < PUNG))
        possible = self._possible(melds, has_chow, self.longest[row], hands.closed)
        distance = weigh(hands, *self._pairs(row)).distance.reshape(len(row), len(PLANS))
        return np.where(possible, np.minimum(distance, _NEVER), _NEVER).astype(np.int8)

    # --- Actions ------------------------------------------------------------------------------------------------
    def _kind_of(self, row: NDArray[np.intp], action: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return [m] the kind that each action is about: the tile given up, or the one offered."""
        offered = np.maximum(self.view.offered, self.view.drawn)[row]
        return np.where(action < CHOW_LOW, action % NUM_KINDS, np.maximum(offered, 0)).astype(np.intp)

    def of_actions(self, row: NDArray[np.intp], action: NDArray[np.intp]) -> dict[str, Any]:
        """Return the numbers of `ACTION_FACTS`, [m] each."""
        view, kind = self.view, self._kind_of(row, action)
        group = np.searchsorted(_GROUP_STARTS, action, side="right") - 1
        facts: dict[str, Any] = {name: group == number for number, name in enumerate(GROUPS)}
        facts |= self._nearness(row, action) | self._plan_facts(row, action, kind)
        facts |= self._tile_facts(row, kind) | self._river_facts(row, kind)
        facts["just drawn"] = view.drawn[row] == kind
        facts["round wind"] = view.round_wind[row] == kind - 3 * RANKS
        facts["own wind"] = view.house_wind[row, 0] == kind - 3 * RANKS
        facts["dragon"] = kind >= 3 * RANKS + 4
        facts["never melded"] = view.rules.never_melded[kind]
        return facts

    def _nearness(self, row: NDArray[np.intp], action: NDArray[np.intp]) -> dict[str, Any]:
        distance, help_ = self.ahead.distance[row, action], self.ahead.help[row, action]
        behind = np.minimum(distance - self.nearest[row], 4)
        opens = (action >= CHOW_LOW) & (action <= KONG) & self.hands.closed[row]
        return {
            "behind": behind,
            "behind at all": behind > 0,
            "help": np.minimum(help_, FAR),
            "help lacking": np.where(behind > 0, 0, np.minimum(self.best_help[row] - help_, FAR)),
            "distance": distance,
            "opens the hand": opens,
        }

    def _plan_facts(self, row: NDArray[np.intp], action: NDArray[np.intp], kind: NDArray[np.intp]) -> dict[str, Any]:
        before = self.plan_distance[row]
        spared = (self.spare[row] & BIT_OF_KIND[kind][:, None]) != 0
        is_discard = action < CONCEALED_KONG
        # A wild tile is never to spare, whatever it would stand for.
        lost = is_discard[:, None] & (~spared | (kind == self.wild[row])[:, None])
        after = np.minimum(before + lost, _NEVER).astype(np.int8)
        melds = np.flatnonzero(~is_discard & (action < WIN))
        after[melds] = self._plans_after(row[melds], action[melds])
        best = np.full((len(self.every), len(PLANS)), _NEVER, np.int8)
        np.minimum.at(best, row, after)
        away = np.minimum(after - best[row], 3)
        return {f"distance to {plan}": after[:, place] for place, plan in enumerate(PLANS)} | {
            f"away from {plan}": away[:, place] for place, plan in enumerate(PLANS)
        }

    def _tile_facts(self, row: NDArray[np.intp], kind: NDArray[np.intp]) -> dict[str, Any]:
        suit = _SUIT[kind]
        lengths = np.concatenate([self.of_suit, self.honours[:, None]], axis=1)
        held, unseen = _beside(self.natural), _beside(self.view.unseen)
        return {
            "wild": kind == self.wild[row],
            "honour": suit == _HONOUR,
            "from the edge": _EDGE[kind],
            "2, 5 or 8": _IS_258[kind],
            "held": self.view.hand[row, kind],
            "held beside": held[0][row, kind],
            "held two away": held[1][row, kind],
            "unseen": self.view.unseen[row, kind],
            "unseen beside": unseen[0][row, kind],
            "unseen two away": unseen[1][row, kind],
            "held of the suit": lengths[row, suit],
            "in the longest suit": suit == self.longest[row],
        }

    def _river_facts(self, row: NDArray[np.intp], kind: NDArray[np.intp]) -> dict[str, Any]:
        view = self.view
        latest = view.latest.max(axis=1)[row, kind]
        since = np.where(latest > 0, np.minimum(view.num_discards[row] - latest, 20), 20)
        facts: dict[str, Any] = {"lying": view.discards.sum(axis=1)[row, kind], "lately discarded": 20 - since}
        single = self._single_suits()
        for slot in OTHERS:
            facts[f"discarded by {slot}"] = view.latest[row, slot, kind] > 0
            facts[f"in the suit of {slot}"] = single[row, slot] * (
                self.melds_of_suit[row, slot, _SUIT[kind]] == view.num_melds[row, slot]
            )
        return facts

    def _single_suits(self) -> NDArray[np.int8]:
        """Return [n, slots] the melds of each slot if they are all of one suit, else 0."""
        number = self.view.num_melds
        return np.where(self.melds_of_suit[:, :, :3].max(axis=2) == number, number, 0)

    # --- What version 2 added ---------------------------------------------------------------------------------------
    def _far_plans(
        self, hands: Hands, natural: NDArray[np.int8], meld_type: NDArray[np.int8], meld_kind: NDArray[np.int8]
    ) -> Standing:
        return far_plans(hands, natural, meld_type, meld_kind, has_wild=self.view.rules.has_wild)

    def late_facts(self, row: NDArray[np.intp], action: NDArray[np.intp]) -> dict[str, Any]:
        """Return the numbers of `ACTION_FACTS` that version 2 added, [m] each."""
        kind = self._kind_of(row, action)
        facts = self._places(row, kind) | self._far_facts(row, action, kind)
        distance = self.ahead.distance[row, action]
        self.draws = next_draws(self.view, row, action, distance, distance == self.nearest[row])
        names = {"next help": "next_help", "wait by draw": "by_draw", "wait by discard": "by_discard"}
        for name, of_draws in names.items():
            number = getattr(self.draws, of_draws)
            facts[name] = number
            facts[f"{name} lacking"] = np.where(number > 0, self._best(row, number)[row] - number, 0)
        return facts

    def _best(self, row: NDArray[np.intp], number: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return [n] the greatest of the numbers [m] of each row's actions."""
        best = np.zeros(len(self.every), np.int8)
        np.maximum.at(best, row, number)
        return best

    def _places(self, row: NDArray[np.intp], kind: NDArray[np.intp]) -> dict[str, Any]:
        """Return what is held and unseen one and two ranks away in the suit, above and below."""
        facts: dict[str, Any] = {}
        for name, step in PLACES.items():
            there = kind + step
            same = (there >= 0) & (there < 3 * RANKS) & (kind < 3 * RANKS)
            there = np.where(same, there, 0)
            same &= _SUIT[there] == _SUIT[kind]
            facts[f"held {name}"] = self.natural[row, there] * same
            facts[f"unseen {name}"] = self.view.unseen[row, there] * same
        return facts

    def _far_facts(self, row: NDArray[np.intp], action: NDArray[np.intp], kind: NDArray[np.intp]) -> dict[str, Any]:
        is_discard = action < CONCEALED_KONG
        spared = (self.far.spare[row] & BIT_OF_KIND[kind][:, None]) != 0
        lost = is_discard[:, None] & (~spared | (kind == self.wild[row])[:, None])
        after = np.minimum(self.far.distance[row] + lost, _NEVER).astype(np.int8)
        changed = np.flatnonzero(~is_discard & (action < WIN))
        after[changed] = self._far_after(row[changed], action[changed])
        away = after - np.stack([self._least(row, column) for column in after.T], axis=1)[row]
        return {f"distance to {plan}": after[:, place] for place, plan in enumerate(FAR_PLANS)} | {
            f"away from {plan}": np.minimum(away[:, place], 3) for place, plan in enumerate(FAR_PLANS)
        }

    def _least(self, row: NDArray[np.intp], number: NDArray[np.int8]) -> NDArray[np.int8]:
        least = np.full(len(self.every), _NEVER, np.int8)
        np.minimum.at(least, row, number)
        return least

    def _far_after(self, row: NDArray[np.intp], action: NDArray[np.intp]) -> NDArray[np.int8]:
        """Return [k, 3] distances to the far plans after claims and kongs."""
        natural = tiles_after(self.view, row, action)
        some = np.flatnonzero(self.wild[row] >= 0)
        natural[some, self.wild[row[some]]] = 0
        melds = melds_after(self.view, row, action)
        return self._far_plans(hands_after(self.view, row, action), natural, melds.type, melds.kind).distance

    def late_table(self, row: NDArray[np.intp]) -> dict[str, Any]:
        """Return the numbers of `TABLE_FACTS` that version 2 added, [n] each; after `late_facts`."""
        facts: dict[str, Any] = {
            f"distance to {plan}": self.far.distance[:, place] for place, plan in enumerate(FAR_PLANS)
        }
        facts["best next help"] = self._best(row, self.draws.next_help)
        facts["best wait by draw"] = self._best(row, self.draws.by_draw)
        facts["best wait by discard"] = self._best(row, self.draws.by_discard)
        pungs = (self.view.meld_type > MeldType.CHOW).sum(axis=2)
        facts["own pungs"] = pungs[:, 0]
        return facts | {f"pungs of {slot}": pungs[:, slot] for slot in OTHERS}

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
        facts |= {f"distance to {plan}": self.plan_distance[:, place] for place, plan in enumerate(PLANS)}
        facts |= {f"phase {phase}": view.phase == phase for phase in range(1, 6)}
        facts |= {f"opening {stage}": view.opening == stage for stage in range(1, 4)}
        facts |= {f"dealer {slot}": view.dealer == slot for slot in range(4)}
        flowers, single = view.flowers.sum(axis=2), self._single_suits()
        facts["flowers"] = flowers[:, 0]
        for slot in OTHERS:
            facts[f"offered by {slot}"] = view.offered_from == slot
            facts[f"melds of {slot}"] = view.num_melds[:, slot]
            facts[f"flowers of {slot}"] = flowers[:, slot]
            facts[f"one suit of {slot}"] = single[:, slot]
        marks = np.zeros((n, 4, MARKS), np.int8)
        marks[:, :, : view.marks.shape[2]] = np.minimum(view.marks, 10)
        for number in range(MARKS):
            facts[f"own mark {number}"] = marks[:, 0, number]
            facts[f"most of mark {number}"] = marks[:, 1:, number].max(axis=1)
        return facts


def _beside(counts: NDArray[np.int8]) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return [n, 34] how many tiles of each suit kind's neighbours there are, one and two ranks away."""
    near, far = np.zeros_like(counts), np.zeros_like(counts)
    suits = counts[:, : 3 * RANKS].reshape(-1, 3, RANKS)
    for array, step in ((near, 1), (far, 2)):
        sums = array[:, : 3 * RANKS].reshape(-1, 3, RANKS)
        sums[..., step:] += suits[..., :-step]
        sums[..., :-step] += suits[..., step:]
        array[:, : 3 * RANKS] = sums.reshape(-1, 3 * RANKS)
    return near, far
