"""Text for tiles and melds, both ways: ``"456s234p 7z F1"``, ``"pung 444p@2"``, ``"kong 1111s+@2"``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np

from mahjong_env.basics.errors import NotationError
from mahjong_env.basics.tiles import IS_SUITED, KIND_NAMES, NUM_KINDS
from mahjong_env.basics.types import Int8Array

_KIND_NUMBERS = {name: number for number, name in enumerate(KIND_NAMES)}
_TOKEN = re.compile(r"(?P<ranks>[1-9]+)(?P<suit>[mpsz])|(?P<flower>[FS][1-4])|(?P<space>[\s,]+)")
_MELD = re.compile(r"(?P<verb>chow|pung|kong)\s+(?P<tiles>[1-9]+[mpsz])(?P<added>\+?)(?:@(?P<seat>[0-9]{1,3}))?")

LEGEND: Final = (
    "tiles: 1-9m characters, 1-9p dots, 1-9s bamboo; 1-7z East South West North White Green Red;\n"
    "F1-F4 flowers, S1-S4 seasons; 123m 55z is 1m 2m 3m 5z 5z; pung 555m@2 was claimed from player_2"
)
"""The legend of the notation of tiles."""


class MeldType(IntEnum):
    """The type of a declared set; the numbers are those of the state's arrays."""

    NONE = 0
    CHOW = 1
    PUNG = 2
    EXPOSED_KONG = 3
    """Three of the hand and a discard (明杠 míng gàng)."""
    ADDED_KONG = 4
    """A pung with the fourth tile added (加杠 jiā gàng)."""
    CONCEALED_KONG = 5
    """Four of the hand (暗杠 àn gàng)."""


@dataclass(frozen=True)
class Meld:
    """One declared set."""

    type: MeldType
    kind: int  # the lowest one of a chow
    from_seat: int = -1  # the seat whose discard made it, -1 for a concealed kong

    @property
    def tiles(self) -> list[int]:
        """The kinds of the meld's three or four tiles."""
        if self.type is MeldType.CHOW:
            return [self.kind, self.kind + 1, self.kind + 2]
        return [self.kind] * (3 if self.type is MeldType.PUNG else 4)

    def __str__(self) -> str:
        """Return the meld in the notation that `parse_meld` reads."""
        verb = {MeldType.CHOW: "chow", MeldType.PUNG: "pung"}.get(self.type, "kong")
        added = "+" if self.type is MeldType.ADDED_KONG else ""
        origin = f"@{self.from_seat}" if self.from_seat >= 0 else ""
        return f"{verb} {format_tiles(self.tiles)}{added}{origin}"


def parse_tiles(text: str) -> list[int]:
    """Return the kinds, 0 to 41, of tiles such as ``"456s 234p 11z F1"``, in order; spaces and commas are ignored.

    Raises:
        NotationError: the text is not tile notation.
    """
    if not isinstance(text, str):
        raise NotationError(f"tiles are written as text such as '123m 55z F1', not {text!r}")
    kinds: list[int] = []
    position = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        names = [] if token is None else [rank + token["suit"] for rank in token["ranks"] or ""]
        if token is not None and token["flower"]:
            names = [token["flower"]]
        if token is None or any(name not in _KIND_NUMBERS for name in names):
            raise NotationError(
                f"cannot read {text[position:]!r} in {text!r} as tiles; valid are 1-9 followed by m, p or s, "
                "1-7 followed by z, F1-F4 and S1-S4"
            )
        kinds.extend(_KIND_NUMBERS[name] for name in names)
        position = token.end()
    return kinds


def parse_kind(text: str) -> int:
    """Read exactly one tile; raise `NotationError` if the text holds none or several."""
    kinds = parse_tiles(text)
    if len(kinds) != 1:
        raise NotationError(f"one tile is wanted, such as '5m', not {text!r}")
    return kinds[0]


def format_tiles(kinds: Iterable[int]) -> str:
    """Write tiles in the given order, with ranks of one suit joined: ``[0, 1, 2, 33]`` gives ``"123m7z"``."""
    text = ""
    for kind in kinds:
        name = KIND_NAMES[kind]
        joins = kind < NUM_KINDS and text.endswith(name[1])
        text = text[:-1] + name if joins else text + name
    return text


def format_counts(counts: Iterable[int]) -> str:
    """Write a hand given as counts per kind, sorted: a [34] or [42] vector."""
    return format_tiles(kind for kind, count in enumerate(counts) for _ in range(int(count)))


def count_tiles(kinds: Iterable[int], size: int = NUM_KINDS) -> Int8Array:
    """Return [size] int8 the number of tiles of each kind; all kinds must be below ``size``."""
    return np.bincount(np.fromiter(kinds, np.intp), minlength=size).astype(np.int8)


def parse_meld(text: str) -> Meld:
    """Read one meld: ``"chow 123s@3"``, ``"pung 444p@2"``, ``"kong 1111s@2"``, ``"kong 1111s+@2"``, ``"kong 1111s"``.

    Raises:
        NotationError: the text is not a meld, or its tiles are not a run, three alike or four alike.
    """
    match = _MELD.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise NotationError(
            f"cannot read the meld {text!r}; valid are 'chow 123s@3', 'pung 444p@2', 'kong 1111s@2' (from a discard), "
            "'kong 1111s+@2' (a pung with the fourth tile added) and 'kong 1111s' (concealed)"
        )
    kinds = sorted(parse_tiles(match["tiles"]))
    verb, added = match["verb"], bool(match["added"])
    seat = -1 if match["seat"] is None else int(match["seat"])
    low = kinds[0]
    if verb == "chow":
        meld_type = MeldType.CHOW
        if kinds != [low, low + 1, low + 2] or not IS_SUITED[low] or low % 9 > 6:
            raise NotationError(f"the chow {text!r} is not three tiles in a row of one suit")
    else:
        size = 3 if verb == "pung" else 4
        if kinds != [low] * size:
            raise NotationError(f"the {verb} {text!r} is not {size} tiles alike")
        meld_type = MeldType.PUNG
        if verb == "kong":
            exposed = MeldType.ADDED_KONG if added else MeldType.EXPOSED_KONG
            meld_type = MeldType.CONCEALED_KONG if seat < 0 and not added else exposed
    if added and meld_type is not MeldType.ADDED_KONG:
        raise NotationError(f"only a kong can have an added tile ('+'), not {text!r}")
    if seat < 0 and meld_type is not MeldType.CONCEALED_KONG:
        raise NotationError(f"the claimed meld {text!r} must name the seat it came from, as in '{text.strip()}@2'")
    if seat > 3:
        raise NotationError(f"the meld {text!r} comes from seat {seat}; seats are 0 to 3")
    return Meld(meld_type, low, seat)


def check_supply(kinds: Iterable[int], supply: Int8Array, what: str, error: type[ValueError]) -> None:
    """Raise ``error`` if ``what`` names more tiles of a kind than there are in ``supply`` [42]."""
    for kind, count in Counter(kinds).items():
        if count > supply[kind]:
            have = "none" if supply[kind] == 0 else f"only {supply[kind]}"
            fifth = " (a fifth tile)" if count == 5 and supply[kind] == 4 else ""
            raise error(f"{what} names {count} tiles {KIND_NAMES[kind]}{fifth}; there are {have} in the set")
