"""How notebooks show engines and views, which know nothing of drawing; importing `mahjong_env` sets it up."""

from __future__ import annotations

from html import escape

from mahjong_env.engine.batch import Engine
from mahjong_env.observation.view import View


def show_tables() -> None:
    """Let notebooks draw an engine's first game with all hands open, and a view's first row as its person sees it."""
    for shown, drawn in ((Engine, _first_game), (View, _first_row)):
        setattr(shown, "_repr_html_", drawn)  # noqa: B010 - a type checker knows it of neither


def _first_game(engine: Engine) -> str:
    from mahjong_env.environments.render import game_svg

    return f"<p>{escape(repr(engine))}</p>" + (game_svg(engine, 0, None) if engine.num_games else "")


def _first_row(view: View) -> str:
    from mahjong_env.drawing.picture import table_svg
    from mahjong_env.drawing.table import seen_table

    return f"<p>{escape(repr(view))}</p>" + (table_svg(seen_table(view)) if len(view) else "")
