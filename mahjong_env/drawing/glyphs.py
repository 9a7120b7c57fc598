"""Text as outlines, so that pictures look the same where no font is installed."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Literal

Anchor = Literal["start", "middle", "end"]

_UNKNOWN = "?"


@cache
def _glyphs() -> dict[str, tuple[int, str]]:
    """Return advance and outline by character, in units of which 1000 are the font size."""
    file = Path(__file__).with_name("glyphs.json")
    return {character: (width, path) for character, (width, path) in json.loads(file.read_text("utf-8")).items()}


def text_width(text: str, size: float) -> float:
    """The width of a line of text at this font size."""
    glyphs = _glyphs()
    return sum(glyphs.get(character, glyphs[_UNKNOWN])[0] for character in text) * size / 1000


def text_svg(text: str, x: float, y: float, size: float, fill: str, anchor: Anchor = "start") -> str:
    """A line of text as SVG outlines.

    Args:
        text: characters that ``glyphs.json`` does not hold are drawn as question marks.
        x: where the line starts, has its middle or ends, as ``anchor`` says.
        y: the base line.
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
