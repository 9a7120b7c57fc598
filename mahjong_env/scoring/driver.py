"""The scoring of all variants: from shapes to readings, to rows, to the worth of the best reading, to who pays.

`ScoredRules` are rules whose scoring is declared: shapes, rows, restrictions, how values combine, and who pays. Whether
a hand may win (`legal`) and what it is worth (`score`) both follow from these declarations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from typing import Any, ClassVar, NamedTuple

import numpy as np

from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int32Array, Int64Array
from mahjong_env.ruleset.questions import Rules, ShortOfOne
from mahjong_env.scoring.arithmetic import Arithmetic, Limit, Share
from mahjong_env.scoring.combinations import combinations_of
from mahjong_env.scoring.payments import Payment, everyone, owed, paid_by
from mahjong_env.scoring.readings import SETS_AND_PAIR, Concealed, Readings, Shape, best_readings
from mahjong_env.scoring.rows import ByHand, Restriction, Row
from mahjong_env.scoring.set_counts import FactCounts, SetCounts
from mahjong_env.scoring.wins import Scores, Source, Wins

_INCOMPLETE = 1
"""The index in `reasons` of hands that are not complete; the restrictions follow it."""


@dataclass(frozen=True, kw_only=True)
class ScoredRules(Rules):
    """Rules whose scoring is declared."""

    shapes: ClassVar[tuple[Shape, ...]] = (SETS_AND_PAIR,)
    """The shapes of complete hands; among readings worth the same, one of an earlier shape is taken."""
    rows: ClassVar[tuple[Row, ...]] = ()
    restrictions: ClassVar[tuple[Restriction, ...]] = ()
    """Restrictions on complete hands; the first one that leaves no reading is the reason given."""
    arithmetic: ClassVar[Arithmetic] = Arithmetic()
    """The way from rows to points; by default all entries are added up."""
    payment: ClassVar[Payment] = Payment()
    share: ClassVar[Share] = Share()
    """What each other player owes if all pay; by default the points of the hand."""
    limits: ClassVar[tuple[Limit, ...]] = ()
    """The limits that change payments after everything else, in this order."""

    # --- How values combine, and who pays: what variants answer -----------------------------------------------------

    def readings_without_tiles(self, wins: Wins, which: Games) -> Readings | None:
        """Return the readings of those of some hands ([k] indices) that win whatever their tiles are, as by flowers."""
        return None

    def rows_that_count(self, counts: Int8Array, values: Any) -> Int8Array:
        """Return [m, rows] the entries that count, where not all rows that hold count together.

        ``counts`` [m, rows] are the entries of each row, ``values`` [m, rows] what one entry is worth, or [1, rows]
        where that is the same for all hands.
        """
        return counts

    def worth(self, counts: Int8Array, values: Any) -> Int64Array:
        """Return [m] the value of the rows of each reading together, by `arithmetic`."""
        return self.arithmetic.worth(counts, values)

    def points(self, worth: Int64Array) -> Int64Array:
        """Return [n] the points of hands whose best reading has this worth, by `arithmetic`."""
        return self.arithmetic.points(self, worth)

    def shares(self, wins: Wins, points: Int64Array) -> Any:
        """Return [n] or [n, S] the share that each other player owes for hands of these points if all pay."""
        return self.share.owed(wins, points)

    def liable(self, wins: Wins, counts: Int8Array) -> Int8Array | None:
        """Return [n] the seat that pays all shares no matter who gave the tile (-1: none); None if no hand has one.

        ``counts`` [n, rows] are the entries of the rows that the hands score.
        """
        return None

    # --- What follows from these declarations -----------------------------------------------------------------------

    @cached_property
    def _table(self) -> _Table:
        return _Table(self)

    def __getstate__(self) -> dict[str, Any]:
        """Return the knobs, which are all that is pickled; what follows from them is worked out anew."""
        return self.knobs

    @property
    def reasons(self) -> tuple[str, ...]:  # type: ignore[override]  # follows from the restrictions
        """The reasons why a hand may not win, in words."""
        return (
            "",
            "the tiles are not a complete hand",
            *(restriction.reason.format(**self.knobs) for restriction in self.restrictions),
        )

    def tiles_short(self, codes: Int32Array, wilds: Any, melds: Any) -> Int8Array:
        """Return [...] the fewest tiles that the nearest of the shapes lacks."""
        tiles = Concealed.of(codes, wilds, melds)
        short = self.shapes[0].short_of(tiles)
        all_melded = len(self.shapes) > 1 and np.count_nonzero(melds) == np.size(melds)
        for shape in self.shapes[1:]:
            if not (shape.concealed and all_melded):
                short = np.minimum(short, shape.short_of(tiles))
        return short

    def tiles_short_of_one(self) -> ShortOfOne | None:
        """Return `tiles_short` for one hand in plain numbers; None unless all shapes provide it."""
        every = [shape.short_of_one for shape in self.shapes if shape.short_of_one is not None]
        if len(every) < len(self.shapes):
            return None
        first, *others = every
        melded = [short_of for shape, short_of in zip(self.shapes[1:], others, strict=True) if not shape.concealed]

        def short(codes: tuple[int, int, int, int], total: int, with_pair: int, wilds: int, melds: int) -> int:
            least = first(codes, total, with_pair, wilds)
            for short_of in melded if melds else others:
                other = short_of(codes, total, with_pair, wilds)
                if other < least:
                    least = other
            return least

        return short

    def legal(self, wins: Wins) -> BoolArray:
        """Return [n] whether complete hands may win.

        Most hands are decided without reading them: by a restriction that nothing waives, by the absence of other
        restrictions, or by a row that is known to waive them. The others are read.
        """
        wins.rules = self
        table = self._table
        legal = table.unrestricted(wins)
        unsure = table.decide_unread(wins, legal)
        if unsure.size:
            legal[unsure] = False
            readings = table.read(wins, unsure)
            legal[readings.owner.compress(~np.logical_or.reduce(table.refused(readings)))] = True
        return legal

    def taken(self, wins: Wins) -> Taken:
        """Read hands, and take for each the reading that is worth most."""
        wins.rules = self
        n, table = len(wins), self._table
        readings = table.read(wins, np.arange(n))
        owner, (counts, worth), refused = readings.owner, readings.priced, table.refused(readings)
        reason = _first_to_leave_nothing(owner, refused, n)
        free = None
        if refused.any():
            free = np.flatnonzero(~refused.any(axis=0))
            owner, counts, worth = owner.take(free), counts.take(free, axis=0), worth.take(free)
        return Taken(readings, free, counts, worth, reason, best_readings(owner, table.rank(worth, counts), n))

    def score(self, wins: Wins) -> Scores:
        """Score hands: legality, the value of the best reading, and payments."""
        return self._scores(wins, self.taken(wins))

    @property
    def judges_by_score(self) -> bool:
        """Whether the hands that are asked about have to be read and priced, as wins are."""
        return self._table.judges_by_score

    def score_and_judge(self, wins: Wins, asked: Wins) -> tuple[Scores, BoolArray]:
        """Score wins and judge other hands, reading and pricing them all together if judging requires it."""
        if not self.judges_by_score:
            return super().score_and_judge(wins, asked)
        wins.rules, n = self, len(wins)
        taken = self.taken(Wins.join([wins, asked]))
        return self._scores(wins, taken._replace(reason=taken.reason[:n], best=taken.best[:n])), taken.best[n:] >= 0

    def _scores(self, wins: Wins, taken: Taken) -> Scores:
        """Return what hands score by the readings that are taken of them."""
        n, legal, best = len(wins), taken.best >= 0, taken.best
        row_count, value = np.zeros((n, len(self.rows)), np.int8), np.zeros(n, np.int64)
        row_count[legal] = taken.counts.take(best[legal], axis=0)
        value[legal] = taken.worth.take(best[legal])
        points = self.points(value) * legal
        owes = owed(self._table.payers, wins, self.shares(wins, points), self.liable(wins, row_count))
        for limit in self.limits:
            owes = limit.apply(wins, owes)
        return Scores(
            legal=legal,
            reason=taken.reason,
            row_count=row_count,
            row_value=wins.once(self._table.values),
            points=points,
            payments=paid_by(everyone(wins), owes, wins.seat) * legal[:, None],
            wins=wins,
        )


class Taken(NamedTuple):
    """The readings of n hands, and which of them are taken."""

    readings: Readings
    free: Games | None  # [m] the numbers of the readings that no restriction refuses, among all; None for all of them
    counts: Int8Array  # [m, rows] their entries
    worth: Int64Array  # [m]
    reason: Int8Array  # [n] index in `ScoredRules.reasons`
    best: Games  # [n] which of the m readings is taken, -1 for hands that may not win

    def reading_of(self, hand: int) -> int:
        """Return the number of the reading that is taken of a hand that may win."""
        return int(self.best[hand] if self.free is None else self.free[self.best[hand]])


def _first_to_leave_nothing(owner: Games, refused: BoolArray, n: int) -> Int8Array:
    """Return [n] the first restriction that leaves a hand no reading, as an index in `reasons`; 0 where none does.

    ``owner`` [m] are the hands that readings belong to; ``refused`` is [restrictions, m].
    """
    reason = np.full(n, _INCOMPLETE, np.int8)
    reason[owner] = 0
    if not refused.any():
        return reason
    left = np.ones(len(owner), np.bool_)
    for number, restriction in enumerate(refused, start=_INCOMPLETE + 1):
        left &= ~restriction
        has_reading = np.zeros(n, np.bool_)
        has_reading[owner.compress(left)] = True
        reason[(reason == 0) & ~has_reading] = number
    return reason


class _Table:
    """The rows and restrictions of some rules, with their knobs, sorted by how they are evaluated."""

    def __init__(self, rules: ScoredRules) -> None:
        self.rules = rules
        rows = rules.rows
        self.column_of = {row.name: column for column, row in enumerate(rows)}
        self.fixed_values = np.array([row.value_in(rules) for row in rows])
        if self.fixed_values.dtype == np.int64:
            self.fixed_values = self.fixed_values.astype(np.int32)
        self.by_hand = [(column, row.value) for column, row in enumerate(rows) if isinstance(row.value, ByHand)]
        self.preference = np.array([row.preference for row in rows], np.int64)
        # A row that is itself replaced replaces nothing, so the rows that none replaces go first.
        order = list(TopologicalSorter({row.name: row.replaces for row in rows}).static_order())[::-1]
        replacing = [(self.column_of[name], rows[self.column_of[name]].replaces) for name in order]
        self.replacing = [(column, np.array(self.columns_of(replaced))) for column, replaced in replacing if replaced]
        self.combined = []
        for kind in ("runs", "triplets"):
            made = {column: row.combines for column, row in enumerate(rows) if row.combines and row.combines.of == kind}
            if made:
                values = tuple(rows[column].value_in(rules) for column in made)
                self.combined.append((kind, np.array(list(made)), combinations_of(tuple(made.values()), values)))
        self.otherwise = [
            (column, np.array(self.columns_of(row.unless))) for column, row in enumerate(rows) if row.unless
        ]
        self.per_hand = {column: row.per_hand for column, row in enumerate(rows) if row.per_hand is not None}
        self.of_facts = FactCounts({column: row.of_facts for column, row in enumerate(rows) if row.of_facts})
        self.of_sets = SetCounts({column: row.of_sets for column, row in enumerate(rows) if row.of_sets})
        self.per_reading = {
            column: row
            for column, row in enumerate(rows)
            if row.per_reading is not None or row.per_sets is not None or row.shape is not None
        }
        self.payers = rules.payment.by_source(rules)
        is_minimum = any(restriction.minimum is not None for restriction in rules.restrictions)
        self.judges_by_score = is_minimum and not rules.turned_up_after_win
        self.waives = np.zeros((len(rules.restrictions), len(rows)), np.bool_)
        for number, restriction in enumerate(rules.restrictions):
            self.waives[number, self.columns_of(restriction.waived_by)] = True

        def comes_along(row: Row) -> bool:  # with another one that waives the same restrictions
            own = self.waives[:, self.column_of[row.name]]
            return row.comes_with is not None and np.array_equal(own, self.waives[:, self.column_of[row.comes_with]])

        waiving = np.flatnonzero(self.waives.any(axis=0)).tolist()
        self.waiving_hands = [column for column in waiving if column in self.per_hand]
        self.waiving_readings = [
            column for column in waiving if column in self.per_reading and not comes_along(rows[column])
        ]
        unknown = [column for column in self.waiving_readings if rows[column].in_some_reading is None]
        self.known_unread = [
            restriction.is_certain_unread and not self.waives[number, unknown].any()
            for number, restriction in enumerate(rules.restrictions)
        ]
        for column, replaced in self.replacing:
            if (self.waives[:, replaced].any(axis=1) & ~self.waives[:, column]).any():
                raise ValueError(f"{rows[column].name} replaces a row that waives a restriction, and does not waive it")
        if sum(restriction.in_every_reading is not None for restriction in rules.restrictions) > 1:
            raise ValueError("only one restriction may be known to refuse every reading: two may refuse different ones")

    def columns_of(self, names: tuple[str, ...]) -> list[int]:
        return [self.column_of[name] for name in names]

    # --- Reading and pricing ------------------------------------------------------------------------------------------

    def values(self, wins: Wins) -> Any:
        """Return [n, rows] the value of one entry of each row."""
        values = self.fixed_values[None].repeat(len(wins), axis=0)
        for column, value in self.by_hand:
            values[:, column] = value.value(wins)
        return values

    def read(self, wins: Wins, which: Games) -> Readings:
        """Return all readings of some hands ([k] indices), shape by shape."""
        with_tile = which.compress(wins.source.take(which) != int(Source.FLOWERS))
        all_melded = wins.own_melds.take(with_tile).all()
        shapes = [shape for shape in self.rules.shapes if not (shape.concealed and all_melded)]
        parts = [part for shape in shapes if not shape.alone for part in shape.readings(wins, with_tile)]
        alone = [shape for shape in shapes if shape.alone]
        if alone:
            read = np.zeros(len(wins), np.bool_)
            for part in parts:
                read[part.owner] = True
            unread = with_tile.compress(~read.take(with_tile))
            if unread.size:
                parts += [part for shape in alone for part in shape.readings(wins, unread)]
        whatever_tiles = self.rules.readings_without_tiles(wins, which)
        if whatever_tiles is not None:
            parts.append(whatever_tiles)
        found = Readings.join([part for part in parts if len(part)] or parts[:1])
        found.price = self._price
        return found

    def _price(self, part: Readings) -> tuple[Int8Array, Int64Array]:
        """Return [m, rows] the entries that count, and [m] what they are worth."""
        values = part.of(part.wins.once(self.values)) if self.by_hand else self.fixed_values[None]
        counts = self.rules.rows_that_count(self._settled(self._count(part)), values)
        return counts, self.rules.worth(counts, values)

    def _count_per_hand(self, wins: Wins) -> Int8Array:
        """Return [n, rows] the entries of rows that do not depend on how the tiles are read."""
        counts = np.zeros((len(wins), len(self.rules.rows)), np.int8)
        for column, row in self.per_hand.items():
            counts[:, column] = row(wins)
        if self.of_facts.columns.size:
            counts[:, self.of_facts.columns] = self.of_facts.hold(wins)
        return counts

    def _count(self, part: Readings) -> Int8Array:
        """Return [m, rows] the entries of all rows, before any is replaced."""
        counts: Int8Array = part.of(part.wins.once(self._count_per_hand))
        for column, row in self.per_reading.items():
            if row.shape is None or row.shape in part.shapes:
                counts[:, column] = row.holds_in(part)
        if part.has_sets is False:
            return counts
        sets = np.asarray(part.has_sets)[..., None]
        if self.of_sets.columns.size:
            counts[:, self.of_sets.columns] = self.of_sets.hold(part) & sets
        for kind, columns, combinations in self.combined:
            counts[:, columns] = combinations.count(getattr(part, kind)) * sets
        return counts

    def _settled(self, counts: Int8Array) -> Int8Array:
        """Remove rows that are replaced from the entries, add rows that hold where others do not, and return them."""
        if self.replacing:
            are_there: list[bool] = np.asarray(counts.any(axis=0)).tolist()
            for column, replaced in self.replacing:
                if are_there[column]:
                    counts[counts[:, column].nonzero()[0][:, None], replaced] = 0
        for column, others in self.otherwise:
            counts[:, column] = ~counts[:, others].any(axis=1)
        return counts

    def rank(self, worth: Int64Array, counts: Int8Array) -> Int64Array:
        """Return [m] numbers that order readings: by worth, and among equals by the preference of their rows."""
        if not self.preference.any():
            return worth
        return worth * (self.preference.sum() + 1) + (counts > 0) @ self.preference

    # --- Restrictions -------------------------------------------------------------------------------------------------

    def refused(self, part: Readings) -> BoolArray:
        """Return [restrictions, m] which readings each restriction refuses."""
        refused = np.ones((len(self.rules.restrictions), len(part)), np.bool_)
        for number, restriction in enumerate(self.rules.restrictions):
            if restriction.per_hand is not None:
                refused[number] = part.of(part.wins.once(restriction.per_hand))
            if restriction.per_reading is not None and np.count_nonzero(refused[number]):
                refused[number] &= restriction.per_reading(part)
            if restriction.minimum is not None:
                apart = self.columns_of(restriction.apart)
                worth = part.worth - part.counts[:, apart] @ self.fixed_values[apart]
                refused[number] &= worth < restriction.minimum.of(self.rules)
            if restriction.waived_by and np.count_nonzero(refused[number]):
                refused[number] &= ~self._waived(part, number)
        return refused

    def _waived(self, part: Readings, number: int) -> Any:
        """Return [m] whether readings have a row that waives a restriction."""
        if "priced" in part.__dict__:
            return part.counts[:, self.waives[number]].any(axis=1)
        waived = part.of(self._waived_by_hand(part.wins, number))
        for column in self.waiving_readings:
            if self.waives[number, column]:
                waived = waived | self.per_reading[column].holds_in(part)
        return waived

    def _waived_by_hand(self, wins: Wins, number: int) -> BoolArray:
        """Return [n] whether hands have a row that waives a restriction and does not depend on how they are read."""
        waived = np.zeros(len(wins), np.bool_)
        for column in self.waiving_hands:
            if self.waives[number, column]:
                waived |= wins.once(self.per_hand[column])
        return waived

    def unrestricted(self, wins: Wins) -> BoolArray:
        """Return [n] whether hands are free of the restrictions that nothing waives."""
        legal = np.ones(len(wins), np.bool_)
        for restriction in self.rules.restrictions:
            if restriction.per_hand is not None and not restriction.asks_readings and not restriction.waived_by:
                legal &= ~restriction.per_hand(wins)
        return legal

    def decide_unread(self, wins: Wins, legal: BoolArray) -> Games:
        """Take hands out of ``legal`` [n] that cannot win in any reading; return [k] the hands that have to be read.

        ``legal`` are the hands that are free of the restrictions that nothing waives. Below, ``concerned`` has for each
        other restriction the hands some of whose readings it may refuse, and ``certain`` those of which it refuses
        every reading, as far as is known.
        """
        concerned, certain = {}, {}
        for number, restriction in enumerate(self.rules.restrictions):
            if not restriction.asks_readings and not restriction.waived_by:
                continue
            hands = legal if restriction.per_hand is None else legal & wins.once(restriction.per_hand)
            if restriction.waived_by and np.count_nonzero(hands):
                hands = hands & ~self._waived_by_hand(wins, number)
            if restriction.spares is not None:
                hands = hands & ~restriction.spares(wins)
            if np.count_nonzero(hands):
                every = restriction.in_every_reading
                concerned[number], certain[number] = hands, hands if every is None else hands & every(wins)
        if not concerned:
            return np.zeros(0, np.intp)
        doubtful = np.logical_or.reduce(list(certain.values()))
        waived = {number: np.zeros(len(wins), np.bool_) for number in concerned}
        for column in self.waiving_readings:
            known = self.rules.rows[column].in_some_reading
            if known is None or not np.count_nonzero(doubtful):
                continue
            holds = wins.once(known)
            waives_all = holds
            for number, hands in concerned.items():
                if self.waives[number, column]:
                    waived[number] |= holds
                else:
                    waives_all = waives_all & ~hands
            doubtful = doubtful & ~waives_all
        for number, hands in certain.items():
            if self.known_unread[number]:
                hopeless = doubtful & hands & ~waived[number]
                legal &= ~hopeless
                doubtful = doubtful & ~hopeless
        return doubtful.nonzero()[0]
