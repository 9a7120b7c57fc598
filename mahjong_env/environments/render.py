"""Render modes of environments: the table as text, as pixels, or shown on the screen.

The mode "human" opens a window, which needs a screen, Tk (which comes with most Pythons) and the extra `render`.
Without one of them, and wherever ``MAHJONG_ENV_WINDOW=0`` asks for it, the table is text: drawn in its place on a
terminal, one table after the other where stdout is a file.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.errors import MissingExtraError, RenderModeError
from mahjong_env.drawing.picture import pixels, png_bytes, table_svg
from mahjong_env.drawing.table import event_text, read_table
from mahjong_env.drawing.text import (
    has_colour,
    last_event,
    table_text,
)
from mahjong_env.engine.batch import Engine

RENDER_MODES: Final = ("ansi", "rgb_array", "human")
"""The render modes of environments of one game: text, pixels, and a picture or text that is shown."""
RENDER_FPS: Final = 2
"""Frames a second that a person can follow."""
_PICTURE_WIDTH: Final = 750


def check_render_mode(mode: str | None, valid: Sequence[str]) -> None:
    """Raise `RenderModeError` if a render mode is not None and not among the valid ones."""
    if mode is not None and not (isinstance(mode, str) and mode in valid):
        raise RenderModeError(f"render_mode={mode!r} is not valid; valid are {', '.join(map(repr, valid))} and None")


def warn_without_render_mode() -> None:
    """Warn that an environment without a render mode shows nothing."""
    warnings.warn(
        'render() shows nothing without a render mode: give render_mode="ansi", "rgb_array" or "human"', stacklevel=4
    )


def render_game(
    engine: Engine, game: int, mode: str | None, outcome: Mapping[str, Any] | None
) -> str | NDArray[np.uint8] | None:
    """Render one game, all hands open.

    Args:
        engine: the games.
        game: which one.
        mode: one of `RENDER_MODES`, or None.
        outcome: the hand that has just ended, if any (see `mahjong_env.engine.outcome.hand_info`).

    Returns:
        Text for "ansi", of at most 80 columns, in colour where stdout is a terminal that has colours;
        [804, 750, 3] uint8 for "rgb_array"; None for "human", which shows the table (see `show`), and for None,
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


_SWITCH: Final = "MAHJONG_ENV_WINDOW"
_HOME_AND_CLEAR: Final = "\x1b[H\x1b[J"


def show(picture: Callable[[], str], text: Callable[[], str], width: int, fps: float) -> None:
    """Show a table on the screen.

    Args:
        picture: draws it as an SVG document.
        text: writes it as lines.
        width: of the picture, in pixels.
        fps: frames a second; the call takes as long as a frame does, unless stdout is a file.
    """
    window = _the_window()
    if window is not None and window.show(picture(), width):
        _pause(fps, window.breathe)
    elif sys.stdout.isatty():
        clear = "" if os.environ.get("TERM") == "dumb" else _HOME_AND_CLEAR
        print(f"{clear}{text()}", flush=True)
        _pause(fps, time.sleep)
    else:
        print(text())


_last_frame = [0.0]


def _pause(fps: float, wait: Callable[[float], None]) -> None:
    """Let the last frame stand for its time."""
    wait(max(0.0, _last_frame[0] + 1 / fps - time.monotonic()))
    _last_frame[0] = time.monotonic()


class _Window:
    """One window for all environments of a process."""

    def __init__(self, tkinter: Any) -> None:
        self._root = tkinter.Tk()
        self._root.title("mahjong_env")
        self._label = tkinter.Label(self._root, borderwidth=0)
        self._label.pack()
        self._image: Any = None
        self._new_image = tkinter.PhotoImage
        self._is_open = True
        self._root.protocol("WM_DELETE_WINDOW", self._close)

    def _close(self) -> None:
        self._is_open = False
        self._root.destroy()

    def show(self, svg: str, width: int) -> bool:
        """Show a picture; False if the person has closed the window."""
        if self._is_open:
            self._image = self._new_image(data=b64encode(png_bytes(svg, width)), format="png", master=self._root)
            self._label.configure(image=self._image)
            self._root.update()
        return self._is_open

    def breathe(self, seconds: float) -> None:
        """Wait, and let the window be moved and closed meanwhile."""
        until = time.monotonic() + seconds
        while self._is_open and time.monotonic() < until:
            self._root.update()
            time.sleep(0.02)


@cache
def _the_window() -> _Window | None:
    """The window of this process, opened when it is first asked for; None where there can be none."""
    has_screen = sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if os.environ.get(_SWITCH) == "0" or not has_screen:
        return None
    try:
        import tkinter

        png_bytes('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>')
        return _Window(tkinter)
    except (ImportError, MissingExtraError, RuntimeError):
        return None
    except tkinter.TclError:  # a screen that cannot be reached
        return None
