"""Render modes of the environments: the table as text, as pixels, or redrawn in place on the terminal."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.errors import RenderModeError
from mahjong_env.drawing.picture import pixels, table_svg
from mahjong_env.drawing.table import read_table
from mahjong_env.drawing.text import event_text, has_colour, last_event, table_text
from mahjong_env.engine.batch import Engine
from mahjong_env.scoring.receipt import Receipt

RENDER_MODES: Final = ("ansi", "rgb_array", "human")
"""The render modes of environments of one game: text, pixels, and text printed to the terminal."""
RENDER_FPS: Final = 2
"""Frames per second at which a person can follow the game."""
_PICTURE_WIDTH: Final = 750
_HOME_AND_CLEAR: Final = "\x1b[H\x1b[J"
_last_frame = [0.0]


def check_render_mode(mode: str | None, valid: Sequence[str]) -> None:
    """Raise `RenderModeError` if a render mode is neither None nor among the valid ones."""
    if mode is not None and not (isinstance(mode, str) and mode in valid):
        raise RenderModeError(f"render_mode={mode!r} is not valid; valid are {', '.join(map(repr, valid))} and None")


def render_game(
    engine: Engine, game: int, mode: str | None, outcome: Mapping[str, Any] | None, receipt: Receipt | None = None
) -> str | NDArray[np.uint8] | None:
    """Render one game with all hands open.

    Args:
        engine: the games.
        game: the number of the game.
        mode: one of `RENDER_MODES`, or None.
        outcome: the hand that has just ended, if any (see `mahjong_env.engine.outcome.hand_info`).
        receipt: how the points of that hand add up, for texts.

    Returns:
        Text for "ansi", of at most 80 columns, in colour if stdout is a terminal that supports it; [804, 750, 3] uint8
        for "rgb_array"; None for "human", which prints the text (on a terminal in the place of the last one, at
        `RENDER_FPS` frames per second), and for None, which warns.

    Raises:
        MissingExtraError: "rgb_array" without the extra `render`.
    """
    if mode is None:
        modes = 'render_mode="ansi", "rgb_array" or "human"'
        warnings.warn(f"render() shows nothing without a render mode: give {modes}", stacklevel=3)
        return None
    if mode == "rgb_array":
        return pixels(game_svg(engine, game, outcome), _PICTURE_WIDTH)
    text = table_text(engine, game, outcome=outcome, receipt=receipt if outcome else None, colour=has_colour())
    if mode == "ansi":
        return text
    if not sys.stdout.isatty():
        print(text)
        return None
    print(f"{'' if os.environ.get('TERM') == 'dumb' else _HOME_AND_CLEAR}{text}", flush=True)
    time.sleep(max(0.0, _last_frame[0] + 1 / RENDER_FPS - time.monotonic()))
    _last_frame[0] = time.monotonic()
    return None


def game_svg(engine: Engine, game: int, outcome: Mapping[str, Any] | None) -> str:
    """Return the picture of one game with all hands open, as notebooks show environments; see `render_game`."""
    return table_svg(read_table(engine, game), event=event_text(outcome) or last_event(engine, game))
