"""A Sphinx extension: tiles that pages write as Unicode characters are drawn on the site, by `mahjong_env.drawing`.

On GitHub and on a terminal the characters themselves are seen, if a font has them; the site needs no font. Each tile
that a page shows is drawn once, at its end, and referred to wherever it stands.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from mahjong_env.basics.tiles import GLYPHS, KIND_NAMES
from mahjong_env.drawing.tiles import HEIGHT, WIDTH, tile_name, tile_svg

_BACK = "\U0001f02b"
_NAMES = {glyph.rstrip("\ufe0e"): KIND_NAMES[kind] for kind, glyph in enumerate(GLYPHS)} | {_BACK: "back"}
_SPOKEN = {glyph.rstrip("\ufe0e"): tile_name(kind) for kind, glyph in enumerate(GLYPHS)} | {_BACK: "hidden tile"}
_MOST_OF_A_SET = 4
_TILE = re.compile(f"([{''.join(_NAMES)}])\ufe0e?")


class DrawTiles(SphinxPostTransform):
    """Puts drawings in the place of characters."""

    default_priority = 20  # before code is coloured
    formats: ClassVar[tuple[str, ...]] = ("html",)

    def run(self, **_: Any) -> None:
        """Draw the tiles of one page."""
        shown: set[str] = set()
        for text in [found for found in self.document.findall(nodes.Text) if _TILE.search(found)]:
            shown |= set(_TILE.findall(text))
            block = text.parent
            if isinstance(block, nodes.literal_block):
                drawn = "".join(part if is_tile else html.escape(part) for part, is_tile in _parts(text))
                block.replace_self(_raw(f'<div class="highlight drawn-hand"><pre>{drawn}</pre></div>'))
            else:
                drawn_parts = [_raw(part) if is_tile else nodes.Text(part) for part, is_tile in _sets(_parts(text))]
                text.parent.replace(text, drawn_parts)
        if shown:
            self.document += _raw(_sprite(shown))


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the text between tiles, and each tile as a reference to its drawing."""
    for number, part in enumerate(_TILE.split(text)):
        if number % 2:
            label = f'role="img" aria-label="{_SPOKEN[part]}"'
            picture = f'<use href="#tile-{_NAMES[part]}"/>'
            yield f'<svg class="tile" viewBox="0 0 {WIDTH} {HEIGHT}" {label}>{picture}</svg>', True
        elif part:
            yield part, False


def _sets(parts: Iterator[tuple[str, bool]]) -> Iterator[tuple[str, bool]]:
    """Yield the same with up to four tiles in a row as one: a line does not break within a set."""
    for is_tile, run in groupby(parts, key=itemgetter(1)):
        drawn = [part for part, _ in run]
        if is_tile and 1 < len(drawn) <= _MOST_OF_A_SET:
            yield f'<span class="set">{"".join(drawn)}</span>', True
        else:
            yield from ((part, is_tile) for part in drawn)


def _sprite(shown: set[str]) -> str:
    kinds = {glyph.rstrip("\ufe0e"): kind for kind, glyph in enumerate(GLYPHS)}
    faces = "".join(f'<g id="tile-{_NAMES[glyph]}">{tile_svg(kinds.get(glyph))}</g>' for glyph in sorted(shown))
    return f'<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>{faces}</defs></svg>'


def _raw(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.add_post_transform(DrawTiles)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
