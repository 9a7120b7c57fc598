"""The agent that plays for points: which plan promises most, by what the variant's own scoring pays for it?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from agents.chances import chance_to_win, pace_of
from agents.danger import danger, drawn_share
from agents.greedy import GreedyAgent
from agents.imagined import Melds, complete, lay_open, price
from agents.lookahead import ADDED_KONG, CHOW, CONCEALED_KONG, KONG, PASS, PUNG, WIN, hands_after, tiles_after
from agents.outlook import Concealed, other_shapes
from agents.plans import ANY, NUM_PLANS, PAIRS, possible_plans, weigh
from mahjong_env import View
from mahjong_env.basics.notation import MeldType
from mahjong_env.hands.kind_sets import BIT_OF_KIND, KindSets, count_planes, count_tiles, unpack
from mahjong_env.scoring.wins import Source

_TURN: Final = -1  # an entry for the own turn: some discard


@dataclass(frozen=True)
class _Entries:
    row: NDArray[np.intp]
    action: NDArray[np.intp]
    hands: Concealed
    melds: Melds


@dataclass(frozen=True)
class _Ends:
    """How k hands may end, with closed tiles or with claims: each [2, k]."""

    value: NDArray[np.float64]
    rate: NDArray[np.float64]
    loss: NDArray[np.float64]


class ValueAgent:
    name = "value"

    def __init__(self, *, samples: int = 3, reach: int = 3, claims: float = 2.4, closed: float = 1.0, last: float = 1.2, rivals: float = 0.35, margin: float = 1.0, care: float = 1.0, base_claims: bool = True):
        self._samples, self._reach, self._margin, self._care = samples, reach, margin, care
        self._greedy = GreedyAgent(claims=base_claims)
        self._claims, self._closed, self._last, self._rivals = claims, closed, last, rivals

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        mask = view.action_mask
        actions = np.full(len(view), WIN, np.int64)
        entries = self._entries(view, ~mask[:, WIN])
        usual = self._greedy.act(view, rng)
        hand, plan, worth, ends, mode = self._worth(view, entries, rng, usual)
        best = np.full(len(view), -1.0)
        np.maximum.at(best, entries.row[hand], worth)
        chosen = np.flatnonzero(worth == best[entries.row[hand]])
        chosen = chosen[np.unique(entries.row[hand[chosen]], return_index=True)[1]]
        entry = hand[chosen]
        actions[entries.row[entry]] = entries.action[entry]
        turns = chosen[entries.action[entry] == _TURN]
        if turns.size:
            h, m = hand[turns], mode[turns]
            actions[entries.row[h]] = self._discards(
                view.take(entries.row[h]), entries.hands.take(h), plan[turns],
                ends.value[m, turns], ends.rate[m, turns], ends.loss[:, turns].max(axis=0), m, usual[entries.row[h]], rng,
            )
        return actions

    def _entries(self, view, undecided):
        mask = view.action_mask
        row_d = np.flatnonzero(undecided & mask[:, :CONCEALED_KONG].any(axis=1))
        row_o, action_o = np.nonzero(mask[:, CONCEALED_KONG:] & undecided[:, None])
        action_o += CONCEALED_KONG
        row = np.concatenate([row_d, row_o])
        action = np.concatenate([np.full(len(row_d), _TURN), action_o])
        played = np.where(action == _TURN, PASS, action)
        natural = tiles_after(view, row, played)
        wild = view.wild[row]
        some = np.flatnonzero(wild >= 0)
        natural[some, wild[some]] = 0
        hands = replace(hands_after(view, row, played), counts=count_planes(natural))
        melds = Melds(view.meld_type[row, 0].copy(), view.meld_kind[row, 0].copy(), view.meld_from[row, 0].copy())
        number = view.num_melds[row, 0].astype(np.intp)
        offered, giver = view.offered[row], view.offered_from[row]
        for at, meld, kind in (
            ((action >= CONCEALED_KONG) & (action < ADDED_KONG), MeldType.CONCEALED_KONG, action - CONCEALED_KONG),
            ((action >= CHOW) & (action < PUNG), MeldType.CHOW, offered - (action - CHOW)),
            (action == PUNG, MeldType.PUNG, offered),
            (action == KONG, MeldType.EXPOSED_KONG, offered),
        ):
            at = np.flatnonzero(at & (number < 5))
            melds.type[at, number[at]], melds.kind[at, number[at]] = meld, kind[at]
            melds.giver[at, number[at]] = -1 if meld is MeldType.CONCEALED_KONG else giver[at]
        at = np.flatnonzero((action >= ADDED_KONG) & (action < CHOW))
        is_pung = (melds.type[at] == MeldType.PUNG) & (melds.kind[at] == (action[at] - ADDED_KONG)[:, None])
        melds.type[at] = np.where(is_pung, MeldType.ADDED_KONG, melds.type[at])
        return _Entries(row, action, hands, melds)

    def _worth(self, view, entries, rng, usual):
        rules, hands = view.rules, entries.hands
        possible = possible_plans(hands, entries.melds.type, entries.melds.kind, other_shapes(rules))
        hand, plan = np.nonzero(possible)
        prospects = weigh(hands, hand, plan)
        nearest = np.full(len(hands.sets), 99, np.int8)
        np.minimum.at(nearest, hand, prospects.distance)
        near = np.flatnonzero(prospects.distance <= nearest[hand] + self._reach)
        hand, plan, distance = hand[near], plan[near], prospects.distance[near]
        row = entries.row[hand]
        ends = self._ends(view, entries, hand, plan, rng)
        is_closed = hands.closed[hand]
        allowed = np.stack([is_closed, plan != PAIRS])
        worth = np.stack([
            self._chance(view, row, distance, prospects.help[near], np.full(len(hand), mode), ends.rate[mode])
            * ends.value[mode] * allowed[mode]
            for mode in range(2)
        ])
        mode = worth.argmax(axis=0)
        best = worth.max(axis=0) + 1e-6 * (50 - distance)
        usual = np.where(usual < CONCEALED_KONG, _TURN, usual)
        best *= np.where((plan == ANY) & (entries.action == usual[entries.row])[hand], 1 + self._margin, 1)
        return hand, plan, best, ends, mode

    def _chance(self, view, row, distance, help_: KindSets, mode, rate, pace=None):
        unseen = view.unseen[row]
        wild = view.wild[row]
        help_ = help_ | np.where(wild >= 0, BIT_OF_KIND[np.maximum(wild, 0)], np.uint64(0))
        tiles = count_tiles(help_, count_planes(unseen)).astype(np.float64)
        total = unseen.sum(axis=1)
        share = tiles / np.maximum(total, 1)
        pace = pace_of(distance, tiles) if pace is None else pace
        claims = np.where(mode == 1, self._claims, self._closed)
        turns = view.left[row] / view.rules.seats
        return chance_to_win(distance, share, pace, total, claims, rate, turns, self._rivals, drawn_share(view)[row])

    def _ends(self, view, entries, hand, plan, rng):
        row, hands = entries.row[hand], entries.hands
        natural = np.stack([unpack(p) * 2**i for i, p in enumerate(hands.counts)]).sum(axis=0).astype(np.int8)[hand]
        wilds, sets, melds = hands.wilds[hand], hands.sets[hand], entries.melds.take(hand)
        unseen = view.unseen[row]
        wild = np.flatnonzero(view.wild[row] >= 0)
        unseen[wild, view.wild[row[wild]]] = 0
        sums = np.zeros((2, 4, len(hand)))
        closed = np.flatnonzero(hands.closed[hand] & (plan != PAIRS))
        opened_sums = np.zeros((4, len(closed)))
        for _ in range(self._samples):
            counts, last = complete(natural, wilds, sets, plan, unseen, rng)
            sums += self._priced(view, row, counts, wilds, last, melds)
            if closed.size:
                opened, laid, some = lay_open(counts[closed], wilds[closed], sets[closed], melds.take(closed), rng)
                held = opened[np.arange(len(closed)), last[closed]] > 0
                last_open = np.where(held, last[closed], opened.argmax(axis=1))
                opened_sums += self._priced(view, row[closed], opened, wilds[closed], last_open, laid) * some
        sums[1][:, closed] = opened_sums
        draw, discard, legal, loss = (sums[:, i] for i in range(4))
        draw, discard, loss = draw / self._samples, discard / np.maximum(legal, 1), loss / np.maximum(legal, 1)
        rate = self._last * legal / self._samples
        return _Ends((draw + rate * discard) / (1 + rate), rate, loss)

    @staticmethod
    def _priced(view, row, counts, wilds, last, melds):
        by_draw, _ = price(view, row, counts, wilds, last, melds, Source.DRAW)
        by_discard, loss = price(view, row, counts, wilds, last, melds, Source.DISCARD)
        return np.stack([by_draw, by_discard, by_discard > 0, loss])

    def _discards(self, view, hands, plan, value, rate, loss, mode, usual, rng):
        rows = np.arange(len(view))
        legal = view.action_mask[:, :CONCEALED_KONG]
        which, kind = np.nonzero(legal)
        wild = view.wild[which]
        after = hands.take(which).without(kind, kind == wild)
        outlook = weigh(after, np.arange(len(which)), plan[which])
        free = weigh(after, np.arange(len(which)), np.full(len(which), ANY))
        prospects = weigh(hands, rows, plan)
        pace = pace_of(prospects.distance, count_tiles(prospects.help, count_planes(view.unseen)).astype(np.float64))
        chance = self._chance(view, which, outlook.distance, outlook.help, mode[which], rate[which], pace[which])
        risk = danger(view)[which, kind]
        tiles = count_tiles(outlook.help, count_planes(view.unseen).take(which)).astype(np.float64)
        score = chance * value[which] - self._care * risk * loss[which]
        scale = 1e-3 * np.maximum(np.abs(value[which]), 1)
        score += scale * (-1.0 * outlook.distance + 0.01 * tiles - 0.1 * free.distance - 10.0 * (kind == wild) * (view.rules.fixed_wild is None) + 1e-4 * rng.random(len(which)))
        best = np.full(len(view), -1e18)
        np.maximum.at(best, which, score)
        out = np.zeros(len(view), np.int64)
        at = np.flatnonzero(score == best[which])
        out[which[at]] = kind[at]
        return out
