"""Pictures of a table (four sides around a panel) or of one hand, as SVG or, with the extra `render`, as pixels."""

from __future__ import annotations

import html
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.errors import MissingExtraError
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import KIND_NAMES
from mahjong_env.drawing.table import HIDDEN, Place, ShownMeld, Table
from mahjong_env.drawing.text import counted
from mahjong_env.drawing.tiles import HEIGHT, WIDTH, text_svg, text_width, theme_named, tile_name, tile_svg

SIZE: Final = 1000
"""The width of a picture, and the height of the table in it."""
HEADER: Final = 72
"""The height of the two lines above the table."""

# The layout is that of the viewer's pages: rivers of six columns and three rows around a panel, plates in the corners.
_COLUMNS, _ROWS = 6, 3
_HALF = _COLUMNS * WIDTH / 2  # half the width of the panel
_DEEP = _ROWS * HEIGHT  # the depth of a river
_HAND_Y, _HAND_SCALE, _HAND_LIMIT = SIZE / 2 + _HALF + _DEEP + 8, 0.8, 2 * (_HALF + _DEEP)
_FLOWER_SCALE = 0.55
_PLATES = {0: (1, 1), 1: (1, -1), 2: (-1, -1), 3: (-1, 1)}  # the corner to the right of each slot
_GAP = 10.0
_STACKED = 24  # how far the added tile of a kong lies above the claimed one
_TURNS = {0: 0, 1: -90, 2: 180, 3: 90}  # rotation by slot, in degrees


def table_svg(table: Table, *, theme: str = "light", event: str = "") -> str:
    """Return the picture of a table.

    Args:
        table: the table, from `read_table` or `seen_table`.
        theme: "light" or "dark".
        event: what has just happened, in one line.

    Returns:
        A complete SVG document of 1000 x 1072 units.

    Raises:
        MahjongError: there is no such theme.
    """
    drawing = _Drawing(table, theme)
    body = "".join(drawing.parts(event))
    colours = drawing.theme
    faces = "".join(f'<g id="{name}">{svg}</g>' for name, svg in sorted(drawing.faces.items()))
    title = html.escape(f"{table.title} mahjong, hand {table.hand_number}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE + HEADER}" width="{SIZE}" '
        f'height="{SIZE + HEADER}" role="img"><title>{title}</title>'
        f'<defs>{faces}</defs><rect width="{SIZE}" height="{SIZE + HEADER}" fill="{colours.cloth}"/>{body}</svg>'
    )


@dataclass
class Row:
    """A row of tiles laid side by side from the left.

    Attributes:
        draw: returns the SVG of a kind.
        width: the width so far.
        svg: the SVG of the tiles so far.
    """

    draw: Callable[[int], str]
    width: float = 0.0
    svg: str = ""

    def tile(self, kind: int, *, sideways: bool = False, stacked: bool = False) -> None:
        """Lay a tile, upright or sideways; with ``stacked``, a sideways one gets a second one on top."""
        shown = self.draw(kind)
        if not sideways:
            self.svg += f'<g transform="translate({self.width:g} 0)">{shown}</g>'
            self.width += WIDTH
            return
        for level in range(1 + stacked):
            self.svg += (
                f'<g transform="translate({self.width:g} {HEIGHT - _STACKED * level:g}) rotate(-90)">{shown}</g>'
            )
        self.width += HEIGHT

    def meld(self, meld: ShownMeld) -> None:
        """Lay a meld, with the claimed tile sideways on the side of the player who gave it."""
        tiles = list(meld.tiles)
        added = meld.type is MeldType.ADDED_KONG
        if added:
            tiles.pop()
        if meld.giver and meld.claimed in tiles:
            tiles.remove(meld.claimed)
            at = {3: 0, 2: 1, 1: len(tiles)}[meld.giver]
            tiles.insert(at, meld.claimed)
        else:
            at = -1
        for number, kind in enumerate(tiles):
            self.tile(kind, sideways=number == at, stacked=added and number == at)

    def gap(self, width: float = _GAP) -> None:
        """Leave some room."""
        self.width += width


class _Drawing:
    """One table in one theme."""

    def __init__(self, table: Table, theme: str) -> None:
        self.table, self.name, self.theme = table, theme, theme_named(theme)
        self.faces: dict[str, str] = {}  # each face that is used is drawn once

    def tile(self, kind: int, *, as_wild: bool = True) -> str:
        """Return a reference to a tile; with ``as_wild``, the wild kind is marked."""
        is_wild = as_wild and kind == self.table.wild and kind != HIDDEN
        name = f"{self.name}-{'back' if kind == HIDDEN else KIND_NAMES[kind]}{'-wild' if is_wild else ''}"
        if name not in self.faces:
            self.faces[name] = tile_svg(None if kind == HIDDEN else kind, theme=self.name, is_wild=is_wild)
        return f'<use href="#{name}"/>'

    def parts(self, event: str) -> Iterator[str]:
        yield from self.header(event)
        yield f'<g transform="translate(0 {HEADER})">'
        left, size = SIZE / 2 - _HALF + 6, 2 * _HALF - 12
        yield f'<rect x="{left:g}" y="{left:g}" width="{size:g}" height="{size:g}" rx="16" fill="{self.theme.panel}"/>'
        yield from self.middle()
        for slot, place in enumerate(self.table.places):
            if place is not None:
                half = SIZE / 2
                yield f'<g transform="rotate({_TURNS[slot]} {half:g} {half:g})">{"".join(self.side(slot, place))}</g>'
                yield from self.plate(slot, place)
        yield "</g>"

    def header(self, event: str) -> Iterator[str]:
        table = self.table
        title = f"{table.title} {table.chinese}"
        yield text_svg(title, 20, 34, 24, self.theme.text)
        of = f" of {table.num_hands}" if table.num_hands is not None else ""
        facts = [f"hand {table.hand_number}{of}", f"{table.round_wind} round"]
        facts += [table.deal_words[0]] if table.deal_words[0] else []
        facts += [f"dice {table.dice}"] if table.dice else []
        facts += [f"{name} sits out ({points})" for name, points in table.sits_out]
        yield text_svg(" · ".join(facts), SIZE - 20, 34, 17, self.theme.faint, "end")
        if event:
            yield text_svg(event, 20, 60, min(17.0, 17 * (SIZE - 40) / text_width(event, 17)), self.theme.text)

    def middle(self) -> Iterator[str]:
        """Draw the number of tiles left, the wild tile and the tile turned up."""
        table, half = self.table, SIZE / 2
        yield text_svg(str(table.tiles_left), half, half - 30, 56, self.theme.text, "middle")
        yield text_svg("tiles left", half, half - 4, 17, self.theme.faint, "middle")
        shown = [(table.wild, table.wild_words[0]), (table.indicator, "turned up")]
        shown = [(kind, word) for kind, word in shown if kind >= 0]
        for number, (kind, word) in enumerate(shown):
            x = half + (number - (len(shown) - 1) / 2) * 100
            tile = self.tile(kind, as_wild=number == 0 and table.wild >= 0)
            name = f"<title>{tile_name(kind)}</title>"
            yield f'<g transform="translate({x - WIDTH / 2:g} {half + 16:g})">{name}{tile}</g>'
            yield text_svg(word, x, half + 118, 16, self.theme.faint, "middle")

    def plate(self, slot: int, place: Place) -> Iterator[str]:
        """Draw the plate of a side: who sits there, in upright text to the right of the river, with the flowers."""
        is_turn, theme = self.table.turn == slot, self.theme
        text, faint = (theme.panel, theme.panel) if is_turn else (theme.text, theme.faint)
        lines = [(place.name, 20, text), (counted(place.points, "point"), 17, text)]
        lines += [(f"{place.wind}{' · dealer' if place.is_dealer else ''}", 15, faint)]
        lines += [(f"{name.replace('_', ' ')} {value}", 15, faint) for name, value in place.counters]
        columns, scale = 6, _FLOWER_SCALE
        high = 24 * len(lines) + 14 + -(-len(place.flowers) // columns) * HEIGHT * scale
        across, down = _PLATES[slot]
        x = SIZE / 2 + (_HALF + 10 if across > 0 else -_HALF - _DEEP + 4)
        y = SIZE / 2 + (_HALF + 10 if down > 0 else -_HALF - 10 - high)
        fill = theme.text if is_turn else theme.panel
        yield f'<rect x="{x:g}" y="{y:g}" width="{_DEEP - 14}" height="{high:g}" rx="10" fill="{fill}"/>'
        for number, (line, size, colour) in enumerate(lines):
            yield text_svg(line, x + 10, y + 24 * (number + 1), size, colour)
        for number, kind in enumerate(place.flowers):
            row = Row(self.tile)
            row.tile(kind)
            at = number % columns * WIDTH * scale, number // columns * HEIGHT * scale
            yield _placed(row, x + 10 + at[0], y + 24 * len(lines) + 8 + at[1], scale)

    def side(self, slot: int, place: Place) -> Iterator[str]:
        """Draw the hand, melds and river of a side, as if it were the side below."""
        row = Row(self.tile)
        for kind in place.hand:
            row.tile(kind)
        if place.drawn is not None:
            row.gap(2 * _GAP)
            row.tile(place.drawn)
        for meld in place.melds:
            row.gap()
            row.meld(meld)
        scale = min(_HAND_SCALE, _HAND_LIMIT / max(row.width, 1))
        yield _placed(row, SIZE / 2 - row.width * scale / 2, _HAND_Y, scale)
        yield from self.river(slot, place)

    def river(self, slot: int, place: Place) -> Iterator[str]:
        """Draw the discards in rows of six; one that may be claimed has a ring, claimed ones are faint."""
        rows = max(_ROWS, -(-len(place.river) // _COLUMNS))
        scale = _ROWS / rows
        wide, high = WIDTH * scale, HEIGHT * scale
        offered = (*self.table.offered, self.table.is_robbed)
        for number, (kind, was_drawn, taken) in enumerate(place.river):
            row = Row(self.tile)
            row.tile(kind)
            x, y = SIZE / 2 - _HALF + number % _COLUMNS * wide, SIZE / 2 + _HALF + number // _COLUMNS * high
            tile = _placed(row, x, y, scale)
            box = f'x="{x + 1:g}" y="{y + 1:g}" width="{wide - 2:g}" height="{high - 2:g}" rx="6"'
            if taken:
                claimer = self.table.places[self.table.slot_after(slot, taken)]
                wind = text_svg(
                    claimer.wind[0] if claimer else "",
                    x + wide / 2,
                    y + high * 0.6,
                    30 * scale,
                    self.theme.text,
                    "middle",
                )
                tile = f'<g opacity="0.3">{tile}</g>{wind}'
            elif was_drawn:
                tile += f'<rect {box} fill="#000" fill-opacity="0.18"/>'
            if offered == (kind, slot, False) and number == len(place.river) - 1:
                tile += f'<rect {box} fill="none" stroke="{self.theme.accent}" stroke-width="5"/>'
            yield tile


def _placed(row: Row, x: float, y: float, scale: float) -> str:
    return f'<g transform="translate({x:g} {y:g}) scale({scale:.4g})">{row.svg}</g>' if row.svg else ""


_MARGIN: Final = 20
_LINE: Final = 30
_TEXT: Final = 20.0
_LEAST_WIDTH: Final = 640.0


def hand_svg(
    groups: Sequence[Sequence[int] | ShownMeld], *, wild: int = -1, lines: Sequence[str] = (), theme: str = "light"
) -> str:
    """Return the picture of a hand.

    Args:
        groups: kinds or declared sets, from the left, with a gap between them.
        wild: the wild kind, -1 for none.
        lines: lines of text below the tiles, drawn as outlines.
        theme: "light" or "dark".

    Returns:
        A complete SVG document; one pixel is one unit.

    Raises:
        MahjongError: there is no such theme.
    """
    colours = theme_named(theme)

    def draw(kind: int) -> str:
        return tile_svg(None if kind == HIDDEN else kind, theme=theme, is_wild=HIDDEN != kind == wild)

    row = Row(draw)
    for number, group in enumerate(groups):
        row.gap(24 if number else 0)
        if isinstance(group, ShownMeld):
            row.meld(group)
        else:
            for kind in group:
                row.tile(kind)
    width = max([row.width, _LEAST_WIDTH, *(text_width(line, _TEXT) for line in lines)]) + 2 * _MARGIN
    height = HEIGHT + 2 * _MARGIN + _LINE * len(lines) + (10 if lines else 0)
    text = "".join(
        text_svg(line, _MARGIN, _MARGIN + HEIGHT + 10 + _LINE * (number + 0.8), _TEXT, colours.text)
        for number, line in enumerate(lines)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img"><title>a hand</title><rect width="{width:g}" height="{height:g}" '
        f'fill="{colours.cloth}"/><g transform="translate({_MARGIN} {_MARGIN})">{row.svg}</g>{text}</svg>'
    )


def png_bytes(svg: str, width: int | None = None) -> bytes:
    """Return a picture as the bytes of a PNG file.

    Args:
        svg: a complete SVG document.
        width: the width in pixels; None for that of the document.

    Raises:
        MissingExtraError: resvg is not installed.
    """
    try:
        import resvg_py
    except ImportError:
        raise _missing("resvg-py") from None
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, width=width, skip_system_fonts=True))


def pixels(svg: str, width: int | None = None) -> NDArray[np.uint8]:
    """Return a picture as an array.

    Args:
        svg: a complete SVG document.
        width: the width in pixels; None for that of the document.

    Returns:
        [height, width, 3] uint8, red, green and blue; a new array.

    Raises:
        MissingExtraError: resvg or Pillow is not installed.
    """
    try:
        from PIL import Image
    except ImportError:
        raise _missing("pillow") from None
    image: Any = Image.open(io.BytesIO(png_bytes(svg, width)))
    return np.array(image.convert("RGB"))


def _missing(package: str) -> MissingExtraError:
    return MissingExtraError(f"pictures need {package}: pip install 'mahjong-env[render]'")
