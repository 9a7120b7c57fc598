"""Tiles and text as SVG: our own drawings of dots and bamboo, and outlines of a free font for characters.

Text is drawn as outlines, too, so that pictures look the same where no font is installed. Every face shows what it is
twice: as the tile looks, and in a corner in Latin letters and digits (the rank of a suit tile, ``E S W N`` for winds,
``R G Wh`` for dragons, ``F1`` to ``S4`` for flowers).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

from mahjong_env.basics.errors import MahjongError
from mahjong_env.basics.tiles import FIRST_HONOUR, FLOWERS, GREEN, KIND_NAMES, NUM_ALL_KINDS, RED, WHITE


@dataclass(frozen=True)
class Theme:
    """The colours of a picture; each is an SVG colour."""

    cloth: str
    """The table."""
    panel: str
    """The middle of the table."""
    text: str
    faint: str
    """Less important text."""
    accent: str
    """The mark of whose turn it is."""
    face: str
    """The front of a tile."""
    edge: str
    back: str
    """The back of a tile."""
    wild: str
    """The border and the corner of wild tiles."""
    black: str
    red: str
    green: str
    blue: str


_LIGHT: Final = Theme(
    cloth="#2f6b4c",
    panel="#23523a",
    text="#f6faf3",
    faint="#d3e4d8",
    accent="#ffc233",
    face="#fffdf6",
    edge="#b9b29c",
    back="#3d7ea8",
    wild="#d81b36",
    black="#23262b",
    red="#c4142b",
    green="#1c7a3c",
    blue="#1b4f9c",
)
_DARK: Final = replace(_LIGHT, cloth="#1e4431", panel="#163324", face="#f3efe2", edge="#8b8570", back="#2f678d")
THEMES: Final[Mapping[str, Theme]] = MappingProxyType({"light": _LIGHT, "dark": _DARK})


def theme_named(name: str) -> Theme:
    """Return the theme of a name.

    Raises:
        MahjongError: there is no such theme; the message lists them.
    """
    if name not in THEMES:
        raise MahjongError(f"there is no theme {name!r}; valid are {', '.join(THEMES)}")
    return THEMES[name]


Anchor = Literal["start", "middle", "end"]

_UNKNOWN = "?"


@cache
def _glyphs() -> dict[str, tuple[int, str]]:
    """Return the advance and the outline of each character, in thousandths of the font size."""
    file = Path(__file__).with_name("glyphs.json")
    return {character: (width, path) for character, (width, path) in json.loads(file.read_text("utf-8")).items()}


def text_width(text: str, size: float) -> float:
    """Return the width of a line of text at a font size."""
    glyphs = _glyphs()
    return sum(glyphs.get(character, glyphs[_UNKNOWN])[0] for character in text) * size / 1000


def text_svg(text: str, x: float, y: float, size: float, fill: str, anchor: Anchor = "start") -> str:
    """Return a line of text as SVG outlines.

    Args:
        text: the text; characters that ``glyphs.json`` does not have are drawn as question marks.
        x: the place of the line's start, middle or end, as ``anchor`` says.
        y: the baseline.
        size: the font size.
        fill: the colour.
        anchor: "start", "middle" or "end".
    """
    glyphs = _glyphs()
    left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * text_width(text, size)
    scale, at, parts = size / 1000, 0, []
    for character in text:
        width, path = glyphs.get(character, glyphs[_UNKNOWN])
        if path:
            parts.append(f'<path transform="translate({at})" d="{path}"/>' if at else f'<path d="{path}"/>')
        at += width
    return f'<g fill="{fill}" transform="translate({left:.1f} {y:.1f}) scale({scale:.4f})">{"".join(parts)}</g>'


WIDTH: Final = 60
HEIGHT: Final = 80
"""`WIDTH` and `HEIGHT` are the size of an upright tile, in the units of all pictures."""

_NUMERALS = "一二三四五六七八九"
_HONOURS = "東南西北白發中"
_FLOWERS = "梅蘭竹菊春夏秋冬"
_CORNERS = (*("123456789" * 3), "E", "S", "W", "N", "Wh", "G", "R", *KIND_NAMES[FLOWERS:])

# The positions of the dots and sticks of each rank: columns and rows as fractions of the field.
_SPOTS: Final[dict[int, tuple[tuple[float, float], ...]]] = {
    1: ((0.5, 0.5),),
    2: ((0.5, 0.22), (0.5, 0.78)),
    3: ((0.2, 0.18), (0.5, 0.5), (0.8, 0.82)),
    4: ((0.24, 0.22), (0.76, 0.22), (0.24, 0.78), (0.76, 0.78)),
    5: ((0.2, 0.18), (0.8, 0.18), (0.5, 0.5), (0.2, 0.82), (0.8, 0.82)),
    6: ((0.26, 0.16), (0.74, 0.16), (0.26, 0.55), (0.74, 0.55), (0.26, 0.86), (0.74, 0.86)),
    7: ((0.18, 0.1), (0.5, 0.2), (0.82, 0.3), (0.28, 0.58), (0.72, 0.58), (0.28, 0.88), (0.72, 0.88)),
    8: tuple((column, row) for row in (0.1, 0.365, 0.635, 0.9) for column in (0.28, 0.72)),
    9: tuple((column, row) for row in (0.13, 0.5, 0.87) for column in (0.16, 0.5, 0.84)),
}
_DOT_COLOURS: Final = dict(
    enumerate(("r", "gb", "brg", "bggb", "bgrgb", "ggrrrr", "gggrrrr", "bbbbbbbb", "gggrrrbbb"), start=1)
)  # blue, green and red, in the order of the spots
_STICKS: Final[dict[int, tuple[tuple[float, float], ...]]] = {
    **_SPOTS,
    2: ((0.5, 0.25), (0.5, 0.75)),
    3: ((0.5, 0.25), (0.26, 0.75), (0.74, 0.75)),
    4: ((0.28, 0.25), (0.72, 0.25), (0.28, 0.75), (0.72, 0.75)),
    5: ((0.2, 0.25), (0.8, 0.25), (0.5, 0.5), (0.2, 0.75), (0.8, 0.75)),
    6: tuple((column, row) for row in (0.25, 0.75) for column in (0.18, 0.5, 0.82)),
    7: ((0.5, 0.13), *((column, row) for row in (0.5, 0.87) for column in (0.18, 0.5, 0.82))),
    8: tuple((column, row) for row in (0.25, 0.75) for column in (0.12, 0.37, 0.63, 0.88)),
}
# The field of a face for dots and sticks: left, top, width, height. The corner stays free for the rank.
_FIELD: Final = (10.0, 19.0, 40.0, 53.0)


def tile_name(kind: int) -> str:
    """Return a tile in words, such as "5 of Dots" or "Red Dragon", for people who cannot see the picture."""
    if kind < FIRST_HONOUR:
        return f"{kind % 9 + 1} of {('Characters', 'Dots', 'Bamboo')[kind // 9]}"
    if kind < FLOWERS:
        return ("East", "South", "West", "North", "White Dragon", "Green Dragon", "Red Dragon")[kind - FIRST_HONOUR]
    return f"{'Flower' if kind < FLOWERS + 4 else 'Season'} {(kind - FLOWERS) % 4 + 1}"


@cache  # a table repeats the same few tiles
def tile_svg(kind: int | None, *, theme: str = "light", is_wild: bool = False) -> str:
    """Return one tile as the contents of an SVG of `WIDTH` x `HEIGHT`.

    Args:
        kind: 0 to 41; None for a tile face down.
        theme: "light" or "dark".
        is_wild: whether to mark it as wild, with a red border and a star in a corner.

    Raises:
        MahjongError: there is no such tile or theme.
    """
    if kind is not None and not 0 <= kind < NUM_ALL_KINDS:
        raise MahjongError(f"there is no tile {kind!r}; kinds are 0 to {NUM_ALL_KINDS - 1}, and None for a hidden one")
    look = theme_named(theme)
    face = look.back if kind is None else look.face
    frame = (
        f'<rect x="1.2" y="1.2" width="{WIDTH - 2.4:g}" height="{HEIGHT - 2.4:g}" rx="7" fill="{face}" '
        f'stroke="{look.edge}" stroke-width="1.2"/>'
    )
    if kind is None:
        inner = (
            f'<rect x="9" y="9" width="42" height="62" rx="4" fill="none" stroke="{look.face}" stroke-opacity="0.45"/>'
        )
        return frame + inner
    own = {WHITE: look.blue, GREEN: look.green, RED: look.red}.get(kind, look.black)
    colour = (look.red, look.blue, look.green)[kind // 9] if kind < FIRST_HONOUR else own
    corner = text_svg(_CORNERS[kind], 5.5, 17, 14, colour)
    return frame + "".join(_face(kind, look)) + corner + (wild_mark(look) if is_wild else "")


def wild_mark(theme: Theme) -> str:
    """Return the mark of a wild tile: a border, and a corner with a star that is seen even without its colour."""
    star = "M51 6l2 4.2 4.6.6-3.4 3.2.9 4.6-4.1-2.3-4.1 2.3.9-4.6-3.4-3.2 4.6-.6z"
    border = (
        f'<rect x="2.4" y="2.4" width="55.2" height="75.2" rx="6" fill="none" stroke="{theme.wild}" stroke-width="3"/>'
    )
    corner = f'<path d="M32 1.5H52a6.5 6.5 0 0 1 6.5 6.5V28z" fill="{theme.wild}"/>'
    return f'{border}{corner}<path transform="translate(-1.5 -.5)" d="{star}" fill="{theme.face}"/>'


def _face(kind: int, theme: Theme) -> Iterator[str]:
    rank = kind % 9 + 1
    if kind < 9:
        yield text_svg(_NUMERALS[rank - 1], 32, 41, 29, theme.black, "middle")
        yield text_svg("萬", 30, 71, 29, theme.red, "middle")
    elif kind < 18:
        yield from _dots(rank, theme)
    elif kind < FIRST_HONOUR:
        yield from _bamboo(rank, theme)
    elif kind == WHITE:
        yield f'<rect x="14" y="22" width="32" height="46" rx="3" fill="none" stroke="{theme.blue}" stroke-width="4"/>'
        yield f'<rect x="20" y="28" width="20" height="34" fill="none" stroke="{theme.blue}" stroke-width="1.5"/>'
    elif kind < FLOWERS:
        colour = {GREEN: theme.green, RED: theme.red}.get(kind, theme.black)
        yield text_svg(_HONOURS[kind - FIRST_HONOUR], 30, 62, 44, colour, "middle")
    else:
        colour = theme.green if kind < FLOWERS + 4 else theme.red
        yield f'<circle cx="30" cy="46" r="23" fill="{colour}" fill-opacity="0.13"/>'
        yield text_svg(_FLOWERS[kind - FLOWERS], 30, 59, 36, colour, "middle")


def _dots(rank: int, theme: Theme) -> Iterator[str]:
    radius = 17.0 if rank == 1 else 10.0 if rank <= 3 else 8.0 if rank <= 6 else 6.2
    colours = {"b": theme.blue, "g": theme.green, "r": theme.red}
    for letter, (x, y) in zip(_DOT_COLOURS[rank], _places(_SPOTS[rank], radius), strict=True):
        colour = colours[letter]
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius - 1:g}" fill="none" stroke="{colour}" stroke-width="2"/>'
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius * 0.45:g}" fill="{colour}"/>'


def _bamboo(rank: int, theme: Theme) -> Iterator[str]:
    if rank == 1:
        yield from _sparrow(theme)
        return
    rows = len({y for _, y in _STICKS[rank]})
    tall = 23.0 if rows == 2 else 15.0
    for number, (x, y) in enumerate(_places(_STICKS[rank], 4, tall / 2)):
        is_red = (rank in (5, 9) and abs(x - 30) < 1) or (rank == 7 and number == 0)
        colour = theme.red if is_red else theme.green
        top, middle = y - tall / 2, y
        yield (
            f'<rect x="{x - 3.2:.1f}" y="{top:.1f}" width="6.4" height="{tall:g}" rx="3" fill="{colour}"/>'
            f'<path d="M{x - 4.4:.1f} {middle:.1f}h8.8" stroke="{theme.face}" stroke-width="1.6"/>'
            f'<path d="M{x:.1f} {top + 3:.1f}v{tall - 6:g}" stroke="{theme.face}" stroke-opacity="0.6"/>'
        )


def _sparrow(theme: Theme) -> Iterator[str]:
    """Draw the bird of the one of bamboo: tail, body, wing, head, beak, eye, legs."""
    yield f'<path d="M14 70 L27 52 L33 57 Z M20 74 L30 54 L36 60 Z" fill="{theme.red}"/>'
    yield f'<ellipse cx="33" cy="48" rx="12" ry="14" transform="rotate(28 33 48)" fill="{theme.green}"/>'
    yield f'<path d="M25 48 Q33 40 42 50 Q36 60 28 57 Z" fill="{theme.blue}"/>'
    yield f'<circle cx="40" cy="31" r="8" fill="{theme.green}"/>'
    yield f'<path d="M47 28 L55 32 L47 34 Z" fill="{theme.red}"/>'
    yield f'<circle cx="42" cy="29" r="2.2" fill="{theme.face}"/>'
    yield f'<circle cx="42.4" cy="29" r="1.1" fill="{theme.black}"/>'
    yield f'<path d="M34 62 V71 M40 60 V71 M31 71 H44" stroke="{theme.red}" stroke-width="1.8" fill="none"/>'


def _places(
    spots: tuple[tuple[float, float], ...], across: float, down: float | None = None
) -> Iterator[tuple[float, float]]:
    """Yield the centres of shapes of this half width and half height, moved so that they stay inside the field."""
    left, top, width, height = _FIELD
    down = across if down is None else down
    for column, row in spots:
        yield (
            min(max(left + column * width, left + across), left + width - across),
            min(max(top + row * height, top + down), top + height - down),
        )
