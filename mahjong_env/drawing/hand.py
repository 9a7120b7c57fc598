"""One hand as a picture: concealed tiles, melds, flowers and the winning tile, with lines of text below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mahjong_env.drawing.glyphs import text_svg, text_width
from mahjong_env.drawing.picture import Row
from mahjong_env.drawing.table import HIDDEN, ShownMeld
from mahjong_env.drawing.themes import theme_named
from mahjong_env.drawing.tiles import HEIGHT, tile_svg

_MARGIN: Final = 20
_LINE: Final = 30
_TEXT: Final = 20.0
_LEAST_WIDTH: Final = 640.0


@dataclass(frozen=True)
class ShownHand:
    """A hand to be drawn.

    Attributes:
        tiles: its concealed kinds, without the winning tile.
        winning_tile: the kind that completes it; None: none.
        melds: declared sets.
        flowers: exposed flowers.
        wild: the wild kind, -1 for none.
    """

    tiles: tuple[int, ...]
    winning_tile: int | None = None
    melds: tuple[ShownMeld, ...] = ()
    flowers: tuple[int, ...] = ()
    wild: int = -1


@dataclass(frozen=True)
class _Tiles:
    theme: str
    wild: int

    def tile(self, kind: int) -> str:
        is_wild = kind == self.wild and kind != HIDDEN
        return tile_svg(None if kind == HIDDEN else kind, theme=self.theme, is_wild=is_wild)


def hand_svg(hand: ShownHand, *, lines: Sequence[str] = (), theme: str = "light") -> str:
    """The picture of a hand.

    Args:
        hand: what is drawn: concealed tiles, the winning tile, melds, flowers, from the left.
        lines: written below, as outlines.
        theme: "light" or "dark".

    Returns:
        A whole SVG document; one pixel is one unit.

    Raises:
        MahjongError: no such theme.
    """
    colours = theme_named(theme)
    row = Row(_Tiles(theme, hand.wild))
    for kind in hand.tiles:
        row.tile(kind)
    if hand.winning_tile is not None:
        row.gap(24)
        row.tile(hand.winning_tile)
    for meld in hand.melds:
        row.gap(24)
        row.meld(meld)
    for number, kind in enumerate(hand.flowers):
        row.gap(0 if number else 24)
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
