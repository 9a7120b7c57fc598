"""A hand as an animated GIF, light and dark; a fingerprint of the drawings in its comment says what it shows."""

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
from mahjong_env.drawing.picture import png_bytes, table_svg
from mahjong_env.drawing.table import event_text, read_table
from mahjong_env.drawing.text import last_event
from mahjong_env.drawing.tiles import THEMES
from mahjong_env.engine.outcome import hand_info

VARIANT, SEED = "wuhan", 11
WIDTH, COLOURS = 560, 48
FRAME, LAST_FRAME = 450, 4000  # milliseconds


@cache
def frames(theme: str) -> tuple[str, ...]:
    """Every position of a hand of greedy players, as SVG, with what has just happened."""
    engine, rng = mahjong_env.make_engine(VARIANT, 1, seed=SEED), np.random.default_rng(SEED)
    agent, drawn = make_agent("greedy"), []
    while engine.seat_to_act[0] >= 0:
        drawn.append(table_svg(read_table(engine), theme=theme, event=last_event(engine)))
        result = engine.step(agent.act(engine.view(), rng))
    drawn.append(table_svg(read_table(engine), theme=theme, event=event_text(hand_info(result.outcome, 0))))
    return tuple(drawn)


def fingerprint(theme: str) -> str:
    """What a picture that is made now would bear."""
    return hashlib.sha256("".join(frames(theme)).encode()).hexdigest()


def write_games(folder: Path) -> Iterator[Path]:
    """Write the pictures; yield their files."""
    for theme in THEMES:
        path = folder / f"game-{theme}.gif"
        path.write_bytes(gif(theme))
        yield path


def gif(theme: str) -> bytes:
    """The hand as an animated GIF that begins again after its end."""
    from PIL import Image

    shown: list[Any] = [Image.open(io.BytesIO(png_bytes(svg, WIDTH))).convert("RGB") for svg in frames(theme)]
    palette = shown[-1].quantize(COLOURS, method=Image.Quantize.MEDIANCUT)  # one for all: nothing flickers
    first, *rest = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in shown]
    file = io.BytesIO()
    durations = [FRAME] * len(rest) + [LAST_FRAME]
    first.save(
        file,
        "GIF",
        save_all=True,
        append_images=rest,
        duration=durations,
        loop=0,
        optimize=True,
        comment=fingerprint(theme).encode(),
    )
    return file.getvalue()


def fingerprint_of(path: Path) -> str:
    """What a picture bears."""
    from PIL import Image

    with Image.open(path) as image:
        return bytes(image.info["comment"]).decode()
