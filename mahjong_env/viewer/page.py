"""Puts the page together: the story as data, the drawings of the tiles, one style sheet, one script."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from os import PathLike
from typing import Any, Final
from urllib.parse import quote

from mahjong_env.basics.tiles import KIND_NAMES, NUM_ALL_KINDS, RED
from mahjong_env.drawing.text import marks_in_words
from mahjong_env.drawing.tiles import HEIGHT, THEMES, WIDTH, tile_name, tile_svg, wild_mark
from mahjong_env.records import GameRecord, nth_record
from mahjong_env.viewer.story import DEALERS_SHARE, REASONS, Frame, examples_told, frames_of

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
"""The content policy of a page: it loads nothing but what it holds."""
_LETTERS: Final = r"[\u3001-\u303f\u4e00-\u9fff\uff00-\uffef]+"
_CHINESE: Final = re.compile(rf"{_LETTERS}(?: {_LETTERS})*(?![^<]*>)")  # in the text, not within a tag
_MISSING: Final = object()


def viewer_html(record: GameRecord, review: Mapping[str, Any] | None = None) -> str:
    """One self-contained page that shows a match; it loads nothing from anywhere.

    Args:
        record: the match.
        review: what every choice was worth, as `mahjong_training.analysis.review_report.review_told` tells it: then the
            page shows that, and hides each answer until it is asked for.

    Raises:
        RecordError: the record cannot be played, or ends otherwise than it says.
    """
    rules, frames = record.rules, list(frames_of(record))
    scored = {row[0] for frame in frames for row in frame["event"].get("rows", ())}
    data: dict[str, Any] = {
        "title": rules.title,
        "chinese": rules.chinese,
        "knobs": dict(record.knobs),
        "agents": list(record.agents),
        # Where one person has played, the match is told to that person.
        "person": record.agents.index("you") if record.agents.count("you") == 1 else None,
        "marks": marks_in_words(rules),
        "seats": rules.seats,
        "people": rules.people,
        "hidesConcealedKongs": rules.hides_concealed_kongs,
        "examples": {name: told for name, told in examples_told(rules).items() if name in scored},
        "frames": list(_changes(frames)),
        "review": review,
    }
    added = [] if review is None else ["review"]
    return page_html(
        f"{rules.title} mahjong",
        choices='<label><span data-say="view"></span> <select id="view"></select></label>',
        main=part("page.html"),
        data=data,
        script="".join(part(f"{name}.js") for name in ("table", "receipt", "page", *added)) + "start();\n",
    )


def _changes(frames: Iterable[Frame]) -> Iterator[Frame]:
    """The frames, each with as much of its table as differs from the one before: a quarter of the page."""
    before: dict[str, Any] = {}
    for frame in frames:
        table = frame["table"]
        changed = {name: value for name, value in table.items() if before.get(name, _MISSING) != value}
        if before and "places" in changed:
            both = enumerate(zip(before["places"], table["places"], strict=True))
            changed["places"] = {slot: _changed(then, now) for slot, (then, now) in both if then != now}
        yield frame | {"table": changed}
        before = table


def _changed(then: Mapping[str, Any] | None, now: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    if then is None or now is None:
        return now
    return {name: value for name, value in now.items() if then[name] != value}


def page_html(
    title: str, *, choices: str, main: str, data: Mapping[str, Any], script: str, policy: str = POLICY
) -> str:
    """Put a page with a table together.

    Args:
        title: of the page.
        choices: what stands beside the button for the language.
        main: what stands in the middle.
        data: what the script finds in the element "data", as plain values, beside what all pages need.
        script: what runs when the page has been read.
        policy: what the page may load, as browsers have it.
    """
    data = {
        "tileNames": [tile_name(kind) for kind in range(NUM_ALL_KINDS)],
        "kindNames": list(KIND_NAMES),
        "reasons": dict(REASONS),
        "dealersShare": DEALERS_SHARE,
        **data,
    }
    body = _filled(
        "table.html",
        tiles=symbols(),
        choices=choices,
        main=main.rstrip("\n"),
        # Names and notes are anybody's: "</script" would end the element, and "<!--<script" swallow the one behind it.
        data=json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
        script=script,
    )
    return _framed(title, body, policy)


def document_html(title: str, body: str) -> str:
    """A page to be read, which loads and runs nothing, in the style of all pages.

    Args:
        title: of the page.
        body: what it says, as markup; Chinese in it is marked as such.
    """
    marked = _CHINESE.sub(r'<span lang="zh">\g<0></span>', body)
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return _framed(title, f'<main class="text">\n{marked}\n</main>', policy)


def _framed(title: str, body: str, policy: str) -> str:
    icon = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">{tile_svg(RED)}</svg>'
    texts = {"policy": policy, "title": html.escape(title), "icon": quote(icon), "style": part("style.css")}
    return _filled("frame.html", **texts, body=body)


def _filled(name: str, **texts: str) -> str:
    return re.sub(r"@@(\w+)@@", lambda hole: texts[hole[1]], part(name))


class show:  # noqa: N801  (used as a function)
    """A match inline in a notebook, as a cell's last line: ``show(record)``, or ``show("games.jsonl", match=2)``.

    Attributes:
        record: the match.
    """

    def __init__(self, record: GameRecord | str | PathLike[str], *, match: int = 1, height: int = 760) -> None:
        """Find the match.

        Args:
            record: the match, or a file of records.
            match: which one of the file, from 1.
            height: of the frame, in pixels.

        Raises:
            RecordError: the file cannot be read, or has no such match.
        """
        self.record = record if isinstance(record, GameRecord) else nth_record(record, match)
        self._height = height

    def _repr_html_(self) -> str:
        return notebook_html(self.record, self._height)

    def __repr__(self) -> str:
        played = self.record
        return f"<a match of {played.variant}, {len(played.actions)} actions: shown in a notebook>"


def notebook_html(record: GameRecord, height: int = 760) -> str:
    """The same page as a frame to be shown in a notebook: ``IPython.display.HTML(notebook_html(record))``.

    Args:
        record: the match.
        height: of the frame, in pixels.
    """
    page = html.escape(viewer_html(record), quote=True)
    return f'<iframe srcdoc="{page}" style="width:100%;height:{height}px;border:0" title="mahjong viewer"></iframe>'


def part(name: str, folder: str = "viewer") -> str:
    """One of the files that pages are made of."""
    return resources.files(f"mahjong_env.{folder}").joinpath(name).read_text("utf-8")


def symbols() -> str:
    """Every tile once, to be referred to by the script; kind -1 is the back."""
    return (
        "".join(
            f'<symbol id="tile{-1 if kind is None else kind}" viewBox="0 0 {WIDTH} {HEIGHT}">{tile_svg(kind)}</symbol>'
            for kind in (*range(NUM_ALL_KINDS), None)
        )
        + f'<symbol id="wild" viewBox="0 0 {WIDTH} {HEIGHT}">{wild_mark(THEMES["light"])}</symbol>'
    )
