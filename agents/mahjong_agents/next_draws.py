"""What the next draws would make of a hand: what the waits that actions leave are worth, the help after one draw.

The help that `mahjong_agents.lookahead` counts looks one draw ahead. Near the end this is not enough: of two hands that
the same number of tiles brings to a wait, one may come to wait for eight tiles and the other for two; and of two waits
one may pay three times as much as the other, or nothing on a discard.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.lookahead import CHOW, KONG, PASS, WIN, hands_after, kinds_wanted, tiles_after
from mahjong_agents.outlook import Concealed, Outlook, other_shapes
from mahjong_agents.value.completions import Melds, price
from mahjong_agents.value.plan_value import melds_after
from mahjong_env import Rules, View, score
from mahjong_env.hands.codes import POWER, SUIT
from mahjong_env.hands.kind_sets import BIT_OF_KIND, KindSets, count_planes, count_tiles, members
from mahjong_env.scoring.wins import Source

MOST_DISTANCE: Final = 2
"""Hands are looked at that are so many tiles from a win, or fewer."""
_POWER, _GROUP = POWER.astype(np.intp), SUIT.astype(np.intp)
_MOST: Final = 127


@dataclass(frozen=True)
class NextDraws:
    """What the next draws would make of the hands that m actions leave; 0 where nothing was looked at.

    Attributes:
        next_help: [m] int8 of hands two tiles from a win: twice the tiles that will then win, on average over the tiles
            that help, after the best discard.
        by_draw: [m] int8 of hands that wait: ten times the root of the unseen winning tiles, each times what it pays if
            it is drawn, in `unit`.
        by_discard: [m] int8 the same if the next seat discards it.
    """

    next_help: NDArray[np.int8]
    by_draw: NDArray[np.int8]
    by_discard: NDArray[np.int8]


@dataclass(frozen=True)
class _Hands:
    """Hands that wait for a draw, each with the action that leaves it."""

    of: NDArray[np.intp]
    """[k] which of the actions."""
    row: NDArray[np.intp]
    natural: NDArray[np.int8]
    hands: Concealed

    def take(self, which: NDArray[np.intp]) -> _Hands:
        return _Hands(self.of[which], self.row[which], self.natural[which], self.hands.take(which))


def next_draws(
    view: View, row: NDArray[np.intp], action: NDArray[np.intp], distance: NDArray[Any], is_nearest: NDArray[np.bool_]
) -> NextDraws:
    """Look at what some actions leave.

    Args:
        view: what the seats see.
        row: [m] rows, ascending.
        action: [m] legal actions.
        distance: [m] tiles that the hand lacks after the action, see `mahjong_agents.lookahead.Lookahead`.
        is_nearest: [m] whether no other action of the row leaves fewer; the others are left out, passes aside.
    """
    found = NextDraws(*(np.zeros(len(row), np.int8) for _ in range(3)))
    has_choice = view.action_mask.sum(axis=1)[row] > 1
    near = (distance >= 1) & (distance <= MOST_DISTANCE)
    at = np.flatnonzero(near & (is_nearest | (action == PASS)) & (action != WIN) & has_choice)
    if not at.size:
        return found
    melds = melds_after(view, row[at], action[at])
    left = _hands_left(view, row[at], action[at], distance[at])
    waits = distance[at][left.of] == 1
    _add_waits(view, left.take(np.flatnonzero(waits)), melds, found, at)
    _add_help(view, left.take(np.flatnonzero(~waits)), found, at)
    return found


@cache
def unit(rules: Rules) -> float:
    """Return the points of a plain closed win by draw, 1 if there is none: the unit of `NextDraws.by_draw`."""
    sets = ["123m", "456p", "789s", "234p", "678m"][: rules.sets]
    hand = "".join(sets[1:]) + "55s" + "12m"
    paid = score(rules, hand=hand, melds=[], winning_tile="3m", source="draw").payments[0]
    return float(max(paid, 1))


def _hands_left(view: View, row: NDArray[np.intp], action: NDArray[np.intp], distance: NDArray[Any]) -> _Hands:
    """Return the hands that actions leave: after a chow or pung with each of the discards that leave it as near."""
    natural, wilds = tiles_after(view, row, action), np.zeros(len(row), np.int8)
    some = np.flatnonzero(view.wild[row] >= 0)
    wild = view.wild[row[some]]
    wilds[some] = natural[some, wild]
    natural[some, wild] = 0
    counts = count_planes(natural) if any(other_shapes(view.rules)) else None
    every = _Hands(
        np.arange(len(row)), row, natural, replace(hands_after(view, row, action), wilds=wilds, counts=counts)
    )
    is_claim = (action >= CHOW) & (action < KONG)
    claims = np.flatnonzero(is_claim)
    if not claims.size:
        return every
    return _joined(every.take(np.flatnonzero(~is_claim)), _discarded(view, every.take(claims)))


def _joined(one: _Hands, other: _Hands) -> _Hands:
    def both(left: Any, right: Any, axis: int = 0) -> Any:
        return np.concatenate([left, right], axis=axis)

    a, b = one.hands, other.hands
    counts = None
    if a.counts is not None and b.counts is not None:
        counts = type(a.counts)(*(both(left, right) for left, right in zip(a.counts, b.counts, strict=True)))
    hands = Concealed(
        both(a.codes, b.codes, 1), both(a.wilds, b.wilds), both(a.sets, b.sets), both(a.closed, b.closed), counts
    )
    return _Hands(both(one.of, other.of), both(one.row, other.row), both(one.natural, other.natural), hands)


def _discarded(view: View, hands: _Hands) -> _Hands:
    """Return hands with a tile too many without each of the kinds that they can spare."""
    which, kind = members(_spare(view, hands))
    after = hands.take(which)
    after.natural[np.arange(len(which)), kind] -= 1
    return replace(after, hands=after.hands.without(kind, None))


def _spare(view: View, hands: _Hands) -> KindSets:
    """Return the natural kinds that hands with a tile too many can spare."""
    spare = Outlook(hands.hands, other_shapes(view.rules)).kinds_to_spare(None)
    wild = view.wild[hands.row]
    return np.where(wild >= 0, spare & ~BIT_OF_KIND.take(wild, mode="wrap"), spare)


def _drawn(view: View, hands: _Hands) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the helping kinds that are unseen: [k] which of the hands, ascending, and [k] kinds."""
    outlook = Outlook(hands.hands, other_shapes(view.rules))
    wild = view.wild[hands.row] if view.rules.has_wild else None
    which, kind = members(kinds_wanted(outlook, np.maximum(outlook.distance, 1), wild, view.rules))
    left = np.flatnonzero(view.unseen[hands.row[which], kind] > 0)
    return which[left], kind[left]


def _with(view: View, hands: _Hands, which: NDArray[np.intp], kind: NDArray[np.intp]) -> _Hands:
    """Return hands with one tile more each; a wild one counts as such."""
    more = hands.take(which)
    every, is_wild = np.arange(len(which)), kind == view.wild[more.row]
    more.natural[every, kind] += ~is_wild
    codes = more.hands.codes.copy()
    codes[_GROUP[kind], every] += _POWER[kind] * ~is_wild
    counts = None if more.hands.counts is None else count_planes(more.natural)
    return replace(more, hands=replace(more.hands, codes=codes, wilds=more.hands.wilds + is_wild, counts=counts))


def _add_waits(view: View, hands: _Hands, melds: Melds, found: NextDraws, at: NDArray[np.intp]) -> None:
    """Write what the winning tiles of hands that wait would pay."""
    which, kind = _drawn(view, hands)
    if not which.size:
        return
    won = _with(view, hands, which, kind)
    tiles = view.unseen[won.row, kind] / unit(view.rules)
    both = won.take(np.tile(np.arange(len(kind)), 2))  # to be priced at once, which is quicker
    sources = np.repeat(np.array([Source.DRAW, Source.DISCARD], np.int8), len(kind))
    prices = price(view, both.row, both.natural, both.hands.wilds, np.tile(kind, 2), melds.take(both.of), sources)
    for paid, to in zip(np.split(prices, 2), (found.by_draw, found.by_discard), strict=True):
        sums = np.bincount(which, paid * tiles, minlength=len(hands.of))
        roots = 10 * np.sqrt(np.maximum(sums, 0))
        np.maximum.at(to, at[hands.of], np.clip(np.rint(roots), 0, _MOST).astype(np.int8))


def _add_help(view: View, hands: _Hands, found: NextDraws, at: NDArray[np.intp]) -> None:
    """Write how many tiles will win after the next tile that helps."""
    which, kind = _drawn(view, hands)
    if not which.size:
        return
    drawn = _with(view, hands, which, kind)
    seat, spared = members(_spare(view, drawn))
    after = drawn.hands.take(seat).without(spared, None)
    outlook = Outlook(after, other_shapes(view.rules))
    wild = view.wild[drawn.row[seat]] if view.rules.has_wild else None
    kinds = kinds_wanted(outlook, np.maximum(outlook.distance, 1), wild, view.rules)
    tiles = count_tiles(kinds, count_planes(view.unseen).take(drawn.row[seat]))
    best = np.zeros(len(which))
    np.maximum.at(best, seat, tiles)
    weight = view.unseen[drawn.row, kind].astype(np.float64)
    sums = np.bincount(which, best * weight, minlength=len(hands.of))
    mean = sums / np.maximum(np.bincount(which, weight, minlength=len(hands.of)), 1)
    np.maximum.at(found.next_help, at[hands.of], np.clip(np.rint(2 * mean), 0, _MOST).astype(np.int8))
