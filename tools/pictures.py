"""Draws the pictures of the documentation: ``make pictures``.

They are always the same, and a test compares them. There is a table of every variant as SVG, and a hand as an animated
GIF, light and dark, whose comment is a hash of its drawings.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import mahjong_env
from mahjong_agents import make_agent
from mahjong_env.basics.tiles import GREEN
from mahjong_env.drawing.picture import png_bytes, table_svg
from mahjong_env.drawing.table import read_table
from mahjong_env.drawing.text import event_text, last_event
from mahjong_env.drawing.tiles import HEIGHT, THEMES, text_svg, tile_svg
from mahjong_env.drawing.tiles import WIDTH as WIDTH_OF_TILE
from mahjong_env.engine.outcome import hand_info

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
LOGO = Path(__file__).parents[1] / "docs" / "static" / "logo.svg"
MOVES = 36  # moves before the picture of a table; some hands of every variant are longer
VARIANT, SEED = "wuhan", 11  # the hand of the animated picture
WIDTH, COLOURS = 560, 48
FRAME, LAST_FRAME = 450, 4000  # milliseconds


def positions(variant: str, seed: int) -> Iterator[tuple[mahjong_env.Engine, str]]:
    """Yield every position of a hand of greedy players, with what has just happened; the last one is its end."""
    engine, rng = mahjong_env.make_engine(variant, 1, seed=seed), np.random.default_rng(seed)
    agent = make_agent("greedy")
    while engine.seat_to_act[0] >= 0:
        yield engine, last_event(engine)
        result = engine.step(agent.act(engine.view(), rng))
    yield engine, event_text(hand_info(result.outcome, 0))


def pictures() -> dict[str, str]:
    """Return the picture of a table of every variant in every theme, by file name.

    Each shows the first seed whose hand is not over after `MOVES` moves and has at least four melds on the table.
    """
    made: dict[str, str] = {}
    for variant in sorted(mahjong_env.VARIANTS):
        for seed in range(1000):
            engine = next((one for move, (one, _) in enumerate(positions(variant, seed)) if move == MOVES), None)
            if engine is not None and engine.seat_to_act[0] >= 0 and engine.view().num_melds.sum() >= 4:
                break
        else:
            raise AssertionError(f"no hand of {variant} is long enough for a picture")
        table = read_table(engine)
        made |= {f"{variant}-{theme}.svg": f"{table_svg(table, theme=theme)}\n" for theme in THEMES}
    return made


def logo() -> str:
    """Return the icon of the site: a Green Dragon (發, prosperity)."""
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH_OF_TILE} {HEIGHT}">{tile_svg(GREEN)}</svg>\n'


def card() -> str:
    """Return the picture that other sites show beside links to the site."""
    kinds = (4, 5, 6, 11, 11, 26, GREEN)
    tiles = "".join(
        f'<g transform="translate({110 + 142 * place} 330) scale(2.2)">{tile_svg(kind)}</g>'
        for place, kind in enumerate(kinds)
    )
    words = text_svg("mahjong_env", 110, 170, 96, "#ffffff") + text_svg(
        "the reinforcement-learning environment for Chinese regional mahjong", 110, 250, 33, "#d7e5dd"
    )
    ground = '<rect width="1200" height="630" fill="#1f5c45"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="630">{ground}{words}{tiles}</svg>'


@cache
def frames(theme: str) -> tuple[str, ...]:
    """Return the drawings of the animated picture, as SVG."""
    return tuple(table_svg(read_table(engine), theme=theme, event=event) for engine, event in positions(VARIANT, SEED))


def fingerprint(theme: str) -> str:
    """Return the comment that the animated picture would have if it were made now."""
    return hashlib.sha256("".join(frames(theme)).encode()).hexdigest()


def fingerprint_of(path: Path) -> str:
    """Return the comment of an animated picture."""
    from PIL import Image

    with Image.open(path) as image:
        return bytes(image.info["comment"]).decode()


def write_moving(path: Path, theme: str) -> None:
    """Write the hand as an animated GIF that repeats."""
    from PIL import Image

    shown: list[Any] = [Image.open(io.BytesIO(png_bytes(svg, WIDTH))).convert("RGB") for svg in frames(theme)]
    palette = shown[-1].quantize(COLOURS, method=Image.Quantize.MEDIANCUT)  # one for all frames, so that none flickers
    first, *rest = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in shown]
    durations, comment = [FRAME] * len(rest) + [LAST_FRAME], fingerprint(theme).encode()
    options = {"save_all": True, "append_images": rest, "duration": durations, "loop": 0, "optimize": True}
    first.save(path, "GIF", comment=comment, **options)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures().items():
        (FOLDER / name).write_text(picture, encoding="utf-8")
    for theme in THEMES:
        write_moving(FOLDER / f"game-{theme}.gif", theme)
    LOGO.write_text(logo(), encoding="utf-8")
    LOGO.with_name("card.png").write_bytes(png_bytes(card()))
    print(f"written: {FOLDER}, {LOGO.parent}")
