"""Extract the outlines of the characters that pictures use from two fonts: ``python tools/glyphs.py``.

Pictures contain outlines instead of text, so that they look the same everywhere, without any font installed. The
outlines come from Noto Serif CJK TC Bold (Chinese) and Noto Sans Bold (Latin), both under the SIL Open Font License,
whose text is in ``OFL.txt`` beside ``glyphs.json``. The command needs fonttools and the two fonts (on Debian
``fonts-noto-cjk`` and ``fonts-noto-core``).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

CHINESE = (
    "一二三四五六七八九萬東南西北中發白梅蘭菊竹春夏秋冬武汉杭州河北台灣十六張麻将將福州国标庄家老连牌墙财神金赖癞子胡和"
)
LATIN = "".join(chr(code) for code in range(32, 127)) + "·±×…"
OUTPUT = Path(__file__).parents[1] / "mahjong_env" / "drawing" / "glyphs.json"


def outlines(font: Any, characters: str) -> dict[str, list[Any]]:
    """Return the advance and the outline of each character of a font, in thousandths of the font size."""
    from fontTools.pens.svgPathPen import SVGPathPen
    from fontTools.pens.transformPen import TransformPen

    glyphs, names = font.getGlyphSet(), font.getBestCmap()
    scale = 1000 / font["head"].unitsPerEm
    found = {}
    for character in sorted(set(characters)):
        if ord(character) not in names:
            raise SystemExit(f"the font has no {character!r}")
        glyph = glyphs[names[ord(character)]]
        pen = SVGPathPen(glyphs, ntos=lambda number: str(round(number)))
        glyph.draw(TransformPen(pen, (scale, 0, 0, -scale, 0, 0)))
        found[character] = [round(glyph.width * scale), pen.getCommands()]
    return found


def main() -> None:
    """Write ``glyphs.json``."""
    from fontTools.ttLib import TTCollection, TTFont

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cjk", type=Path, required=True, help="NotoSerifCJK-Bold.ttc")
    parser.add_argument("--latin", type=Path, required=True, help="NotoSans-Bold.ttf")
    told = parser.parse_args()
    chinese = next(font for font in TTCollection(told.cjk).fonts if "TC" in font["name"].getDebugName(4))
    glyphs = outlines(TTFont(told.latin), LATIN) | outlines(chinese, CHINESE)
    OUTPUT.write_text(json.dumps(glyphs, ensure_ascii=False, indent=0, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
