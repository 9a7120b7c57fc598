"""The agent that plays for points: what promises most, by what the variant's own scoring pays for it?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.greedy import reference_agent
from mahjong_agents.lookahead import ADDED_KONG, CHOW, CONCEALED_KONG, KONG, PASS, PUNG, WIN, hands_after, tiles_after
from mahjong_agents.outlook import Concealed, other_shapes
from mahjong_agents.plans import ANY, PAIRS, Prospects, possible_plans, weigh
from mahjong_agents.value.completions import Melds, complete, lay_open, price
from mahjong_agents.value.win_probability import chance_to_win, pace_of
from mahjong_env import Rules, View
from mahjong_env.basics.notation import MeldType
from mahjong_env.hands.kind_sets import BIT_OF_KIND, count_planes, count_tiles, members, pack, unpack
from mahjong_env.scoring.wins import Source

DISCARD: Final = -1  # an option of the own turn: some discard
_NO_KIND = np.uint64(0)
_REACH: Final = 3  # plans are looked at that are so many tiles farther than the nearest
# Tiles of others that a hand may claim, for each that it draws: while it stays closed it has other ways to come nearer.
_CLOSED_CLAIMS: Final = 1.0
_OPEN_CLAIMS: Final = 2.4
_LAST_CLAIMS: Final = 1.2
_RIVALS: Final = 0.35  # chance that another seat wins between two draws, at the end of the wall


@dataclass(frozen=True)
class Options:
    """What seats may do: every legal action, the discards of a seat together as one; m in all."""

    row: NDArray[np.intp]  # [m] row of the view
    action: NDArray[np.intp]  # [m] or DISCARD
    hands: Concealed  # before the discard
    melds: Melds


class PlanValueAgent:
    """Compares plans: any shape, one suit with or without honours, pungs alone, seven pairs.

    For every legal action and every plan that it leaves, it completes the hand in its mind with tiles that it has not
    seen, has the variant score these hands, and weighs what they pay with the chance to complete them in time. It
    leaves greedy's way for another only if that promises much more, and then plays for the plan as greedy plays for
    any shape. It always wins when it may.

    Attributes:
        name: "plan-value".
        games_at_once: see `mahjong_agents.base.games_at_once`.
    """

    name = "plan-value"
    games_at_once: Final = 1000

    def __init__(self, *, samples: int = 3, margin: float = 1.0) -> None:
        """Choose the manner.

        Args:
            samples: hands that are imagined for each action and plan.
            margin: how much more, as a share, another way must promise than greedy's.
        """
        self._samples, self._margin = samples, margin

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        """Choose what promises most; see `mahjong_agents.Agent.act`."""
        usual = reference_agent(view.rules).act(view, rng)
        actions = usual.copy()
        options = options_of(view, np.flatnonzero(~view.action_mask[:, WIN] & view.action_mask.any(axis=1)))
        if not options.row.size:
            return actions
        prospects = _prospects(view.rules, options)
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
        row, rules = options.row[hand], view.rules
        wild, unseen = view.wild[row], view.unseen[row]
        helps = prospects.help | np.where(wild >= 0, BIT_OF_KIND.take(wild, mode="wrap"), _NO_KIND)
        tiles = count_tiles(helps, count_planes(unseen)).astype(np.float64)
        total = np.maximum(unseen.sum(axis=1), 1).astype(np.float64)
        drawable = rules.deck.sum() - rules.reserve - rules.seats * rules.hand_size
        drawn = np.clip(1 - view.left[row] / drawable, 0, 1)
        turns = view.left[row] / rules.seats
        allowed = (options.hands.closed[hand], plan != PAIRS)
        claims = (_CLOSED_CLAIMS, _OPEN_CLAIMS)
        worth = np.zeros(len(hand))
        for is_allowed, claimed, (value, rate) in zip(
            allowed, claims, self._ends(view, options, prospects, rng), strict=True
        ):
            chance = chance_to_win(
                prospects.distance,
                tiles / total,
                pace_of(prospects.distance, tiles),
                total,
                np.full(len(hand), claimed),
                rate,
                turns,
                _RIVALS,
                drawn,
            )
            worth = np.maximum(worth, chance * value * is_allowed)
        return worth

    def _ends(
        self, view: View, options: Options, prospects: Prospects, rng: np.random.Generator
    ) -> tuple[tuple[NDArray[np.float64], NDArray[np.float64]], ...]:
        """Return for hands that stay as they are, and for those that lay a set open: [k] points, [k] winning discards.

        Points are those of a win; winning discards are counted for each draw.
        """
        hand, plan = prospects.hand, prospects.plan
        row, hands, melds = options.row[hand], options.hands.take(hand), options.melds.take(hand)
        unseen = view.unseen[row]
        wild = np.flatnonzero(view.wild[row] >= 0)
        unseen[wild, view.wild[row[wild]]] = 0
        closed = np.flatnonzero(hands.closed & (plan != PAIRS))
        sums, opened_sums = np.zeros((3, len(hand))), np.zeros((3, len(closed)))
        for _ in range(self._samples):
            counts, last = complete(_natural(hands), hands.wilds, hands.sets, plan, unseen, rng)
            sums += _priced(view, row, counts, hands.wilds, last, melds)
            of = hands.take(closed)
            opened, laid, some = lay_open(counts[closed], of.wilds, of.sets, melds.take(closed), rng)
            held = opened[np.arange(len(closed)), last[closed]] > 0
            last = np.where(held, last[closed], opened.argmax(axis=1))
            opened_sums += _priced(view, row[closed], opened, of.wilds, last, laid) * some
        open_sums = sums.copy()
        open_sums[:, closed] = opened_sums
        return self._means(sums), self._means(open_sums)

    def _means(self, sums: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        by_draw, by_discard, legal = sums
        rate = _LAST_CLAIMS * legal / self._samples
        value = (by_draw / self._samples + rate * by_discard / np.maximum(legal, 1)) / (1 + rate)
        return value, rate


def options_of(view: View, rows: NDArray[np.intp]) -> Options:
    """Return what the seats of some rows may do but win."""
    mask = view.action_mask[rows]
    turn = np.flatnonzero(mask[:, :CONCEALED_KONG].any(axis=1))
    other, action = np.nonzero(mask[:, CONCEALED_KONG:])
    row = rows[np.concatenate([turn, other])]
    action = np.concatenate([np.full(len(turn), DISCARD), action + CONCEALED_KONG])
    played = np.where(action == DISCARD, PASS, action)
    natural = tiles_after(view, row, played)
    wild = view.wild[row]
    some = np.flatnonzero(wild >= 0)
    natural[some, wild[some]] = 0
    hands = replace(hands_after(view, row, played), counts=count_planes(natural))
    return Options(row, action, hands, melds_after(view, row, action))


def melds_after(view: View, row: NDArray[np.intp], action: NDArray[np.intp]) -> Melds:
    """Return the own melds as actions leave them."""
    melds = Melds(*(array[row, 0].copy() for array in (view.meld_type, view.meld_kind, view.meld_from)))
    number = view.num_melds[row, 0].astype(np.intp)
    offered, giver = view.offered[row].astype(np.intp), view.offered_from[row]
    is_kong, is_added = (
        (action >= first) & (action < last) for first, last in ((CONCEALED_KONG, ADDED_KONG), (ADDED_KONG, CHOW))
    )
    adds = (action == KONG) & (view.hand[row, np.maximum(offered, 0)] < 3)
    for which, meld, kind in (
        (is_kong, MeldType.CONCEALED_KONG, action - CONCEALED_KONG),
        ((action >= CHOW) & (action < PUNG), MeldType.CHOW, offered - (action - CHOW)),
        (action == PUNG, MeldType.PUNG, offered),
        ((action == KONG) & ~adds, MeldType.EXPOSED_KONG, offered),
    ):
        at = np.flatnonzero(which)
        melds.type[at, number[at]], melds.kind[at, number[at]] = meld, kind[at]
        melds.giver[at, number[at]] = -1 if meld is MeldType.CONCEALED_KONG else giver[at]
    kind = np.where(is_added, action - ADDED_KONG, offered)
    raised = (is_added | adds)[:, None] & (melds.type == MeldType.PUNG) & (melds.kind == kind[:, None])
    melds.type[raised] = MeldType.ADDED_KONG
    return melds


def _prospects(rules: Rules, options: Options) -> Prospects:
    """Return the plans within reach of each option."""
    possible = possible_plans(options.hands, options.melds.type, options.melds.kind, other_shapes(rules))
    prospects = weigh(options.hands, *np.nonzero(possible))
    nearest = np.full(len(options.row), np.iinfo(np.int8).max, np.int8)
    np.minimum.at(nearest, prospects.hand, prospects.distance)
    return prospects.take(np.flatnonzero(prospects.distance <= nearest[prospects.hand] + _REACH))


def _natural(hands: Concealed) -> NDArray[np.int8]:
    """Return [k, 34] int8 the tiles of hands by kind."""
    assert hands.counts is not None
    ones, twos, fours = (unpack(digit).astype(np.int8) for digit in hands.counts)
    return ones + 2 * twos + 4 * fours


def _priced(
    view: View,
    row: NDArray[np.intp],
    counts: NDArray[np.int8],
    wilds: NDArray[np.int8],
    last: NDArray[np.intp],
    melds: Melds,
) -> NDArray[np.float64]:
    """Return [3, k] points by draw, points by discard, whether the discard may be won on."""
    by_draw = price(view, row, counts, wilds, last, melds, Source.DRAW)
    by_discard = price(view, row, counts, wilds, last, melds, Source.DISCARD)
    return np.stack([by_draw, by_discard, by_discard > 0])


def discards_for(view: View, hands: Concealed, plan: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return [n] discards for plans: fewest tiles short, most help, then the same for any shape."""
    near = weigh(hands, np.arange(len(view)), plan).spare
    legal = pack(view.action_mask[:, :CONCEALED_KONG])
    near = np.where(near & legal == _NO_KIND, legal, near & legal)
    seat, kind = members(near)
    is_wild = kind == view.wild[seat]
    after, every = hands.take(seat).without(kind, is_wild), np.arange(len(seat))
    unseen = count_planes(view.unseen).take(seat)
    order = rng.random(len(seat)) * 1e-4 - 1e3 * is_wild
    for weight, of in ((1.0, plan[seat]), (1e-2, np.full(len(seat), ANY))):
        found = weigh(after, every, of)
        order += weight * (count_tiles(found.help, unseen) / 200.0 - found.distance)
    best = np.full(len(view), -np.inf)
    np.maximum.at(best, seat, order)
    chosen = np.zeros(len(view), np.int64)
    at = np.flatnonzero(order == best[seat])
    chosen[seat[at]] = kind[at]
    return chosen
