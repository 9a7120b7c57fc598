"""One action ahead: the distance from a win that each legal action leaves, and the acceptance (ukeire) after it.

The distance (shanten + 1) is the smallest number of tiles that the concealed tiles lack for a complete hand, if others
may be thrown away. It is measured to the nearest of the shapes that the rules play: sets and a pair, seven pairs,
thirteen orphans. Where a win needs points, it is measured to the nearest of the hands that are worth enough
(`mahjong_env.hands.aims`). The acceptance is the number of unseen tiles that would lower the distance. Other conditions
of a win (limits on the pair, on wild tiles, on the source of the winning tile) are not considered. Greedy agents, hints
and `mahjong_agents.look_ahead` use this module.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.actions import (
    ADDED_KONG,
    CHOW_LOW,
    CHOW_STEPS,
    CONCEALED_KONG,
    KONG,
    NUM_ACTIONS,
    PUNG,
    WIN,
)
from mahjong_env.hands.aimed import AimedShanten, Without
from mahjong_env.hands.codes import NUM_KINDS, POWER, SUIT, split_wilds
from mahjong_env.hands.kind_sets import (
    BIT_OF_KIND,
    KindSets,
    count_planes,
    count_tiles,
    members,
    pack,
    unpack,
)
from mahjong_env.hands.shanten import Hands, Melded, Shanten
from mahjong_env.observation.view import View
from mahjong_env.ruleset.questions import Rules
from mahjong_env.ruleset.shapes import needs_counts, shanten

FAR: Final = 100
"""The distance that illegal actions are given."""

# The kind that leaves the hand with each action, and how many tiles of it; for claims it is the offered kind.
_KIND = np.tile(np.arange(NUM_KINDS), 3)
_AMOUNT = np.zeros(NUM_ACTIONS, np.int8)
_AMOUNT[:CONCEALED_KONG], _AMOUNT[CONCEALED_KONG:ADDED_KONG], _AMOUNT[ADDED_KONG:CHOW_LOW] = 1, 4, 1
_AMOUNT[PUNG], _AMOUNT[KONG] = 2, 3
_NEW_MELD = np.zeros(NUM_ACTIONS, np.int8)
_NEW_MELD[CONCEALED_KONG:ADDED_KONG] = _NEW_MELD[CHOW_LOW : KONG + 1] = 1
_CHOW_STEPS = np.array(CHOW_STEPS)
_GROUP = SUIT.astype(np.intp)
_NO_KIND = np.uint64(0)


@dataclass(frozen=True)
class Lookahead:
    """The distance and the acceptance after each legal action of n seats.

    Attributes:
        distance: [n, 109] int8, the number of tiles that the hand lacks after the action (after a chow or pung: after
            the best discard that follows it); 0 for a win, `FAR` for illegal actions.
        help: [n, 109] int16, the acceptance: unseen tiles that would lower the distance, for the actions with the
            smallest distance in their row (after a chow or pung: tiles that would lower it with one of the discards);
            0 elsewhere.
    """

    distance: NDArray[np.int8]
    help: NDArray[np.int16]


def look_ahead(view: View) -> Lookahead:
    """Return the distance and the acceptance after each legal action of every row of a view."""
    mask = view.action_mask
    distance = np.full(mask.shape, FAR, np.int8)
    help_ = np.zeros(mask.shape, np.int16)
    discards = Discards.of(view, np.flatnonzero(mask[:, :NUM_KINDS].any(axis=1)))
    distance[discards.row, :NUM_KINDS] = discards.distance_by_kind()
    row, others = np.nonzero(mask[:, NUM_KINDS:])
    options = Options.of(view, row, others + NUM_KINDS)
    distance[options.row, options.action] = options.distance

    nearest = distance.min(axis=1)
    near = discards.take(np.flatnonzero(discards.distance == nearest[discards.row]))
    row, kind, tiles = near.help()
    help_[row, kind] = tiles
    at = np.flatnonzero((options.distance == nearest[options.row]) & (options.action != WIN))
    help_[options.row[at], options.action[at]] = options.help(at)
    return Lookahead(distance, help_)


@dataclass(frozen=True)
class Discards:
    """The possible discards of r seats.

    Attributes:
        view: what the seats see.
        row: [r] intp, the rows of the seats in the view, ascending.
        hands: the hands before the discard.
        shanten: the shanten of a batch of hands that contains these.
        place: [r] intp, the places of these hands in that batch.
        distance: [r] int8, the smallest distance that a legal discard leaves.
        nearest: [r] uint64, the kinds whose discard leaves it, as sets of kinds; the other legal ones leave one tile
            more.
        legal: [r] uint64, the kinds that may be discarded.
    """

    view: View
    row: NDArray[np.intp]
    hands: Hands
    shanten: Shanten | AimedShanten
    place: NDArray[np.intp]
    distance: NDArray[np.int8]
    nearest: KindSets
    legal: KindSets

    @classmethod
    def of(cls, view: View, row: NDArray[np.intp]) -> Discards:
        """Examine the discards of these rows, each of which has a legal one."""
        hands = concealed(view, row)
        found = shanten(hands, view.rules)
        legal = pack(view.action_mask[row, :NUM_KINDS])
        spare = found.kinds_to_spare(view.wild[row] if view.rules.has_wild else None) & legal
        must_lose = spare == _NO_KIND
        distance = found.distance + must_lose
        place = np.arange(len(row))
        return cls(view, row, hands, found, place, distance, np.where(must_lose, legal, spare), legal)

    def take(self, which: NDArray[np.intp]) -> Discards:
        """Return some of the seats; ``which`` are indices."""
        return Discards(
            self.view,
            self.row.take(which),
            self.hands.take(which),
            self.shanten,
            self.place.take(which),
            self.distance.take(which),
            self.nearest.take(which),
            self.legal.take(which),
        )

    def distance_by_kind(self) -> NDArray[np.int8]:
        """Return [r, 34] int8, the distance that each discard leaves, `FAR` for illegal ones."""
        after = self.distance[:, None] + ~unpack(self.nearest)
        return np.where(unpack(self.legal), after, np.int8(FAR))

    def help(self) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.uint8]]:
        """Return the nearest discards: rows [m] and kinds [m], ascending, and [m] uint8 tiles that help after each."""
        seat, kind = members(self.nearest)
        wild = self.view.wild[self.row].take(seat) if self.view.rules.has_wild else None
        without = self.shanten.without(self.place.take(seat), kind, None if wild is None else kind == wild)
        kinds = kinds_wanted(without, self.distance.take(seat), wild, self.view.rules)
        unseen = count_planes(self.view.unseen[self.row])
        return self.row.take(seat), kind, count_tiles(kinds, unseen.take(seat))


@dataclass(frozen=True)
class Options:
    """Actions other than discards, each with the hand that it leaves.

    Attributes:
        view: what the seats see.
        row: [m] intp, rows of the view, ascending.
        action: [m] intp, actions, ascending within a row.
        shanten: the shanten of the hands that the actions leave.
        distance: [m] int8, the distance after the action; after a chow or pung that of the best discard; 0 for a win.
    """

    view: View
    row: NDArray[np.intp]
    action: NDArray[np.intp]
    shanten: Shanten | AimedShanten
    distance: NDArray[np.int8]

    @classmethod
    def of(cls, view: View, row: NDArray[np.intp], chosen: NDArray[np.intp]) -> Options:
        """Examine these legal actions of these rows."""
        found = shanten(hands_after(view, row, chosen), view.rules)
        distance = found.distance.copy()
        # A chow or pung is followed by a discard, which leaves a complete hand one tile short.
        is_claim = (chosen >= CHOW_LOW) & (chosen <= PUNG)
        distance[is_claim] = np.maximum(distance[is_claim], 1)
        distance[chosen == WIN] = 0
        return cls(view, row, chosen, found, distance)

    def help(self, which: NDArray[np.intp]) -> NDArray[np.uint8]:
        """Return [k] uint8, the tiles that help after some of the actions; ``which`` [k] are indices."""
        rules, row = self.view.rules, self.row.take(which)
        wild = self.view.wild[row] if rules.has_wild else None
        kinds = kinds_wanted(self.shanten.take(which), self.distance.take(which), wild, rules)
        return count_tiles(kinds, count_planes(self.view.unseen[row]))


def concealed(view: View, row: NDArray[np.intp]) -> Hands:
    """Return the concealed tiles of some rows."""
    rules = view.rules
    melds = view.num_melds[row, 0]
    has_counts = needs_counts(rules)
    wilds, hand = np.zeros(len(row), np.int8), view.hand[row] if has_counts else None
    if rules.has_wild:
        hand, wilds = split_wilds(view.hand[row], view.wild[row])
    return Hands(
        view.codes[row].T.astype(np.intp, order="C"),
        wilds,
        rules.sets - melds.astype(np.intp),
        melds == 0,
        count_planes(hand) if has_counts and hand is not None else None,
        None if rules.aims is None else melded(view, row),
    )


def melded(view: View, row: NDArray[np.intp]) -> Melded:
    """Return the melds of some rows, and the kinds of which these seats have seen every tile."""
    return Melded.of(view.meld_type[row, 0], view.meld_kind[row, 0], pack(view.unseen[row] == 0))


def hands_after(view: View, row: NDArray[np.intp], chosen: NDArray[np.intp]) -> Hands:
    """Return the concealed tiles that actions leave, with `Hands.counts` where they matter, except after discards."""
    hands = concealed(view, row)
    kind, amount, new_melds = _given_up(view, row, chosen)
    is_wild = kind == view.wild[row]
    wilds = hands.wilds - amount * is_wild
    amount[is_wild] = 0
    hands.codes[_GROUP[kind], np.arange(len(row))] -= POWER[kind] * amount
    for chow, taken in _chow_tiles(view, row, chosen):
        hands.codes[_GROUP[taken], chow] -= POWER[taken]
    closed = hands.closed & (new_melds == 0)
    hands = replace(hands, wilds=wilds, sets=hands.sets - new_melds, closed=closed)
    if hands.melds is None:
        return hands
    is_chow = (chosen >= CHOW_LOW) & (chosen < PUNG)
    lowest = np.where(is_chow, kind - (chosen - CHOW_LOW), kind)
    new = BIT_OF_KIND.take(lowest) * new_melds.astype(np.uint64)
    melds = hands.melds.add(new * is_chow, new * ~is_chow, new_melds)
    return replace(hands, melds=melds, counts=count_planes(tiles_after(view, row, chosen)))


def tiles_after(view: View, row: NDArray[np.intp], chosen: NDArray[np.intp]) -> NDArray[np.int8]:
    """Return [m, 34] int8, the concealed tiles that actions leave, wild ones included."""
    tiles = view.hand[row]
    kind, amount, _ = _given_up(view, row, chosen)
    tiles[np.arange(len(row)), kind] -= amount
    for chow, taken in _chow_tiles(view, row, chosen):
        tiles[chow, taken] -= 1
    return tiles


def _given_up(
    view: View, row: NDArray[np.intp], chosen: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.int8], NDArray[np.int8]]:
    """Return the kind that leaves the hand, how many tiles of it, and the melds that it makes; for chows no tiles."""
    offered = np.maximum(view.offered[row], 0)
    kind = np.where(chosen < CHOW_LOW, _KIND[np.minimum(chosen, CHOW_LOW - 1)], offered)
    amount = _AMOUNT[chosen]
    new_melds = _NEW_MELD[chosen]
    # A discard that may be added to an open pung takes nothing from the hand.
    adds = (chosen == KONG) & (view.hand[row, kind] < 3)
    amount[adds] = 0
    new_melds[adds] = 0
    return kind, amount, new_melds


def _chow_tiles(
    view: View, row: NDArray[np.intp], chosen: NDArray[np.intp]
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return, for each of the two tiles that a chow takes from the hand, which actions are chows, and the tile."""
    chow = np.flatnonzero((chosen >= CHOW_LOW) & (chosen < PUNG))
    offered = view.offered[row[chow]].astype(np.intp)
    return [(chow, offered + step) for step in _CHOW_STEPS[chosen[chow] - CHOW_LOW].T]


def kinds_wanted(
    shanten: Shanten | AimedShanten | Without, distance: NDArray[np.int8], wild: NDArray[np.int8] | None, rules: Rules
) -> KindSets:
    """Return [m] uint64, the kinds (wild ones included) whose draw improves hands that are ``distance`` away."""
    kinds = shanten.kinds_that_help(distance)
    if wild is not None:
        tile = np.where(wild >= 0, BIT_OF_KIND.take(wild, mode="wrap"), _NO_KIND)
        kinds = np.where(distance > 0, kinds | tile, kinds & ~tile)
    # Kinds that are laid open and replaced never stay in the hand.
    for kind in np.flatnonzero(rules.flower_kinds[:NUM_KINDS]):
        kinds &= ~BIT_OF_KIND[kind]
    return kinds
