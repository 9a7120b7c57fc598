"""Estimates of what a hand may win: complete it with unseen tiles, and price the result with the variant's scoring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.plans import KINDS_OF_PLAN, PAIRS, PUNGS, Melds, melds_after
from mahjong_env import Rules, View, score
from mahjong_env.basics.actions import CHOW_LOW, CONCEALED_KONG, KONG, PASS, WIN
from mahjong_env.basics.notation import MeldType
from mahjong_env.hands.codes import NUM_KINDS, POWER, SUIT, encode, split_wilds
from mahjong_env.hands.distance import cheapest_hands, kinds_that_help, kinds_to_spare
from mahjong_env.hands.kind_sets import BIT_OF_KIND, KindSets, count_planes, count_tiles, members, unpack
from mahjong_env.hands.shanten import Hands
from mahjong_env.observation.acceptance import hands_after, kinds_wanted, tiles_after
from mahjong_env.ruleset.shapes import needs_counts, shanten
from mahjong_env.scoring.wins import Source, Wins
from mahjong_env.state.arrays import SLOT_OF_OFFSET, Phase

_ONE: Final = np.eye(NUM_KINDS, dtype=np.int8)
_CHOWS: Final = np.array([kind for kind in range(27) if kind % 9 < 7])
_SETS: Final = np.concatenate([3 * _ONE, _ONE[_CHOWS] + _ONE[_CHOWS + 1] + _ONE[_CHOWS + 2]])
"""[55, 34] int8 the tiles of every pung and chow."""
_LOWEST: Final = np.concatenate([np.arange(NUM_KINDS), _CHOWS]).astype(np.int8)
# The last element, which the index -1 reaches, stands for nobody.
_SEAT_OF_SLOT: Final = {3: np.array([0, 1, -1, 2, -1], np.int8), 4: np.array([0, 1, 2, 3, -1], np.int8)}
_NEXT_SLOT: Final = {3: np.array([1, 3, -1, 0], np.int8), 4: np.array([1, 2, 3, 0], np.int8)}
_MOST_STEPS: Final = 20
_SCARCE: Final = 0.02  # weight of a kind that is wanted although no tile of it is left


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
        sets: [k] the number of sets that the hand needs.
        plan: [k] plans (`mahjong_agents.plans`).
        unseen: [k, 34] tiles that the seat has not seen.
        rng: the source of randomness.

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
    """Complete the hands ``at`` in place: draw tiles that help and drop spare ones, one at a time."""
    for _ in range(_MOST_STEPS):
        hands = cheapest_hands(encode(counts[at]).T, sets[at])
        lacking = hands.short > wilds[at]
        surplus = counts[at].sum(axis=1) + wilds[at] > 3 * sets[at] + 2
        done = ~lacking & ~surplus
        if done.all():
            return
        add, drop = np.flatnonzero(lacking), np.flatnonzero(~lacking & surplus)
        helps = unpack(kinds_that_help(hands))[add] * weight[at[add]]
        kind, is_helped = _draw(helps, rng), helps.any(axis=1)
        helped, stuck = at[add[is_helped]], at[add[~is_helped]]
        counts[helped, kind[is_helped]] += 1
        last[helped] = kind[is_helped]
        # Nothing helps a hand whose four tiles of a kind wait for a fifth: drop one, and never draw that kind again.
        owner, fourth = np.nonzero(counts[stuck] == 4)
        counts[stuck[owner], fourth] = 3
        weight[stuck[owner], fourth] = 0
        kind = _draw(unpack(kinds_to_spare(hands))[drop].astype(np.float64), rng)
        counts[at[drop], kind] -= 1
        at = at[~done]


def _draw(weight: NDArray[Any], rng: np.random.Generator) -> NDArray[np.intp]:
    """Return [k] kinds, drawn at random with weights [k, 34]; large weights win more often than in proportion."""
    return (weight * rng.random(weight.shape)).argmax(axis=1)


def _by_kinds(
    counts: NDArray[np.int8],
    wilds: NDArray[np.int8],
    sets: NDArray[np.intp],
    as_pairs: NDArray[np.bool_],
    weight: NDArray[np.float64],
    rng: np.random.Generator,
) -> tuple[NDArray[np.int8], NDArray[np.intp]]:
    """Return [k, 34] hands of the kinds of which most are held, and [k] the kind drawn last.

    They are pungs and a pair, or seven pairs. Wild tiles take the place of missing ones.
    """
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
    *,
    has_come: bool = False,
) -> NDArray[np.float64]:
    """Return [k] the points that complete hands would win for the seats of some rows; 0 where they may not win.

    Args:
        view: what the seats see.
        row: [k] rows.
        natural: [k, 34] complete concealed tiles without wild ones.
        wilds: [k] wild tiles.
        last: [k] the winning tile.
        melds: [k] the winners' melds.
        source: where the winning tile comes from, for all or for each [k]; a discard is taken to be the next seat's.
        has_come: whether the winning tile has been drawn or offered already, so that it is no longer one of the unseen
            tiles. How it came and who gives it then counts.
    """
    slots, seat_of_slot = SLOT_OF_OFFSET[view.rules.seats], _SEAT_OF_SLOT[view.rules.seats]
    nothing = np.zeros(len(row), np.int8)
    is_drawn = np.broadcast_to(np.asarray(source) == Source.DRAW, row.shape)
    has_been_drawn = is_drawn & has_come
    giver = seat_of_slot[view.offered_from[row]] if has_come else np.int8(1)
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
        from_seat=np.where(is_drawn, np.int8(-1), giver),
        dealer=seat_of_slot[view.dealer[row]],
        streak=view.streak[row],
        wild=view.wild[row],
        num_melds=(meld_type > MeldType.NONE).sum(axis=2, dtype=np.int8),
        meld_type=meld_type,
        meld_kind=meld_kind,
        meld_from=meld_from,
        flowers=view.flowers[row, 0],
        kong_draws=view.kong_draws[row] * has_been_drawn,
        flower_draw=view.flower_draw[row] & has_been_drawn,
        last_tile=_left_to_next(view, row) <= 0 if has_come else nothing > 0,
        fourth_tile=_is_fourth(view, row, counts, last, 0 if has_come else 1),
        first_draw=nothing > 0,
        opening=nothing > 0,
        marks=view.marks[row][:, slots],
        round_wind=view.round_wind[row],
        house_wind=view.house_wind[row, 0],
        dice=view.dice[row],
        points=view.points[row][:, slots],
        floor=_is_of_match(view)[row],
        turned_up=np.zeros((len(row), 0), np.int8),
    )
    priced = np.arange(len(row))
    if view.rules.has_wild:
        # Finding what wild tiles may stand for takes longer than deciding who may win, and in Wuhan one in seven may.
        priced = np.flatnonzero(view.rules.legal(wins))
        wins = wins.take(priced)
    scores = view.rules.score(wins)
    prices = np.zeros(len(row))
    prices[priced] = np.where(scores.legal, scores.payments[:, 0], 0)
    return prices


def _is_of_match(view: View) -> NDArray[np.bool_]:
    """Return [n] whether the hand is one of a match, in which running points may limit what is paid."""
    several = (view.hand_in_match > 0) | (view.hands_to_come > 0)
    return several | (not view.rules.ends_by_hands)


def _left_to_next(view: View, row: NDArray[np.intp]) -> NDArray[np.int16]:
    """Return [k] the number of tiles left for the seat after the one whose turn it is."""
    if not view.rules.has_private_walls:
        return view.left[row]
    turn = view.turn[row]
    # While a discard may be claimed, the turn that a view shows is already the next seat's.
    slot = np.where(view.phase[row] == Phase.CLAIM, turn, _NEXT_SLOT[view.rules.seats][turn])
    return view.walls[row, slot]


def _is_fourth(
    view: View, row: NDArray[np.intp], counts: NDArray[np.int8], last: NDArray[np.intp], unseen: int
) -> NDArray[np.bool_]:
    """Return [k] whether the three other tiles of the winning kind lie open; False where the rules do not ask for it.

    Args:
        view: what the seats see.
        row: [k] rows.
        counts: [k, 34] complete concealed tiles.
        last: [k] the winning tile.
        unseen: the number of unseen tiles of the kind in that case: 1 if the winning tile is yet to come, else 0.
    """
    if not view.rules.asks_fourth_tile:
        return np.zeros(len(row), np.bool_)
    # Every tile of a kind is unseen, held, or lies open; the winning tile is one of the unseen.
    is_held_once = counts[np.arange(len(row)), last] == 1
    return np.asarray((view.unseen[row, last] == unseen) & is_held_once)


def lay_open(
    natural: NDArray[np.int8], wilds: NDArray[np.int8], sets: NDArray[np.intp], melds: Melds, rng: np.random.Generator
) -> tuple[NDArray[np.int8], Melds, NDArray[np.bool_]]:
    """Lay one set of each complete hand open, as if it had been claimed from the previous seat.

    Returns:
        [k, 34] the concealed tiles without the set, the melds with it, and [k] bool whether there is such a set.
    """
    found = np.full(len(natural), -1)
    for number in rng.permutation(len(_SETS)):
        at = np.flatnonzero((found < 0) & (natural >= _SETS[number]).all(axis=1))
        if at.size:
            rest = cheapest_hands(encode(natural[at] - _SETS[number]).T, np.maximum(sets[at] - 1, 0))
            found[at[rest.short <= wilds[at]]] = number
    some = found >= 0
    after = natural - _SETS[found] * some[:, None]
    at = np.flatnonzero(some)
    place = (melds.type > MeldType.NONE).sum(axis=1)[at]
    laid = Melds(*(array.copy() for array in melds))
    is_pung = found[at] < NUM_KINDS
    laid.type[at, place] = np.where(is_pung, MeldType.PUNG, MeldType.CHOW)
    laid.kind[at, place], laid.giver[at, place] = _LOWEST[found[at]], 3
    return after, laid, some


# --- The next draws -------------------------------------------------------------------------------------------

MOST_DISTANCE: Final = 2
"""The greatest distance of hands that are examined."""
_POWER, _GROUP = POWER.astype(np.intp), SUIT.astype(np.intp)
_MOST: Final = 127


class NextDraws(NamedTuple):
    """The values of the next draws for the hands that m actions leave; 0 for hands farther than `MOST_DISTANCE`.

    Attributes:
        next_help: [m] int8 for hands two tiles from a win: twice the number of tiles that win after the next draw that
            helps and the best discard, as a mean over the tiles that help.
        by_draw: [m] int8 for hands one tile from a win: ten times the square root of the sum, over the unseen winning
            tiles, of what each pays if it is drawn, in `unit`.
        by_discard: [m] int8 the same if the next seat discards the tile.
    """

    next_help: NDArray[np.int8]
    by_draw: NDArray[np.int8]
    by_discard: NDArray[np.int8]


class _Waiting(NamedTuple):
    """Hands that await a draw, each with the action that leaves it."""

    of: NDArray[np.intp]  # [k] the number of the action
    row: NDArray[np.intp]  # [k] row of the view
    natural: NDArray[np.int8]  # [k, 34]
    hands: Hands

    def take(self, which: NDArray[np.intp]) -> _Waiting:
        """Return copies of some of the hands."""
        return _Waiting(self.of[which], self.row[which], self.natural[which], self.hands.take(which))


def next_draws(
    view: View, row: NDArray[np.intp], action: NDArray[np.intp], distance: NDArray[Any], is_nearest: NDArray[np.bool_]
) -> NextDraws:
    """Look one or two draws ahead after actions.

    Args:
        view: what the seats see.
        row: [m] rows, ascending.
        action: [m] legal actions.
        distance: [m] tiles that the hand lacks after the action, see `mahjong_env.observation.acceptance.Lookahead`.
        is_nearest: [m] whether no other action of the row leaves fewer; other actions are left out, except passes.
    """
    found = NextDraws(*(np.zeros(len(row), np.int8) for _ in range(3)))
    has_choice = view.action_mask.sum(axis=1)[row] > 1
    near = (distance >= 1) & (distance <= MOST_DISTANCE)
    at = np.flatnonzero(near & (is_nearest | (action == PASS)) & (action != WIN) & has_choice)
    if not at.size:
        return found
    melds = melds_after(view, row[at], action[at])
    left = _hands_left(view, row[at], action[at])
    waits = distance[at][left.of] == 1
    by_draw, by_discard = np.zeros((2, len(row)))
    sources = {Source.DRAW: by_draw, Source.DISCARD: by_discard}
    _add_waits(view, left.take(np.flatnonzero(waits)), melds, sources, at)
    found = found._replace(by_draw=_in_roots(by_draw), by_discard=_in_roots(by_discard))
    _add_help(view, left.take(np.flatnonzero(~waits)), found, at)
    return found


@cache
def unit(rules: Rules) -> float:
    """Return the unit of `NextDraws.by_draw`: the points of a plain closed win by draw; sigma if wins need points."""
    sets = ["123m", "456p", "789s", "234p", "678m"][: rules.sets]
    hand = "".join(sets[1:]) + "55s" + "12m"
    paid = score(rules, hand=hand, melds=[], winning_tile="3m", source="draw").payments[0]
    return float(max(paid, 1) if rules.aims is None else rules.sigma)


def declined_wins(
    view: View, row: NDArray[np.intp], action: NDArray[np.intp], distance: NDArray[Any]
) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return what wins pay, and what seats that decline them may still draw.

    Args:
        view: what the seats see.
        row: [m] rows, ascending.
        action: [m] legal actions.
        distance: [m] tiles that the hand lacks after the action.

    Returns:
        [m] int8 ten times the square root of what a win pays, in `unit`, or the greatest int8 for wins of the opening,
        which are not priced; and [m] int8 half of `NextDraws.by_draw` for the discards, kongs and passes that decline a
        win. (The whole would not fit into int8 for a hand that any tile wins.) Both are 0 for other actions, the second
        also where no tile is left to draw.
    """
    pays, declined = np.zeros(len(row), np.int8), np.zeros(len(row))
    wins = np.flatnonzero(action == WIN)
    if wins.size:
        paid = _paid_for_wins(view, row[wins])
        pays[wins] = np.where(paid > 0, _in_roots(paid / unit(view.rules)), _MOST)
        declines = view.action_mask[row, WIN] & ((action < CHOW_LOW) | (action == PASS))
        at = np.flatnonzero(declines & (distance == 1) & _may_draw_again(view, row, action))
        melds, left = melds_after(view, row[at], action[at]), _hands_left(view, row[at], action[at])
        _add_waits(view, left, melds, {Source.DRAW: declined}, at)
    return pays, _in_roots(declined / 4)


def _may_draw_again(view: View, row: NDArray[np.intp], action: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return [m] whether the hand goes on after discards, kongs and passes, and the seat may still draw a tile."""
    is_kong = (action >= CONCEALED_KONG) & (action < CHOW_LOW)  # replaced at once
    goes_on = (_left_to_next(view, row) > 0) & ~view.closing[row]
    return (view.walls[row, 0] > 0) & (is_kong | goes_on)


def _paid_for_wins(view: View, row: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return [k] the points that the legal wins of rows pay."""
    every, drawn = np.arange(len(row)), view.drawn[row].astype(np.intp)
    is_drawn, last = drawn >= 0, np.maximum(drawn, view.offered[row])
    natural, wilds = split_wilds(view.hand[row], view.wild[row])
    natural[every, last] += ~is_drawn & (last >= 0)  # wins by flowers alone have no tile
    last = np.maximum(last, 0)
    melds = Melds(view.meld_type[row, 0], view.meld_kind[row, 0], view.meld_from[row, 0])
    offered = np.where(view.phase[row] == Phase.ROB, Source.ROBBED_KONG, Source.DISCARD)
    source = np.where(is_drawn, Source.DRAW, offered).astype(np.int8)
    return price(view, row, natural, wilds, last, melds, source, has_come=True)


def _in_roots(numbers: NDArray[Any]) -> NDArray[np.int8]:
    """Return ten times the square roots of numbers, rounded to int8."""
    return np.clip(np.rint(10 * np.sqrt(np.maximum(numbers, 0))), 0, _MOST).astype(np.int8)


def _hands_left(view: View, row: NDArray[np.intp], action: NDArray[np.intp]) -> _Waiting:
    """Return the hands that actions leave; after a chow or pung, one for each discard that leaves it as near."""
    natural, wilds = split_wilds(tiles_after(view, row, action), view.wild[row])
    counts = count_planes(natural) if needs_counts(view.rules) else None
    hands = replace(hands_after(view, row, action), wilds=wilds, counts=counts)
    every = _Waiting(np.arange(len(row)), row, natural, hands)
    is_claim = (action >= CHOW_LOW) & (action < KONG)
    claims, others = np.flatnonzero(is_claim), np.flatnonzero(~is_claim)
    of_claim, discarded = members(_spare(view, every.take(claims)))
    left = every.take(np.concatenate([others, claims[of_claim]]))
    at = np.arange(len(others), len(left.of))
    left.natural[at, discarded] -= 1
    left.hands.codes[_GROUP[discarded], at] -= _POWER[discarded]
    return left._replace(hands=replace(left.hands, counts=None if counts is None else count_planes(left.natural)))


def _spare(view: View, hands: _Waiting) -> KindSets:
    """Return [n] the natural kinds that hands with one tile too many can spare."""
    return _natural(view, hands, shanten(hands.hands, view.rules).kinds_to_spare(None))


def _natural(view: View, hands: _Waiting, kinds: KindSets) -> KindSets:
    """Return sets of kinds [n] without the wild kind."""
    wild = view.wild[hands.row]
    return np.where(wild >= 0, kinds & ~BIT_OF_KIND.take(wild, mode="wrap"), kinds)


def _drawn(view: View, hands: _Waiting) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the unseen kinds that help: [k] numbers of the hands, ascending, and [k] kinds."""
    found = shanten(hands.hands, view.rules)
    wild = view.wild[hands.row] if view.rules.has_wild else None
    which, kind = members(kinds_wanted(found, np.maximum(found.distance, 1), wild, view.rules))
    left = np.flatnonzero(view.unseen[hands.row[which], kind] > 0)
    return which[left], kind[left]


def _with(view: View, hands: _Waiting, which: NDArray[np.intp], kind: NDArray[np.intp]) -> _Waiting:
    """Return hands with one more tile each; a wild tile is counted as wild."""
    more = hands.take(which)
    every, is_wild = np.arange(len(which)), kind == view.wild[more.row]
    more.natural[every, kind] += ~is_wild
    codes = more.hands.codes.copy()
    codes[_GROUP[kind], every] += _POWER[kind] * ~is_wild
    tile = BIT_OF_KIND.take(kind) * ~is_wild
    counts = None if more.hands.counts is None else more.hands.counts.with_tile(tile)
    return more._replace(hands=replace(more.hands, codes=codes, wilds=more.hands.wilds + is_wild, counts=counts))


def _add_waits(
    view: View, hands: _Waiting, melds: Melds, found: Mapping[Source, NDArray[np.float64]], at: NDArray[np.intp]
) -> None:
    """Write, for each source, the sums of what the unseen winning tiles of waiting hands would pay."""
    which, kind = _drawn(view, hands)
    if not which.size:
        return
    won = _with(view, hands, which, kind)
    tiles = view.unseen[won.row, kind] / unit(view.rules)
    # The sources are priced together and side by side, so that the tiles are read only once.
    ways = len(found)
    each = won.take(np.repeat(np.arange(len(kind)), ways))
    sources = np.tile(np.array(list(found), np.int8), len(kind))
    prices = price(view, each.row, each.natural, each.hands.wilds, np.repeat(kind, ways), melds.take(each.of), sources)
    for way, to in enumerate(found.values()):
        sums = np.bincount(which, prices[way::ways] * tiles, minlength=len(hands.of))
        np.maximum.at(to, at[hands.of], sums)


def _add_help(view: View, hands: _Waiting, found: NextDraws, at: NDArray[np.intp]) -> None:
    """Write the number of tiles that win after the next tile that helps."""
    which, kind = _drawn(view, hands)
    if not which.size:
        return
    drawn = _with(view, hands, which, kind)
    before = shanten(drawn.hands, view.rules)
    seat, spared = members(_natural(view, drawn, before.kinds_to_spare(None)))
    wild = view.wild[drawn.row[seat]] if view.rules.has_wild else None
    distance = np.maximum(before.distance, 1).take(seat)
    kinds = kinds_wanted(before.without(seat, spared, None), distance, wild, view.rules)
    tiles = count_tiles(kinds, count_planes(view.unseen).take(drawn.row[seat]))
    best = np.zeros(len(which))
    np.maximum.at(best, seat, tiles)
    weight = view.unseen[drawn.row, kind].astype(np.float64)
    sums = np.bincount(which, best * weight, minlength=len(hands.of))
    mean = sums / np.maximum(np.bincount(which, weight, minlength=len(hands.of)), 1)
    np.maximum.at(found.next_help, at[hands.of], np.clip(np.rint(2 * mean), 0, _MOST).astype(np.int8))
