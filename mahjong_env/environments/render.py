"""Render modes of environments: the table as text, as pixels, or shown to whoever is watching."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.errors import RenderModeError
from mahjong_env.drawing.events import last_event
from mahjong_env.drawing.picture import table_svg
from mahjong_env.drawing.raster import pixels
from mahjong_env.drawing.table import event_text, read_table
from mahjong_env.drawing.text import has_colour
from mahjong_env.drawing.text_table import meld_text, table_text
from mahjong_env.drawing.words import Reader, legal_text, outcome_text, rows_text, tiles_text
from mahjong_env.engine.batch import Engine
from mahjong_env.environments.screen import show

__all__ = [
    "RENDER_FPS",
    "RENDER_MODES",
    "Reader",
    "check_render_mode",
    "legal_text",
    "meld_text",
    "outcome_text",
    "render_game",
    "rows_text",
    "table_text",
    "tiles_text",
    "warn_without_render_mode",
]

RENDER_MODES: Final = ("ansi", "rgb_array", "human")
"""What environments of one game can render: text, pixels, and a picture or text that is shown."""
RENDER_FPS: Final = 2
"""Frames a second that a person can follow."""
_PICTURE_WIDTH: Final = 750


def check_render_mode(mode: str | None, valid: Sequence[str]) -> None:
    """Raise `RenderModeError` if a render mode is not None and not among the valid ones."""
    if mode is not None and not (isinstance(mode, str) and mode in valid):
        raise RenderModeError(f"render_mode={mode!r} is not valid; valid are {', '.join(map(repr, valid))} and None")


def warn_without_render_mode() -> None:
    """What environments say when they are asked to render without a mode."""
    warnings.warn(
        'render() shows nothing without a render mode: give render_mode="ansi", "rgb_array" or "human"', stacklevel=4
    )


def render_game(
    engine: Engine, game: int, mode: str | None, outcome: Mapping[str, Any] | None
) -> str | NDArray[np.uint8] | None:
    """What `render` of an environment gives, all hands open.

    Args:
        engine: the games.
        game: which one.
        mode: one of `RENDER_MODES`, or None.
        outcome: the hand that has just ended, if any (see `hand_info.hand_info`).

    Returns:
        Text for "ansi", of at most 80 columns, in colour where stdout is a terminal that has colours;
        [804, 750, 3] uint8 for "rgb_array"; None for "human", which shows the table (see `screen.show`), and for None,
        which warns.

    Raises:
        MissingExtraError: "rgb_array" without the extra `render`.
    """
    if mode is None:
        warn_without_render_mode()
        return None
    if mode == "ansi":
        return table_text(engine, game, outcome=outcome, colour=has_colour())
    if mode == "rgb_array":
        return pixels(_picture(engine, game, outcome), _PICTURE_WIDTH)
    show(
        lambda: _picture(engine, game, outcome),
        lambda: table_text(engine, game, outcome=outcome, colour=has_colour()),
        _PICTURE_WIDTH,
        RENDER_FPS,
    )
    return None


def _picture(engine: Engine, game: int, outcome: Mapping[str, Any] | None) -> str:
    return table_svg(read_table(engine, game), event=event_text(outcome) or last_event(engine, game))
