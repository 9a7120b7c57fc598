"""Afterstates, the positions just after an action and before anything unknown happens, as inputs of a small network.

The network of `mahjong_agents.value.agent` estimates the value of an afterstate; agents compare the values after their
legal actions.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env import ACTIONS, View
from mahjong_env.basics.actions import ADDED_KONG, CHOW_LOW, CONCEALED_KONG, KONG, PASS, PUNG, WIN
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import FIRST_HONOUR, WHITE
from mahjong_env.hands.codes import NUM_KINDS, encode, split_wilds
from mahjong_env.hands.distance import cheapest_hands
from mahjong_env.hands.kind_sets import count_members, count_planes, count_tiles
from mahjong_env.observation.acceptance import hands_after, kinds_wanted, tiles_after
from mahjong_env.ruleset.shapes import needs_counts, shanten

Numbers = NDArray[np.float32]

_MOST_DISTANCE: Final = 6
_TYPES: Final = 7
"""The number of types: discard, concealed kong, added kong, chow, pung, kong with a discard, pass."""
_CONCEALED, _ADDED, _CHOW, _PUNG, _KONG, _PASS = range(1, _TYPES)
TYPE_OF: Final = np.zeros(len(ACTIONS), np.intp)
TYPE_OF[CONCEALED_KONG:ADDED_KONG], TYPE_OF[ADDED_KONG:CHOW_LOW] = _CONCEALED, _ADDED
TYPE_OF[CHOW_LOW:PUNG], TYPE_OF[PUNG], TYPE_OF[KONG], TYPE_OF[PASS] = _CHOW, _PUNG, _KONG, _PASS

_GROUPS: Final = np.zeros((NUM_KINDS, 4), np.float32)
_GROUPS[np.arange(NUM_KINDS), np.arange(NUM_KINDS) // 9] = 1
# Classes of discards: 0 for terminals up to 3 for four to six, then other winds, the seat's own wind, the round wind
# and dragons.
_CLASSES: Final = 8
_CLASS = np.array([0, 1, 2, 3, 3, 3, 2, 1, 0] * 3 + [4] * 4 + [7] * 3)
_OF_HOUSE, _OF_ROUND = 5, 6
_WITH_2_5_8: Final = np.array([1, 4, 7, 10, 13, 16, 19, 22, 25])
_OUT_OF_SUIT: Final = 14.0


class Afterstates:
    """The afterstates of m actions.

    Attributes:
        row: [m] intp rows of the view.
        action: [m] intp legal actions, none of them a win.
        type: [m] intp the type of the action, 0 to 6.
        kind: [m] intp the kind of the action's tile; 0 for a pass without an offered tile.
        tiles: [m, 34] int8 concealed tiles, wild ones included, and after a claim the tile still to be discarded.
        natural: [m, 34] int8 the same without the wild ones.
        wild: [m] intp the wild kind, -1 for none.
        wilds: [m] int8 the number of wild tiles in the hand.
        num_melds: [m] intp the number of the seat's own melds.
        shanten: the distances of the hands, and the kinds that help.
        distance: [m] int8 tiles that the hand lacks, at least 1: a complete hand that did not win counts as one short.
        help: [m] float32 the number of unseen tiles that bring the hand nearer to a win.
    """

    def __init__(self, view: View, row: NDArray[np.intp], action: NDArray[np.intp]) -> None:
        """Work out the hands that actions [m] leave in rows [m] of a view; the actions are legal and none is a win."""
        self.view, self.row, self.action = view, row, action
        rules = view.rules
        self.type = TYPE_OF[action]
        offered, of_kong = np.maximum(view.offered[row], 0), (action - CONCEALED_KONG) % NUM_KINDS
        self.kind = np.select([self.type == 0, self.type <= _ADDED], [action, of_kong], offered).astype(np.intp)
        self.tiles = tiles_after(view, row, action)
        self.wild = view.wild[row].astype(np.intp)
        self.natural, self.wilds = split_wilds(self.tiles, self.wild)
        counts = count_planes(self.natural) if needs_counts(rules) else None
        self._hands = replace(hands_after(view, row, action), counts=counts)
        self.num_melds = rules.sets - self._hands.sets
        self._is_new_meld = self.num_melds > view.num_melds[row, 0]
        self.shanten = shanten(self._hands, rules)
        self.distance = np.maximum(self.shanten.distance, np.int8(1))
        wild = self.wild.astype(np.int8) if rules.has_wild else None
        self._helping = kinds_wanted(self.shanten, self.distance, wild, rules)
        self._unseen = view.unseen[row]
        self._unseen_tiles = np.maximum(self._unseen.sum(axis=1), 1)
        self.help: Numbers = count_tiles(self._helping, count_planes(self._unseen)).astype(np.float32)
        # One or two more than `Rules.drawable`; the network was learned with this.
        drawable = rules.deck.sum() - rules.reserve - rules.seats * rules.hand_size
        self._stage: Numbers = np.clip(1 - view.left[row] / drawable, 0, 1).astype(np.float32)

    # --- Numbers ---------------------------------------------------------------------------------------------------
    def numbers(self) -> Numbers:
        """Return the inputs of the network: [m, F] float32, about -2 to 2 each; F depends only on the rules."""
        parts = [self._speed(), self._blocks(), self._suits_and_melds(), self._honours()]
        if self.view.rules.has_wild:
            parts.append(self._wild_tiles())
        parts += [self._table(), self._action(), self._safety()]
        return np.concatenate(parts, axis=1)

    def _speed(self) -> Numbers:
        """Return [m, k] the distance from a win, the acceptance and the time left."""
        by_distance = one_hot(np.clip(self.distance, 1, _MOST_DISTANCE) - 1, _MOST_DISTANCE)
        kinds = count_members(self._helping).astype(np.float32)
        left, stage = self.view.left[self.row], self._stage
        rest = _columns(
            self.help / self._unseen_tiles * 4,
            kinds / 10,
            stage,
            stage**2,
            left / 40 - 1,
            stage * (self.distance / 3 - 1),
        )
        return np.concatenate([by_distance, by_distance * (np.log1p(self.help) - 2.5)[:, None], rest], axis=1)

    def _blocks(self) -> Numbers:
        """Return [m, k] the neighbours, gaps, pairs, triplets and single tiles."""
        natural, unseen = self.natural, self._unseen
        suits = natural[:, :FIRST_HONOUR].reshape(-1, 3, 9)
        there = suits > 0
        beside = there[:, :, :-1] & there[:, :, 1:]
        across = there[:, :, :-2] & there[:, :, 2:]
        padded = np.zeros((len(natural), 3, 13), np.bool_)
        padded[:, :, 2:11] = there
        near = padded[:, :, 1:10] | padded[:, :, 3:12] | padded[:, :, :9] | padded[:, :, 4:]
        alone = (suits == 1) & ~near
        alone_at_ends = alone[:, :, [0, 8]].sum(axis=(1, 2))
        honours = natural[:, FIRST_HONOUR:]
        counts = _columns(
            beside.sum(axis=(1, 2)),
            across.sum(axis=(1, 2)),
            beside[:, :, 0].sum(axis=1) + beside[:, :, -1].sum(axis=1),
            (beside[:, :, :-1] & beside[:, :, 1:]).sum(axis=(1, 2)),
            alone_at_ends,
            alone.sum(axis=(1, 2)) - alone_at_ends,
            *((honours == 1).sum(axis=1), (honours == 2).sum(axis=1), (honours >= 3).sum(axis=1)),
            *((natural >= 2).sum(axis=1), (natural >= 3).sum(axis=1)),
        )
        left = _columns((unseen * (natural == 2)).sum(axis=1), (unseen * (natural == 1)).sum(axis=1))
        return np.concatenate([counts / 3, left / 8], axis=1)

    @cached_property
    def _melded(self) -> Numbers:
        """[m, 34] tiles of the seat's own melds before the action, kongs as triplets."""
        types, kinds = self.view.meld_type[self.row, 0], self.view.meld_kind[self.row, 0].astype(np.intp)
        melded = np.zeros((len(self.row), NUM_KINDS), np.float32)
        for place in range(types.shape[1]):
            at = np.flatnonzero(types[:, place] > MeldType.NONE)
            is_chow, kind = types[at, place] == MeldType.CHOW, kinds[at, place]
            melded[at, kind] += np.where(is_chow, 1, 3)
            for step in (1, 2):
                melded[at[is_chow], kind[is_chow] + step] += 1
        return melded

    def _suits_and_melds(self) -> Numbers:
        """Return [m, k] the tiles outside the best suit, pungs and pairs, open melds, and who deals."""
        view, row, new = self.view, self.row, np.flatnonzero(self._is_new_meld)
        types, pairs = view.meld_type[row, 0], (self.natural >= 2).sum(axis=1)
        melds = self._melded @ _GROUPS
        melds[new] += _GROUPS[self.kind[new]] * 3
        tiles = self.natural @ _GROUPS + melds
        size = tiles.sum(axis=1, keepdims=True)
        elsewhere = melds[:, :3].sum(axis=1, keepdims=True) > melds[:, :3]
        mixed = np.where(elsewhere, _OUT_OF_SUIT, size - tiles[:, :3] - tiles[:, 3:]).min(axis=1)
        pure = np.where(elsewhere | (melds[:, 3:] > 0), _OUT_OF_SUIT, size - tiles[:, :3]).min(axis=1)
        mixed, pure = np.clip(mixed, 0, 9), np.clip(pure, 0, 9)
        has_chow = (types == MeldType.CHOW).any(axis=1) | (self.type == _CHOW)
        pungs = np.where(has_chow, 0, pairs + self.num_melds)
        closed_pairs = np.where(self.num_melds == 0, pairs, 0)
        claimed = (types > MeldType.NONE) & (types != MeldType.CONCEALED_KONG)
        is_open = claimed.any(axis=1) | np.isin(self.type, (_CHOW, _PUNG, _KONG))
        is_kong = (types >= MeldType.EXPOSED_KONG).sum(axis=1) + np.isin(self.type, (_CONCEALED, _ADDED, _KONG))
        return _columns(
            *(mixed / 5, pure / 5, mixed <= 2, mixed == 0, pure <= 2, pure == 0, has_chow),
            *(pungs / 3, pungs >= 4, closed_pairs / 4, closed_pairs >= 5),
            *(is_open, self.num_melds / 3, is_kong, view.dealer[row] == 0, view.streak[row] / 3),
        )

    def _honours(self) -> Numbers:
        """Return [m, k] the winds and dragons that may count, pairs of 2, 5 and 8, and flowers."""
        view, row, every = self.view, self.row, np.arange(len(self.row))
        counts = np.zeros((len(row), NUM_KINDS), np.float32)
        counts[:, WHITE:] = 1
        for wind in (view.house_wind[row, 0], view.round_wind[row]):
            counts[every, FIRST_HONOUR + np.clip(wind, 0, 3)] += 1
        own, new = self.natural + self._melded, np.flatnonzero(self._is_new_meld)
        own[new, self.kind[new]] += 3
        return _columns(
            (counts * (self.natural == 2)).sum(axis=1),
            (counts * (own >= 3)).sum(axis=1),
            self.natural[:, WHITE:].sum(axis=1) / 2,
            (self.natural[:, _WITH_2_5_8] >= 2).sum(axis=1) / 2,
            view.flowers[row, 0].sum(axis=1) / 3,
            view.flowers[row, 1:].sum(axis=(1, 2)) / 6,
        )

    def _wild_tiles(self) -> Numbers:
        """Return [m, k] the wild tiles, and the distance without them or with one of them for the pair."""
        wilds, short = self.wilds, self.shanten.short_of_sets
        # Add a pair of honours, so that the hand needs only sets.
        with_pair = self.natural.copy()
        honour = with_pair[:, FIRST_HONOUR:].argmin(axis=1) + FIRST_HONOUR
        with_pair[np.arange(len(wilds)), honour] += 2
        of_sets = cheapest_hands(encode(with_pair).T, self._hands.sets).short.astype(np.intp)
        has_some = wilds > 0
        return np.concatenate(
            [
                one_hot(np.minimum(wilds, 3), 4),
                _columns(
                    np.clip(short, 0, 6) / 2,
                    np.clip(of_sets - np.maximum(wilds - 1, 0), 0, 6) / 2,
                    has_some & (of_sets <= wilds - 1),
                    *(short == 0, self.distance == 1, has_some & (self.distance == 1), has_some & (self.distance == 2)),
                    has_some * self.help / self._unseen_tiles,
                ),
            ],
            axis=1,
        )

    def _table(self) -> Numbers:
        """Return [m, k] the variant's counters of the seat, the others' melds, and which of the others deals."""
        view, row = self.view, self.row
        marks = np.clip(view.marks[row, 0].astype(np.float32), -4, 4) / 2
        melds = view.num_melds[row, 1:].astype(np.float32)
        most = melds.max(axis=1)
        of_others = np.concatenate([melds, _columns(most, most >= 3)], axis=1) / 2
        deals = view.dealer[row][:, None] == np.array([1, 2, 3])
        return np.concatenate([marks, of_others, deals.astype(np.float32)], axis=1)

    def _action(self) -> Numbers:
        """Return [m, k] the type of the action, and the class of the discard."""
        view, row, kind = self.view, self.row, self.kind
        of_discard = _CLASS[kind]
        of_discard[kind == FIRST_HONOUR + view.house_wind[row, 0]] = _OF_HOUSE
        of_discard[kind == FIRST_HONOUR + view.round_wind[row]] = _OF_ROUND
        return np.concatenate(
            [one_hot(self.type, _TYPES), one_hot(of_discard, _CLASSES) * (self.type == 0)[:, None]], axis=1
        )

    def _safety(self) -> Numbers:
        """Return [m, k] the others' earlier discards of the kind, and the unseen tiles of it and of its neighbours."""
        view, row, kind, stage = self.view, self.row, self.kind, self._stage[:, None]
        is_discard = (self.type == 0)[:, None]
        unseen, every, others = self._unseen, np.arange(len(row)), np.arange(1, 4)
        lies = (view.discards[row[:, None], others, kind[:, None]] > 0) & is_discard
        latest = view.latest[row[:, None], others, kind[:, None]]
        is_recent = (latest > 0) & (latest > view.num_discards[row][:, None] - view.rules.seats) & is_discard
        left = one_hot(np.clip(unseen[every, kind], 0, 3), 4) * is_discard
        suits = np.zeros((len(row), 3, 13), np.float32)
        suits[:, :, 2:11] = unseen[:, :FIRST_HONOUR].reshape(-1, 3, 9)
        suit, rank = np.minimum(kind // 9, 2), kind % 9
        around = np.stack([suits[every, suit, rank + 2 + step] for step in (-2, -1, 1, 2)]).sum(axis=0)[:, None]
        around = around * is_discard * (kind < FIRST_HONOUR)[:, None] / 8
        parts = [
            left,
            left * stage,
            lies,
            is_recent.any(axis=1, keepdims=True),
            lies.sum(axis=1, keepdims=True) * stage,
        ]
        parts += [around, around * stage, is_discard * stage, (self.wild == kind)[:, None] & is_discard]
        return np.concatenate(parts, axis=1, dtype=np.float32)


def actions_but_wins(view: View, rows: NDArray[np.intp]) -> Afterstates:
    """Return the afterstates of all legal actions of some rows except wins, in the order of the rows."""
    mask = view.action_mask[rows]
    mask[:, WIN] = False
    row, action = np.nonzero(mask)
    return Afterstates(view, rows[row], action)


def one_hot(which: NDArray[Any], size: int) -> Numbers:
    """Return [m, size] float32 that is 1 at the columns ``which`` [m] and 0 elsewhere."""
    return np.eye(size, dtype=np.float32)[which]


def _columns(*columns: NDArray[Any]) -> Numbers:
    """Return k arrays [m] as the columns of one array [m, k] float32."""
    return np.stack(columns, axis=1, dtype=np.float32, casting="unsafe")
