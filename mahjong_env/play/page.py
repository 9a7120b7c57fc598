"""The page on which a person plays: the viewer's drawings, with a hand that can be clicked."""

from __future__ import annotations

from importlib import resources
from typing import Final

from mahjong_env.viewer.page import POLICY, page_html, part

PAGE_POLICY: Final = f"{POLICY}; connect-src 'self'"


def play_html() -> str:
    """The page; it loads nothing, and asks the server that it came from for everything that happens."""
    data = {
        "agents": [],
        "hidesConcealedKongs": False,  # what is hidden has not been sent
    }
    return page_html(
        "mahjong_env: play",
        choice="pace",
        main=_own("page.html"),
        style=part("page.css") + _own("page.css"),
        data=data,
        script=part("table.js") + _own("page.js"),
        policy=PAGE_POLICY,
    )


def _own(name: str) -> str:
    return resources.files("mahjong_env.play").joinpath(name).read_text("utf-8")
