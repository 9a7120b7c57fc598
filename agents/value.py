"""The agent that plays for points: which plan promises most, by what the variant's own scoring pays for it?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from agents.chances import chance_to_win
from agents.greedy import GreedyAgent
from agents.imagined import Melds, complete, lay_open, price
from agents.lookahead import ADDED_KONG, CHOW, CONCEALED_KONG, KONG, PASS, PUNG, WIN, hands_after, tiles_after
from agents.outlook import Concealed, other_shapes
from agents.plans import ANY, KINDS_OF_PLAN, NUM_PLANS, PAIRS, possible_plans, weigh
from mahjong_env import View
from mahjong_env.basics.notation import MeldType
from mahjong_env.hands.kind_sets import BIT_OF_KIND, count_planes, count_tiles, members, pack, unpack
from mahjong_env.scoring.wins import Source

_TURN: Final = -1  # an entry for the own turn: some discard


@dataclass(frozen=True)
class _Entries:
    row: NDArray[np.intp]
    action: NDArray[np.intp]
    hands: Concealed
    melds: Melds


class ValueAgent:
    name = "value"

    def __init__(self, *, samples: int = 3, reach: int = 3, claims: float = 2.4, closed: float = 1.0, last: float = 1.2, rivals: float = 0.35, margin: float = 0.5, base_claims: bool = True):
        self._samples, self._reach, self._margin = samples, reach, margin
        self._greedy = GreedyAgent(claims=base_claims)
        self._claims, self._closed, self._last, self._rivals = claims, closed, last, rivals

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        mask = view.action_mask
        actions = np.full(len(view), WIN, np.int64)
        undecided = ~mask[:, WIN]
        entries = self._entries(view, undecided)
        usual = self._greedy.act(view, rng)
        worth, plan = self._worth(view, entries, rng, usual)
        best = np.full(len(view), -1.0)
        np.maximum.at(best, entries.row, worth)
        chosen = np.flatnonzero(worth == best[entries.row])
        chosen = chosen[np.unique(entries.row[chosen], return_index=True)[1]]
        actions[entries.row[chosen]] = entries.action[chosen]
        turns = chosen[entries.action[chosen] == _TURN]
        actions[entries.row[turns]] = self._discards(view, entries, turns, plan[turns], rng)
        plain = turns[(plan[turns] == ANY) & (usual[entries.row[turns]] < CONCEALED_KONG)]
        actions[entries.row[plain]] = usual[entries.row[plain]]
        return actions

    def _entries(self, view, undecided):
        mask = view.action_mask
        row_d = np.flatnonzero(undecided & mask[:, :CONCEALED_KONG].any(axis=1))
        row_o, action_o = np.nonzero(mask[:, CONCEALED_KONG:] & undecided[:, None])
        action_o += CONCEALED_KONG
        keep = action_o != WIN
        row_o, action_o = row_o[keep], action_o[keep]
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
        """[m] the expected points of the best plan of each entry, and [m] that plan."""
        rules, hands = view.rules, entries.hands
        possible = possible_plans(hands, entries.melds.type, entries.melds.kind, other_shapes(rules))
        hand, plan = np.nonzero(possible)
        prospects = weigh(hands, hand, plan)
        nearest = np.full(len(hands.sets), 99, np.int8)
        np.minimum.at(nearest, hand, prospects.distance)
        near = np.flatnonzero(prospects.distance <= nearest[hand] + self._reach)
        hand, plan = hand[near], plan[near]
        row = entries.row[hand]
        unseen = view.unseen[row]
        total = np.maximum(unseen.sum(axis=1), 1)
        wild = view.wild[row]
        help_ = prospects.help[near] | np.where(wild >= 0, BIT_OF_KIND[np.maximum(wild, 0)], np.uint64(0))
        tiles = count_tiles(help_, count_planes(unseen)).astype(np.float64)
        turns = view.left[row] / rules.seats
        start = rules.deck.sum() - rules.reserve - rules.seats * rules.hand_size
        elapsed = np.clip(1 - view.left[row] / start, 0, 1)
        gain = self._gains(view, entries, hand, plan, rng)
        best = np.zeros(len(hand))
        is_closed = hands.closed[hand]
        for opened, (draw, discard, can_discard) in enumerate(gain):
            rate = self._last * can_discard
            value = (draw + rate * discard) / (1 + rate)
            claims = np.full(len(hand), self._claims if opened else self._closed)
            chance = chance_to_win(
                prospects.distance[near], tiles / total, tiles, claims, rate, turns, self._rivals, elapsed
            )
            best = np.maximum(best, chance * value * (is_closed if not opened else (plan != PAIRS)))
        # What is left of an entry that promises nothing: the nearer, the better.
        best += 1e-6 * (50 - prospects.distance[near]) + 1e-9 * tiles
        usual = np.where(usual < CONCEALED_KONG, _TURN, usual)
        best *= np.where((plan == ANY) & (entries.action == usual[entries.row])[hand], 1 + self._margin, 1)
        worth = np.full((len(hands.sets), NUM_PLANS), -1.0)
        worth[hand, plan] = best
        return worth.max(axis=1), worth.argmax(axis=1)

    def _gains(self, view, entries, hand, plan, rng):
        """For closed and open ends: [k] points by draw, by discard if that is allowed, share of ends where it is."""
        row, hands = entries.row[hand], entries.hands
        natural = np.stack([unpack(p) * 2**i for i, p in enumerate(hands.counts)]).sum(axis=0).astype(np.int8)[hand]
        wilds, sets, melds = hands.wilds[hand], hands.sets[hand], entries.melds.take(hand)
        unseen = view.unseen[row]
        wild = np.flatnonzero(view.wild[row] >= 0)
        unseen[wild, view.wild[row[wild]]] = 0
        k = len(hand)
        sums = np.zeros((2, 3, k))
        closed = np.flatnonzero(hands.closed[hand] & (plan != PAIRS))
        for _ in range(self._samples):
            counts, last = complete(natural, wilds, sets, plan, unseen, rng)
            for source, slot in ((Source.DRAW, 0), (Source.DISCARD, 1)):
                gain = price(view, row, counts, wilds, last, melds, source)
                sums[:, slot] += gain
                if slot:
                    sums[:, 2] += gain > 0
            if closed.size:
                opened, laid, some = lay_open(counts[closed], wilds[closed], sets[closed], melds.take(closed), rng)
                last_open = np.where(opened[np.arange(len(closed)), last[closed]] > 0, last[closed], opened.argmax(axis=1))
                sums_open = np.zeros((3, len(closed)))
                for source, slot in ((Source.DRAW, 0), (Source.DISCARD, 1)):
                    gain = price(view, row[closed], opened, wilds[closed], last_open, laid, source) * some
                    sums_open[slot] += gain
                    if slot:
                        sums_open[2] += gain > 0
                # replaced, not added, where the hand is closed
                self._open = sums_open if _ == 0 else self._open + sums_open
        if closed.size:
            sums[1][:, closed] = self._open
        result = []
        for kind in range(2):
            draw, discard, legal = sums[kind]
            result.append((draw / self._samples, np.where(legal > 0, discard / np.maximum(legal, 1), 0), legal / self._samples))
        return result

    def _discards(self, view, entries, turns, plan, rng):
        """[t] discards within the plans."""
        row = entries.row[turns]
        hands = entries.hands.take(turns)
        legal = pack(view.action_mask[row, :CONCEALED_KONG])
        prospects = weigh(hands, np.arange(len(turns)), plan)
        any_plan = weigh(hands, np.arange(len(turns)), np.full(len(turns), ANY))
        spare = prospects.spare & legal
        near = np.where(spare == 0, legal, spare)
        which, kind = members(near)
        wild = view.wild[row][which]
        after = hands.take(which).without(kind, kind == wild)
        outlook = weigh(after, np.arange(len(which)), plan[which])
        free = weigh(after, np.arange(len(which)), np.full(len(which), ANY))
        planes = count_planes(view.unseen[row]).take(which)
        score = -100.0 * outlook.distance + count_tiles(outlook.help, planes)
        score = score - 0.2 * free.distance + 0.004 * count_tiles(free.help, planes) - 1000.0 * (kind == wild)
        score += 1e-4 * rng.random(len(which))
        best = np.full(len(turns), -1e9)
        np.maximum.at(best, which, score)
        out = np.zeros(len(turns), np.int64)
        at = np.flatnonzero(score == best[which])
        out[which[at]] = kind[at]
        return out
