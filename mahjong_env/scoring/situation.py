"""The situation of a described win: where the tile came from, who sits where, and what only some variants know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mahjong_env.basics.errors import HandError, RulesError
from mahjong_env.basics.notation import parse_kind
from mahjong_env.basics.tiles import EAST, NORTH
from mahjong_env.ruleset.circumstances import MOST, MOST_POINTS, Circumstance, are_points, is_count
from mahjong_env.ruleset.questions import Rules
from mahjong_env.ruleset.registry import VARIANTS
from mahjong_env.scoring.wins import Source

_COUNTS = ("kong_draws", "dealer_streak")
_FLAGS = ("flower_draw", "last_tile", "first_draw")
_TEXTS = ("source", "flowers", "turned_up")
_OWN_DRAWS = ("kong_draws", "flower_draw", "first_draw")


@dataclass(frozen=True)
class Situation:
    """The arguments of `score` other than hand, melds and knobs; see there."""

    source: str
    from_seat: int | None
    seat: int
    dealer: int
    dealer_streak: int
    wild: str | None
    flowers: str
    kong_draws: int
    flower_draw: bool
    last_tile: bool
    first_draw: bool
    turned_up: str
    round_wind: str
    house_wind: str | None
    running_points: Sequence[int] | None
    circumstances: Mapping[str, int | bool]
    """What the variant knows beyond these (`Rules.circumstances`), as far as it was given."""

    def value_of(self, name: str) -> Any:
        """The value of an argument, or of a circumstance (0 if it was not given)."""
        return getattr(self, name) if name in self.__dataclass_fields__ else self.circumstances.get(name, 0)

    def check(self, rules: Rules) -> None:
        """`HandError` for what contradicts itself, and for what these rules do not know."""
        self._check_types()
        self._check_source(rules)
        self._check_circumstances(rules)
        self._check_known(rules)
        points = self.running_points
        if points is not None and not are_points(points, rules.seats):
            raise HandError(
                f"running_points are {rules.seats} integers, one for each seat, from {-MOST_POINTS} to {MOST_POINTS}, "
                f"not {points!r}"
            )

    def _check_types(self) -> None:
        for name in _COUNTS:
            value = getattr(self, name)
            if not is_count(value):
                raise HandError(f"{name} is an integer from 0 to {MOST}, not {value!r}")
        for name in _FLAGS:
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise HandError(f"{name} is True or False, not {getattr(self, name)!r}")
        for name in _TEXTS:
            if not isinstance(getattr(self, name), str):
                raise HandError(f"{name} is a text, not {getattr(self, name)!r}")

    def _check_source(self, rules: Rules) -> None:
        words = [source.word for source in Source]
        if self.source not in words:
            raise HandError(f"source={self.source!r} is not valid; valid are {', '.join(words)}")
        check_seat(rules, "seat", self.seat)
        check_seat(rules, "dealer", self.dealer)
        if self.source in (Source.DISCARD.word, Source.ROBBED_KONG.word):
            if self.from_seat is None:
                raise HandError(f"source={self.source!r} needs from_seat, the seat that gave the tile")
            check_seat(rules, "from_seat", self.from_seat)
            if self.from_seat == self.seat:
                raise HandError(f"from_seat={self.from_seat} is the winner himself")
        elif self.from_seat is not None:
            raise HandError(f"source={self.source!r} has no from_seat")
        for name in _OWN_DRAWS:
            if getattr(self, name) and self.source != Source.DRAW.word:
                raise HandError(f"{name} is about a tile drawn by oneself (source='draw')")
        if self.flower_draw and not self.flowers and rules.uses_flowers:
            raise HandError("flower_draw says that a flower was replaced, but flowers names none")

    def _check_circumstances(self, rules: Rules) -> None:
        for item in rules.circumstances:
            value = self.circumstances.get(item.name, 0)
            if not value:
                continue
            if not item.is_mark and self.source != Source.DRAW.word:
                raise HandError(f"{item.name} is about a tile that is turned up (source='draw')")
            for other in item.excludes:
                if self.value_of(other):
                    raise HandError(f"{item.name} and {other} contradict each other: {item.about}")

    def _check_known(self, rules: Rules) -> None:
        unknown = {
            "wild": self.wild is not None and not rules.has_wild,
            "flowers": bool(self.flowers) and not rules.uses_flowers,
            "flower_draw": self.flower_draw and not rules.uses_flowers,
            "source='flowers'": self.source == Source.FLOWERS.word and not rules.wins_by_flowers,
            "turned_up": bool(self.turned_up) and not rules.turned_up_after_win,
        }
        for name, is_unknown in unknown.items():
            if is_unknown:
                raise HandError(f"{rules.name} knows no {name}")


def take_circumstances(rules: Rules, given: dict[str, Any]) -> dict[str, Any]:
    """Take out of keyword arguments what is a circumstance, so that the knobs are left.

    Circumstances of other variants are taken too if they say nothing (0 or False).

    Raises:
        HandError: a value that a circumstance cannot have, or a circumstance that the variant does not know.
    """
    own = {item.name: item for item in rules.circumstances}
    taken = {}
    for name in [name for name in given if name not in rules.knobs]:
        items = [own[name]] if name in own else [*known_circumstances().get(name, {}).values()]
        if not items:
            continue
        value = given.pop(name)
        if not any(item.accepts(value) for item in items):
            raise HandError(f"{name} is {items[0].valid}, not {value!r}")
        if name in own:
            taken[name] = value
        elif value:
            raise HandError(f"{rules.name} knows no {name}")
    return taken


def known_circumstances() -> dict[str, dict[str, Circumstance]]:
    """The circumstances of all variants: by name, what each variant that knows it says about it.

    Those of a variant that cannot be loaded are left out.
    """
    known: dict[str, dict[str, Circumstance]] = {}
    for variant in VARIANTS:
        try:
            items = VARIANTS[variant].circumstances
        except RulesError:
            continue  # whoever asks for that variant is told why
        for item in items:
            known.setdefault(item.name, {})[variant] = item
    return known


def check_seat(rules: Rules, name: str, value: Any) -> None:
    """`HandError` for what is no seat at the table; ``name`` is what it stands for."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value < rules.seats:
        raise HandError(f"{name} is a seat from 0 to {rules.seats - 1}, not {value!r}")


def wind_number(name: str, text: str) -> int:
    """0 East to 3 North; `HandError` for another tile."""
    kind = parse_kind(text)
    if not EAST <= kind <= NORTH:
        raise HandError(f"{name} is '1z', '2z', '3z' or '4z', not {text!r}")
    return kind - EAST
