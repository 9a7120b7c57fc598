"""Puts the page together: the story as data, the drawings of the tiles, one style sheet, one script."""

from __future__ import annotations

import html
import json
from importlib import resources
from typing import Any

from mahjong_env.basics.tiles import NUM_ALL_KINDS
from mahjong_env.drawing.tiles import HEIGHT, WIDTH, tile_name, tile_svg
from mahjong_env.records import GameRecord
from mahjong_env.viewer.story import frames_of


def viewer_html(record: GameRecord) -> str:
    """One self-contained page that shows a match; it loads nothing from anywhere.

    Args:
        record: the match.

    Raises:
        RecordError: the record cannot be played, or ends otherwise than it says.
    """
    rules = record.rules
    data: dict[str, Any] = {
        "title": rules.title,
        "chinese": rules.chinese,
        "knobs": dict(record.knobs),
        "agents": list(record.agents),
        "seats": rules.seats,
        "people": rules.people,
        "hidesConcealedKongs": rules.hides_concealed_kongs,
        "tileNames": [tile_name(kind) for kind in range(NUM_ALL_KINDS)],
        "frames": list(frames_of(record)),
    }
    script = part("table.js") + part("page.js")
    return page_html(f"{rules.title} mahjong", part("page.html"), part("page.css"), data, script)


def page_html(title: str, body: str, style: str, data: Any, script: str) -> str:
    """Put a page together.

    Args:
        title: of the page.
        body: the document, with ``@@title@@``, ``@@style@@``, ``@@tiles@@``, ``@@data@@`` and ``@@script@@`` in it.
        style: style sheets.
        data: what the script finds in the element "data", as plain values.
        script: what runs when the page has been read.
    """
    for name, text in {
        "title": html.escape(title),
        "style": style,
        "tiles": symbols(),
        # "</" would end the script element that holds the data.
        "data": json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("</", "<\\/"),
        "script": script,
    }.items():
        body = body.replace(f"@@{name}@@", text, 1)
    return body


def notebook_html(record: GameRecord, height: int = 760) -> str:
    """The same page as a frame to be shown in a notebook: ``IPython.display.HTML(notebook_html(record))``.

    Args:
        record: the match.
        height: of the frame, in pixels.
    """
    page = html.escape(viewer_html(record), quote=True)
    return f'<iframe srcdoc="{page}" style="width:100%;height:{height}px;border:0" title="mahjong viewer"></iframe>'


def part(name: str) -> str:
    """One of the files that pages are made of."""
    return resources.files("mahjong_env.viewer").joinpath(name).read_text("utf-8")


def symbols() -> str:
    """Every tile once, to be referred to by the script; kind -1 is the back."""
    return "".join(
        f'<symbol id="tile{-1 if kind is None else kind}" viewBox="0 0 {WIDTH} {HEIGHT}">{tile_svg(kind)}</symbol>'
        for kind in (*range(NUM_ALL_KINDS), None)
    )
