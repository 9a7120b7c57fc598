"""Pages of the viewer, put together from the story as data, drawings of the tiles, a style sheet and scripts."""

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
"""The content security policy of a page, which loads nothing from outside."""
_LETTERS: Final = r"[\u3001-\u303f\u4e00-\u9fff\uff00-\uffef]+"
_CHINESE: Final = re.compile(rf"{_LETTERS}(?: {_LETTERS})*(?![^<]*>)")  # in the text, not within a tag
_MISSING: Final = object()


def viewer_html(record: GameRecord, review: Mapping[str, Any] | None = None) -> str:
    """Return a self-contained page that shows a match; it loads nothing from anywhere.

    Args:
        record: the match.
        review: what every choice was worth, from `mahjong_training.analysis.review_report.review_told`. The page then
            shows it, and hides each answer until it is asked for.

    Raises:
        RecordError: the record cannot be played, or does not end as it says.
    """
    rules, frames = record.rules, list(frames_of(record))
    scored = {row[0] for frame in frames for row in frame["event"].get("rows", ())}
    data: dict[str, Any] = {
        "title": rules.title,
        "chinese": rules.chinese,
        "knobs": dict(record.knobs),
        "agents": list(record.agents),
        # If exactly one person has played, the match is told from that person's side.
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
    """Yield the frames, each with only the changed parts of its table: the page shrinks to a quarter."""
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
    """Return a page with a table.

    Args:
        title: the title of the page.
        choices: the markup beside the button for the language.
        main: the markup in the middle.
        data: plain values for the element "data", where the script finds them, beside those that all pages need.
        script: the script that runs when the page has been read.
        policy: the content security policy of the page.
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
        # Names and notes may be anything: "</script" would end the element, "<!--<script" would swallow the next one.
        data=json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
        script=script,
    )
    return _framed(title, body, policy)


def document_html(title: str, body: str) -> str:
    """Return a page of text in the style of all pages, which loads and runs nothing.

    Args:
        title: the title of the page.
        body: the text, as markup; Chinese in it is marked as such.
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
    """Shows a match in a notebook, as the last line of a cell: ``show(record)`` or ``show("games.jsonl", match=2)``.

    Attributes:
        record: the match.
    """

    def __init__(self, record: GameRecord | str | PathLike[str], *, match: int = 1, height: int = 760) -> None:
        """Find the match.

        Args:
            record: the match, or a file of records.
            match: the number of the match in the file, from 1.
            height: the height of the frame, in pixels.

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
    """Return `viewer_html` in a frame for notebooks: ``IPython.display.HTML(notebook_html(record))``.

    Args:
        record: the match.
        height: the height of the frame, in pixels.
    """
    page = html.escape(viewer_html(record), quote=True)
    return f'<iframe srcdoc="{page}" style="width:100%;height:{height}px;border:0" title="mahjong viewer"></iframe>'


def part(name: str, folder: str = "viewer") -> str:
    """Return the text of one of the files that pages are made of."""
    return resources.files(f"mahjong_env.{folder}").joinpath(name).read_text("utf-8")


def symbols() -> str:
    """Return every tile as an SVG symbol, to which the script refers; kind -1 is the back."""
    return (
        "".join(
            f'<symbol id="tile{-1 if kind is None else kind}" viewBox="0 0 {WIDTH} {HEIGHT}">{tile_svg(kind)}</symbol>'
            for kind in (*range(NUM_ALL_KINDS), None)
        )
        + f'<symbol id="wild" viewBox="0 0 {WIDTH} {HEIGHT}">{wild_mark(THEMES["light"])}</symbol>'
    )
