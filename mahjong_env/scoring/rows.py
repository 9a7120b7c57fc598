"""Scoring tables: rows, which say when they hold and what they are worth, and restrictions, which say why not to win.

A variant lists its rows and restrictions; `mahjong_env.scoring.driver` evaluates them. What a row or a restriction asks
is a function of a batch: of n hands (`Wins`) where the answer does not depend on how the tiles are read, otherwise of m
readings (`Readings`). Knobs are found at ``Wins.rules``.
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
"""A function of n hands, which returns [n] bool or integers, or one answer for all."""
OfReadings: TypeAlias = "Callable[[Readings], Any]"
"""A function of m readings, which returns [m] bool or integers, or one answer for all."""


@dataclass(frozen=True)
class ByKnob:
    """Something that a knob decides: the value of the knob, or what ``choices`` has for that value."""

    knob: str
    choices: Mapping[Any, Any] | None = None

    def of(self, rules: Rules) -> Any:
        """Return what the knob decides under these rules."""
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
    """Whether all sets are of one suit; otherwise each is of another."""
    steps: tuple[tuple[int, ...], ...]
    """The ways in which their ranks, in order, may follow each other: one step between every two."""


class Counted(NamedTuple):
    """A number of sets, melds included, and perhaps the pair: sets of some kinds [34], or whatever functions count."""

    number: int
    """The number that there must be, 0 to 7."""
    triplets: BoolArray | None = None
    runs: BoolArray | None = None
    """The runs, by their lowest tile."""
    pair: BoolArray | None = None
    others: tuple[OfReadings, ...] = ()
    """Functions whose results [m] are added to the number."""


class Facts(NamedTuple):
    """A number of facts about a hand, however it is read."""

    number: int
    """The number of facts that must be true, 0 to 7."""
    kinds: tuple[BoolArray, ...] = ()
    """Groups of kinds [34]: each group of which there are tiles, concealed or melded, counts as one."""
    melds: tuple[MeldType, ...] = ()
    """Types of melds: each meld of one of them counts as one."""
    flags: tuple[OfHands, ...] = ()
    """Functions that return [n] bool: each that is true counts as one."""


@dataclass(frozen=True, eq=False)
class Row:
    """One row of a variant's scoring table.

    Attributes:
        name: the name, as in scores, outcomes and case files.
        chinese: the Chinese name, with its reading.
        value: what one entry is worth.
        meaning: when it is scored, for the page of rules.
        per_hand: [n] how many entries each hand has (or whether it has one), however it is read.
        of_facts: instead of ``per_hand``, facts about a hand; the row has one entry if each of them is true as often as
            it says (`mahjong_env.scoring.set_counts`).
        per_reading: [m] the same for each reading, where the entries depend on the reading.
        per_sets: the same, asked only of readings with sets and a pair; other readings have no entry.
        of_sets: instead of ``per_sets``, ways to have the row; a way is met if all its counts are right. Only readings
            with sets and a pair can have the row (`mahjong_env.scoring.set_counts`).
        shape: the only shape in which the row is scored; with nothing else asked, every reading in it has it.
        in_some_reading: [n] whether a complete hand has the row in some reading, found without reading it. It only
            saves time, and only for rows that waive a restriction.
        comes_with: another row that every reading with this one has too; where either would do, this one need not be
            looked for.
        combines: the sets that make the row, instead of the conditions above; of all such rows, as many count as may
            count together.
        replaces: rows that are not scored beside this one. A row that is itself replaced replaces nothing.
        unless: the row holds exactly in those readings that have none of these.
        preference: among readings that are worth the same, the one whose rows have the greatest sum of preferences is
            taken.

    Raises:
        ValueError: the row asks for nothing, so that no hand could have it.
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

    def __post_init__(self) -> None:
        asked = (self.per_hand, self.per_reading, self.per_sets, self.shape, self.combines)
        if all(one is None for one in asked) and not (self.of_facts or self.of_sets or self.unless):
            raise ValueError(
                f"row {self.name!r} does not say when it is scored: give it per_hand, of_facts, per_reading, per_sets, "
                f"of_sets, shape, combines or unless; per_hand=lambda wins: True scores it in every hand"
            )

    def holds_in(self, reading: Readings) -> Any:
        """Return [m] the number of entries of readings, or one answer for all; for rows that ask about readings."""
        concerned = True if self.shape is None else reading.in_shape(self.shape)
        if self.per_sets is not None:
            concerned = concerned & reading.has_sets
        ask = self.per_sets or self.per_reading
        if concerned is False or ask is None:
            return concerned
        return ask(reading) if concerned is True else ask(reading) * concerned

    def value_in(self, rules: Rules) -> int | float:
        """Return the value of one entry under these rules; 0 where it depends on the hand."""
        if isinstance(self.value, ByHand):
            return 0
        return self.value.of(rules) if isinstance(self.value, ByKnob) else self.value

    def value_text(self, rules: Rules) -> str:
        """Return the value of one entry, as the page of rules prints it."""
        if isinstance(self.value, ByHand):
            return self.value.text
        knob = f" (knob {self.value.knob})" if isinstance(self.value, ByKnob) else ""
        return f"{self.value_in(rules)}{knob}"


@dataclass(frozen=True, eq=False)
class Restriction:
    """A reason why a complete hand may not win.

    Attributes:
        reason: the reason in words, as `score` gives it; ``{knob}`` stands for the value of a knob.
        per_hand: [n] the hands that are concerned; None for all.
        per_reading: [m] the readings that are refused; None for all readings of those hands.
        minimum: the knob that holds the points which the rows of a reading need; readings with less are refused.
        apart: rows that do not count for the minimum.
        spares: [n] complete hands that certainly have a reading which it does not refuse, found without reading them.
            It only saves time.
        waived_by: rows whose readings the restriction leaves alone; they must answer with bool, not with counts.
        in_every_reading: [n] with ``per_reading``, whether it refuses every reading of a complete hand, found without
            reading it. It only saves time, and only one restriction of a variant may have it.
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
        """Whether it may refuse some readings of a hand and not others, apart from what waives it."""
        return self.per_reading is not None or self.minimum is not None

    @property
    def is_certain_unread(self) -> bool:
        """Whether it is known, without reading hands, which of them have only readings that it refuses."""
        return not self.asks_readings or self.in_every_reading is not None


def names(*rows: Row) -> tuple[str, ...]:
    """Return the names of rows."""
    return tuple(row.name for row in rows)
