"""The render mode "human": a picture in a window where there is a screen, else text that is drawn again in its place.

A window needs a screen, Tk (which comes with most Pythons) and the extra `render`. Without one of them, and wherever
``MAHJONG_ENV_WINDOW=0`` asks for it, the table is text: drawn in its place on a terminal, one table after the other
where stdout is a file. Whoever watches is given time: as many frames a second as the environment's ``render_fps``.
"""

from __future__ import annotations

import os
import sys
import time
from base64 import b64encode
from collections.abc import Callable
from typing import Any, Final

from mahjong_env.basics.errors import MissingExtraError
from mahjong_env.drawing.raster import png_bytes

_SWITCH: Final = "MAHJONG_ENV_WINDOW"
_HOME_AND_CLEAR: Final = "\x1b[H\x1b[J"


def show(picture: Callable[[], str], text: Callable[[], str], width: int, fps: float) -> None:
    """Show a table to whoever is watching.

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


_window: list[_Window | None] = []


def _the_window() -> _Window | None:
    """The window, opened when it is first asked for; None where there can be none."""
    if not _window:
        _window.append(_open_window())
    return _window[0]


def _open_window() -> _Window | None:
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
