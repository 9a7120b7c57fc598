"""Hands as they may be won: nearest hands completed with unseen tiles, and priced by the variant's own scoring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.plans import KINDS_OF_PLAN, PAIRS, PUNGS
from mahjong_env import View
from mahjong_env.basics.notation import MeldType
from mahjong_env.hands.codes import NUM_KINDS, encode
from mahjong_env.hands.kind_sets import unpack
from mahjong_env.hands.shares import cheapest_hands, kinds_that_help, kinds_to_spare
from mahjong_env.scoring.wins import Source, Wins

SLOTS_OF_SEATS: Final = {3: np.array([0, 1, 3]), 4: np.arange(4)}
# The last place, reached by -1, is for nobody.
_SEAT_OF_SLOT: Final = {3: np.array([0, 1, -1, 2, -1], np.int8), 4: np.array([0, 1, 2, 3, -1], np.int8)}
_MOST_STEPS: Final = 20
_SCARCE: Final = 0.02  # weight of a kind that is wanted, but of which no tile is left


@dataclass(frozen=True)
class Melds:
    """Melds of m seats, those of the view and one that may be added: all [m, 5].

    Attributes:
        type: `MeldType`.
        kind: lowest of a chow.
        giver: slot, -1 nobody.
    """

    type: NDArray[np.int8]
    kind: NDArray[np.int8]
    giver: NDArray[np.int8]

    def take(self, which: NDArray[np.intp]) -> Melds:
        """Return some of them."""
        return Melds(self.type[which], self.kind[which], self.giver[which])


def complete(
    natural: NDArray[np.int8],
    wilds: NDArray[np.int8],
    sets: NDArray[np.intp],
    plan: NDArray[np.intp],
    unseen: NDArray[np.int8],
    rng: np.random.Generator,
) -> tuple[NDArray[np.int8], NDArray[np.intp]]:
    """Complete hands under plans, with tiles drawn from the unseen ones that help.

    Args:
        natural: [k, 34] concealed tiles without wild ones.
        wilds: [k] wild tiles.
        sets: [k] sets wanted.
        plan: [k] plans.
        unseen: [k, 34] tiles that the seat has not seen.
        rng: where chance comes from.

    Returns:
        [k, 34] int8 natural tiles of the complete hands, and [k] the kinds drawn last.
    """
    kinds = unpack(KINDS_OF_PLAN)[plan]
    counts = natural * kinds
    last = counts.argmax(axis=1)
    weight = (np.maximum(unseen, 0) + _SCARCE) * kinds
    at = np.flatnonzero(plan < PUNGS)
    _by_steps(counts, last, wilds, sets, weight, at, rng)
    at = np.flatnonzero(plan >= PUNGS)
    if at.size:
        counts[at], last[at] = _by_kinds(counts[at], wilds[at], sets[at], plan[at] == PAIRS, weight[at], rng)
    return counts, last


def _by_steps(
    counts: NDArray[np.int8],
    last: NDArray[np.intp],
    wilds: NDArray[np.int8],
    sets: NDArray[np.intp],
    weight: NDArray[np.float64],
    at: NDArray[np.intp],
    rng: np.random.Generator,
) -> None:
    """Draw helping tiles and drop spare ones, one at a time, until the hands are complete; in place, where ``at``."""
    for _ in range(_MOST_STEPS):
        hands = cheapest_hands(encode(counts[at]).T, sets[at])
        lacking = hands.short > wilds[at]
        surplus = counts[at].sum(axis=1) + wilds[at] > 3 * sets[at] + 2
        done = ~lacking & ~surplus
        if done.all():
            return
        add, drop = np.flatnonzero(lacking), np.flatnonzero(~lacking & surplus)
        kind = _draw(unpack(kinds_that_help(hands))[add] * weight[at[add]], rng)
        counts[at[add], kind] += 1
        last[at[add]] = kind
        kind = _draw(unpack(kinds_to_spare(hands))[drop].astype(np.float64), rng)
        counts[at[drop], kind] -= 1
        at = at[~done]


def _draw(weight: NDArray[Any], rng: np.random.Generator) -> NDArray[np.intp]:
    """Return [k] kinds, drawn at random: the greater a weight [k, 34], the more often (more so than in proportion)."""
    return (weight * rng.random(weight.shape)).argmax(axis=1)


def _by_kinds(
    counts: NDArray[np.int8],
    wilds: NDArray[np.int8],
    sets: NDArray[np.intp],
    as_pairs: NDArray[np.bool_],
    weight: NDArray[np.float64],
    rng: np.random.Generator,
) -> tuple[NDArray[np.int8], NDArray[np.intp]]:
    """Keep the kinds of which most are held, as pungs and a pair or as seven pairs; wild tiles fill what lacks."""
    rows = np.arange(len(counts))
    held = np.where(as_pairs[:, None], np.minimum(counts, 2), np.minimum(counts, 3))
    order = (-(held + 0.9 * weight / 4 * rng.random(weight.shape))).argsort(axis=1)
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(NUM_KINDS)[None], axis=1)
    wanted = np.where(rank < sets[:, None], 3, 0) + 2 * (rank == sets[:, None])
    wanted = np.where(as_pairs[:, None], 2 * (rank < 7), wanted).astype(np.int8)
    for number in range(int(wilds.max(initial=0))):
        lacking = (wanted - counts) * (0.1 + rng.random(wanted.shape))
        kind = lacking.argmax(axis=1)
        some = wilds > number
        wanted[rows[some], kind[some]] -= 1
    last = ((wanted - counts) * (0.1 + rng.random(wanted.shape))).argmax(axis=1)
    return wanted, last


def price(
    view: View,
    row: NDArray[np.intp],
    natural: NDArray[np.int8],
    wilds: NDArray[np.int8],
    last: NDArray[np.intp],
    melds: Melds,
    source: Source | NDArray[np.int8],
) -> NDArray[np.float64]:
    """Return [k] what complete hands would bring the seats of these rows; 0 where they may not win.

    Args:
        view: what the seats see.
        row: [k] rows.
        natural: [k, 34] complete concealed tiles without wild ones.
        wilds: [k] wild tiles.
        last: [k] the winning tile.
        melds: [k] the winners' melds.
        source: where the winning tile comes from, for all or for each [k]; a discard is that of the next seat.
    """
    slots, seat_of_slot = SLOTS_OF_SEATS[view.rules.seats], _SEAT_OF_SLOT[view.rules.seats]
    nothing = np.zeros(len(row), np.int8)
    counts = natural.copy()
    some = np.flatnonzero(wilds > 0)
    wild = view.wild[row[some]]
    counts[some, wild] = np.minimum(counts[some, wild] + wilds[some], 4)
    meld_type, meld_kind, meld_from = (
        array[row][:, slots] for array in (view.meld_type, view.meld_kind, view.meld_from)
    )
    meld_from = seat_of_slot[meld_from]
    meld_type[:, 0], meld_kind[:, 0], meld_from[:, 0] = melds.type, melds.kind, seat_of_slot[melds.giver]
    wins = Wins(
        counts=counts,
        winning_tile=last.astype(np.int8),
        source=nothing + np.asarray(source, np.int8),
        seat=nothing,
        from_seat=nothing + np.where(np.asarray(source) == Source.DRAW, np.int8(-1), np.int8(1)),
        dealer=seat_of_slot[view.dealer[row]],
        streak=view.streak[row],
        wild=view.wild[row],
        num_melds=(meld_type > MeldType.NONE).sum(axis=2, dtype=np.int8),
        meld_type=meld_type,
        meld_kind=meld_kind,
        meld_from=meld_from,
        flowers=view.flowers[row, 0],
        kong_draws=nothing,
        flower_draw=nothing > 0,
        last_tile=nothing > 0,
        first_draw=nothing > 0,
        opening=nothing > 0,
        marks=view.marks[row][:, slots],
        round_wind=view.round_wind[row],
        house_wind=view.house_wind[row, 0],
        dice=nothing,
        points=view.points[row][:, slots],
        floor=nothing > 0,
        turned_up=np.zeros((len(row), 0), np.int8),
    )
    scores = view.rules.score(wins)
    return np.where(scores.legal, scores.payments[:, 0], 0).astype(np.float64)


def lay_open(
    natural: NDArray[np.int8], wilds: NDArray[np.int8], sets: NDArray[np.intp], melds: Melds, rng: np.random.Generator
) -> tuple[NDArray[np.int8], Melds, NDArray[np.bool_]]:
    """Imagine that one set of each complete hand was claimed from the previous seat.

    Returns:
        [k, 34] the concealed tiles without it, the melds with it, and [k] bool whether there is such a set.
    """
    patterns, types, kinds = _sets()
    order = rng.permutation(len(patterns))
    found = np.full(len(natural), -1)
    for number in order:
        at = np.flatnonzero((found < 0) & (natural >= patterns[number]).all(axis=1))
        if at.size:
            rest = cheapest_hands(encode(natural[at] - patterns[number]).T, np.maximum(sets[at] - 1, 0))
            found[at[rest.short <= wilds[at]]] = number
    some = found >= 0
    after = natural - patterns[found] * some[:, None]
    at = np.flatnonzero(some)
    place = (melds.type > MeldType.NONE).sum(axis=1)[at]
    laid = Melds(melds.type.copy(), melds.kind.copy(), melds.giver.copy())
    laid.type[at, place], laid.kind[at, place], laid.giver[at, place] = types[found[at]], kinds[found[at]], 3
    return after, laid, some


def _sets() -> tuple[NDArray[np.int8], NDArray[np.int8], NDArray[np.int8]]:
    """Return every pung and chow: [55, 34] its tiles, [55] type, [55] kind."""
    one = np.eye(NUM_KINDS, dtype=np.int8)
    lowest = np.array([kind for kind in range(27) if kind % 9 < 7])
    chows = one[lowest] + one[lowest + 1] + one[lowest + 2]
    types = np.repeat(np.array([MeldType.PUNG, MeldType.CHOW], np.int8), [NUM_KINDS, len(lowest)])
    return np.concatenate([3 * one, chows]), types, np.concatenate([np.arange(NUM_KINDS), lowest]).astype(np.int8)
