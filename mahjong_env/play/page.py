"""The page on which a person plays: the viewer's drawings, with a hand that can be clicked."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources

from mahjong_env.viewer.page import page_html, part


def play_html(told: Mapping[str, str]) -> str:
    """The page; it loads nothing, and asks the server that it came from for everything that happens.

    Args:
        told: what it says beside the game: "record", the file that matches are appended to.
    """
    data = {
        "told": dict(told),
        "agents": [],
        "hidesConcealedKongs": False,  # what is hidden has not been sent
    }
    style = part("page.css") + _own("page.css")
    return page_html("mahjong_env: play", _own("page.html"), style, data, part("table.js") + _own("page.js"))


def _own(name: str) -> str:
    return resources.files("mahjong_env.play").joinpath(name).read_text("utf-8")
