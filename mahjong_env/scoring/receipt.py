"""Receipts: how a win adds up, from the reading that was priced to what each seat pays, written for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mahjong_env.basics.notation import Meld, MeldType
from mahjong_env.basics.tiles import NUM_KINDS
from mahjong_env.scoring.arithmetic import Told
from mahjong_env.scoring.driver import ScoredRules
from mahjong_env.scoring.payments import everyone, owed
from mahjong_env.scoring.readings import SETS_AND_PAIR, SETS_AND_PAIR_AS_ONE, Readings
from mahjong_env.scoring.wins import Scores, Wins


@dataclass(frozen=True)
class Group:
    """A set, a pair or another part of a winning hand.

    Attributes:
        kinds: the kinds of its tiles; a wild tile appears as the wild kind, in the place of the tile that it stands
            for.
        winning: the place of the winning tile among them, -1 where it lies in another group.
        melded: whether the group is a meld on the table.
    """

    kinds: tuple[int, ...]
    winning: int = -1
    melded: bool = False

    @property
    def parts(self) -> tuple[list[int], ...]:
        """The other tiles, then the winning one, if it is in this group."""
        others = [kind for place, kind in enumerate(self.kinds) if place != self.winning]
        return (others, [self.kinds[self.winning]]) if self.winning >= 0 else (others,)


@dataclass(frozen=True)
class Receipt:
    """The receipt of a win: how its points add up, and what each seat pays.

    Texts are pairs, in English and Chinese.

    Attributes:
        rows: the rows scored, with equal ones merged: (name, value of one entry, number of entries).
        formula: the calculation of the points, as ``"(5 + 15 + 1) × 2 = 42"``; "" where the points are those of the
            only row, or where the variant has its own way of counting.
        groups: the hand split into its sets, in the reading that was priced.
        shares: for each seat, the calculation of what it pays; "" where it pays just the points, or nothing.
        for_others: for each seat, whether it owes more than its own share, as by full responsibility.
    """

    rows: tuple[tuple[str, int | float, int], ...]
    formula: Told
    groups: tuple[Group, ...]
    shares: tuple[Told, ...]
    for_others: tuple[bool, ...] = ()


def folded(entries: Iterable[tuple[str, int | float]]) -> tuple[tuple[str, int | float, int], ...]:
    """Return the rows scored, with equal ones merged: (name, value of one entry, number of entries)."""
    return tuple((name, value, times) for (name, value), times in Counter(entries).items())


def rows_text(entries: Iterable[tuple[str, int | float]], chinese: Mapping[str, str] | None = None) -> str:
    """Write out rows with their values, as in "Closed Hand 2, Open Mouth 2 × 3"; ``chinese`` has names to add."""
    others = chinese or {}
    return ", ".join(
        f"{name}{f' {others[name]}' if others.get(name) else ''} {value}{f' × {times}' if times > 1 else ''}"
        for name, value, times in folded(entries)
    )


def receipt(scores: Scores, number: int) -> Receipt | None:
    """Return the receipt of one of some wins; None where the variant's scoring is not declared."""
    rules = None if scores.wins is None else scores.wins.rules
    if scores.wins is None or not isinstance(rules, ScoredRules):
        return None
    win = scores.wins.take([number])
    taken = rules.taken(win)
    concealed = _concealed(win, taken.readings, taken.reading_of(0))
    count, value, points = scores.row_count[number], scores.row_value[number], int(scores.points[number])
    is_declared = type(rules).worth is ScoredRules.worth and type(rules).points is ScoredRules.points
    shares: tuple[Told, ...] = ()
    for_others: tuple[bool, ...] = ()
    if type(rules).shares is ScoredRules.shares:
        shares, for_others = _shares(rules, win, count[None], points)
    return Receipt(
        rows=folded(scores.rows_of(number, rules.rows)),
        formula=rules.arithmetic.told(rules, count, value) if is_declared else ("", ""),
        groups=(*_with_winning_tile(concealed, int(win.winning_tile[0])), *_melds(win)),
        shares=shares,
        for_others=for_others,
    )


def _shares(rules: ScoredRules, win: Wins, row_count: Any, points: int) -> tuple[tuple[Told, ...], tuple[bool, ...]]:
    """Return `Receipt.shares`, each its seat's own share or those of all, then what limits it; and `for_others`."""
    shares = everyone(win) * rules.shares(win, np.array([points])).reshape(1, -1)
    owes = owed(rules.payment.by_source(rules), win, shares, rules.liable(win, row_count))
    told, most = [], owes
    for seat, owing in enumerate(owes[0].tolist()):
        own = int(shares[0, seat])
        english, chinese = rules.share.told(win, points, seat) if owing == own and owing else ("", "")
        if owing > own:
            english = chinese = f"{' + '.join(str(share) for share in shares[0].tolist() if share)} = {owing}"
        told.append((english, chinese))
    for limit in rules.limits:
        limited = limit.apply(win, owes)
        for seat in np.flatnonzero((limited != owes)[0]).tolist():
            english, chinese = told[seat] if told[seat][0] else (str(owes[0, seat]), str(owes[0, seat]))
            now = limited[0, seat]
            told[seat] = (
                (f"{english}; {limit.name[0]}: {now}", f"{chinese}；{limit.name[1]}：{now}") if now else ("", "")
            )
        owes, most = limited, np.maximum(most, limited)
    return tuple(told), tuple((most > shares)[0].tolist())


def _concealed(win: Wins, readings: Readings, number: int) -> list[list[int]]:
    """Return the concealed tiles: runs, triplets, the pair and other tiles; in shapes without sets, pairs."""
    if readings.shape_of(number) is SETS_AND_PAIR_AS_ONE:  # any reading is as good
        (readings,), number = SETS_AND_PAIR.readings(win, np.zeros(1, np.intp)), 0
    sets = readings.sets
    if sets.pair[number] < 0:
        return _pairs(win)
    runs = [[kind, kind + 1, kind + 2] for kind in np.repeat(np.arange(NUM_KINDS), sets.runs[number]).tolist()]
    triplets = [[kind] * 3 for kind in np.repeat(np.arange(NUM_KINDS), sets.triplets[number]).tolist()]
    groups = [*runs, *triplets, [int(sets.pair[number])] * 2]
    wild = int(win.wild[0])
    for kind in np.repeat(np.arange(NUM_KINDS), sets.wild_as[number]).tolist():
        group = next(group for group in groups[::-1] if kind in group)
        group[group.index(kind)] = ~wild  # so that it is not found again
    groups = [[~kind if kind < 0 else kind for kind in group] for group in groups]
    held = Counter(np.repeat(np.arange(NUM_KINDS), win.counts[0]).tolist())
    rest = sorted((held - Counter(kind for group in groups for kind in group)).elements())
    return [*groups, rest] if rest else groups


def _pairs(win: Wins) -> list[list[int]]:
    """Return the concealed tiles as pairs, wild ones beside single ones; as one group where some stay single."""
    counts, wilds, wild = win.natural[0], int(win.jokers[0]), int(win.wild[0])
    pairs = [[kind] * 2 for kind in np.repeat(np.arange(NUM_KINDS), counts // 2).tolist()]
    single = np.flatnonzero(counts % 2).tolist()
    if len(single) > wilds or (wilds - len(single)) % 2:
        return [np.repeat(np.arange(NUM_KINDS), win.counts[0]).tolist()]
    return [*pairs, *([kind, wild] for kind in single), *([wild] * 2 for _ in range((wilds - len(single)) // 2))]


def _with_winning_tile(groups: list[list[int]], tile: int) -> list[Group]:
    """Sort the groups by their tiles, and mark the winning tile in the first that has it: in a run, if any has."""
    at = next((place for place, group in enumerate(groups) if tile in group), -1)
    found = [Group(tuple(group), group.index(tile) if place == at else -1) for place, group in enumerate(groups)]
    return sorted(found, key=lambda group: (len(group.kinds) == 2, group.kinds))


def _melds(win: Wins) -> list[Group]:
    melds = [
        Meld(MeldType(meld_type), kind, -1)
        for meld_type, kind in zip(win.own_type[0].tolist(), win.own_kind[0].tolist(), strict=True)
        if meld_type != MeldType.NONE
    ]
    return [Group(tuple(meld.tiles), melded=True) for meld in melds]
