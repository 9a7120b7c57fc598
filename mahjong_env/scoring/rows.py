"""Scoring tables: rows that say when they hold and what they are worth, restrictions that say why not to win.

A variant lists its rows and restrictions; `mahjong_env.scoring.driver` asks them. What a row or a restriction asks is a
function of a batch: of n hands (`Wins`) where the answer does not depend on how the tiles are read, else of m readings
(`Readings`). Knobs are found at ``Wins.rules``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.types import BoolArray

if TYPE_CHECKING:
    from mahjong_env.ruleset.questions import Rules
    from mahjong_env.scoring.readings import Readings, Shape
    from mahjong_env.scoring.wins import Wins

OfHands: TypeAlias = "Callable[[Wins], Any]"
"""Asked of n hands: [n] bool or integers, or one answer for all."""
OfReadings: TypeAlias = "Callable[[Readings], Any]"
"""Asked of m readings: [m] bool or integers, or one answer for all."""


@dataclass(frozen=True)
class ByKnob:
    """Something that a knob decides: what it is set to, or what ``choices`` has for that."""

    knob: str
    choices: Mapping[Any, Any] | None = None

    def of(self, rules: Rules) -> Any:
        """The choice that these rules have made."""
        value = getattr(rules, self.knob)
        return value if self.choices is None else self.choices[value]


@dataclass(frozen=True)
class ByHand:
    """A value [n] that depends on the hand; ``text`` stands for it on the page of rules."""

    text: str
    value: OfHands


class Combination(NamedTuple):
    """Two, three or four sets that make a row together (`mahjong_env.scoring.combinations`)."""

    of: str
    """The sets: "runs" or "triplets", melds included."""
    one_suit: bool
    """All sets are of one suit; else each is of another."""
    steps: tuple[tuple[int, ...], ...]
    """The ways in which their ranks, in order, may follow each other: one step between every two."""


class Counted(NamedTuple):
    """A number of sets, melds included, and perhaps the pair: those of some kinds [34], or others."""

    number: int
    """How many of these there are, 0 to 7."""
    triplets: BoolArray | None = None
    runs: BoolArray | None = None
    """By their lowest tile."""
    pair: BoolArray | None = None
    others: tuple[OfReadings, ...] = ()
    """What these say [m] is added to the number."""


class Facts(NamedTuple):
    """A number of things that are true of a hand, however it is read."""

    number: int
    """How many are true, 0 to 7."""
    kinds: tuple[BoolArray, ...] = ()
    """Of how many of these groups of kinds [34] there are tiles, concealed or melded."""
    melds: tuple[MeldType, ...] = ()
    """How many melds are of these types."""
    flags: tuple[OfHands, ...] = ()
    """How many of these [n] bool are true."""


@dataclass(frozen=True, eq=False)
class Row:
    """One row of a variant's scoring table.

    Attributes:
        name: as in scores, outcomes and case files.
        chinese: the Chinese name, with its reading.
        value: what one entry is worth.
        meaning: when it is scored, for the page of rules.
        per_hand: [n] how many entries each hand has (or whether it has one), however it is read.
        of_facts: in place of it, facts about a hand, each as often as it says: whether there is one entry
            (`mahjong_env.scoring.set_counts`).
        per_reading: [m] the same for each reading, where it depends on the reading.
        per_sets: the same, asked only of readings with sets and a pair; others have none.
        of_sets: in place of it, ways to have the row, each of them all that is counted; only readings with sets and a
            pair have one (`mahjong_env.scoring.set_counts`).
        shape: the only shape in which the row is scored; with nothing else asked, every reading in it has it.
        in_some_reading: [n] whether a complete hand has the row in some reading, found without reading it. Needed for
            nothing but speed, and only for rows that waive a restriction.
        comes_with: another row that every reading with this one has too; it then need not be looked for where any of
            the two would do.
        combines: the sets that make the row, in place of the above: of all such rows as many as may count together do.
        replaces: rows that are not scored beside this one. A row that is itself replaced replaces nothing.
        unless: the row holds exactly in those readings that have none of these.
        preference: of readings that are worth the same, the one with the greatest sum of these is taken.
    """

    name: str
    chinese: str
    value: int | float | ByKnob | ByHand
    meaning: str
    per_hand: OfHands | None = None
    of_facts: tuple[Facts, ...] = ()
    per_reading: OfReadings | None = None
    per_sets: OfReadings | None = None
    of_sets: tuple[tuple[Counted, ...], ...] = ()
    shape: Shape | None = None
    in_some_reading: OfHands | None = None
    comes_with: str | None = None
    combines: Combination | None = None
    replaces: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    preference: int = 0

    def holds_in(self, reading: Readings) -> Any:
        """[m] the number of entries of readings, or one answer for all; for rows that ask about readings."""
        concerned = True if self.shape is None else reading.in_shape(self.shape)
        if self.per_sets is not None:
            concerned = concerned & reading.has_sets
        ask = self.per_sets or self.per_reading
        if concerned is False or ask is None:
            return concerned
        return ask(reading) if concerned is True else ask(reading) * concerned

    def value_in(self, rules: Rules) -> int | float:
        """The value of one entry under these rules; 0 where it depends on the hand."""
        if isinstance(self.value, ByHand):
            return 0
        return self.value.of(rules) if isinstance(self.value, ByKnob) else self.value

    def value_text(self, rules: Rules) -> str:
        """The value of one entry, as the page of rules prints it."""
        if isinstance(self.value, ByHand):
            return self.value.text
        knob = f" (knob {self.value.knob})" if isinstance(self.value, ByKnob) else ""
        return f"{self.value_in(rules)}{knob}"


@dataclass(frozen=True, eq=False)
class Restriction:
    """A reason why a complete hand may not win.

    Attributes:
        reason: in words, as `score` gives it; ``{knob}`` stands for what a knob is set to.
        per_hand: [n] the hands that are concerned; None: all.
        per_reading: [m] the readings that are refused; None: all readings of those hands.
        minimum: the knob of the points that the rows of a reading need; readings with less are refused.
        apart: rows that do not count for that.
        spares: [n] complete hands that it surely does not refuse in some reading, known without reading them. Needed
            for nothing but speed.
        waived_by: rows whose readings the restriction leaves alone; rows that a reading has or has not, no counts.
        in_every_reading: [n] with ``per_reading``: whether it refuses every reading of a complete hand, found without
            reading it. Needed for nothing but speed; only one restriction of a variant may have it.
    """

    reason: str
    per_hand: OfHands | None = None
    per_reading: OfReadings | None = None
    minimum: ByKnob | None = None
    apart: tuple[str, ...] = ()
    spares: OfHands | None = None
    waived_by: tuple[str, ...] = ()
    in_every_reading: OfHands | None = None

    @property
    def asks_readings(self) -> bool:
        """Whether it refuses some readings of a hand and not others, whatever waives it."""
        return self.per_reading is not None or self.minimum is not None

    @property
    def is_certain_unread(self) -> bool:
        """Whether it is known without reading hands which of them have no other reading than refused ones."""
        return not self.asks_readings or self.in_every_reading is not None


def names(*rows: Row) -> tuple[str, ...]:
    """The names of rows."""
    return tuple(row.name for row in rows)
