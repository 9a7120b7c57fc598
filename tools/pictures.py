"""The pictures of the documentation: ``make pictures`` draws them anew, always the same, and a test compares them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mahjong_env
from mahjong_agents import make_agent
from mahjong_env.drawing.picture import table_svg
from mahjong_env.drawing.table import read_table
from mahjong_env.drawing.tiles import THEMES
from tools.moving_pictures import write_games

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
LONG = 36  # some hands of every variant are longer than so many decisions


def pictures() -> dict[str, str]:
    """The contents of every picture, by file name."""
    made: dict[str, str] = {}
    for variant in sorted(mahjong_env.VARIANTS):
        made |= {f"{variant}-{theme}.svg": svg for theme, svg in drawn(variant, long_game(variant), LONG).items()}
    return made


def long_game(variant: str) -> int:
    """The first seed whose hand goes on after so many moves of greedy players, with melds on the table."""
    for seed in range(1000):
        engine = after(variant, seed, LONG)
        if engine.seat_to_act[0] >= 0 and engine.view().num_melds.sum() >= 4:
            return seed
    raise AssertionError(f"no hand of {variant} is long enough for a picture")


def after(variant: str, seed: int, moves: int) -> mahjong_env.Engine:
    """A game of greedy players after so many moves, or at its end."""
    engine, rng = mahjong_env.make_engine(variant, 1, seed=seed), np.random.default_rng(seed)
    agent = make_agent("greedy")
    for _ in range(moves):
        if engine.seat_to_act[0] < 0:
            break
        engine.step(agent.act(engine.view(), rng))
    return engine


def drawn(variant: str, seed: int, moves: int) -> dict[str, str]:
    """A position in every theme."""
    table = read_table(after(variant, seed, moves))
    return {theme: f"{table_svg(table, theme=theme)}\n" for theme in THEMES}


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures().items():
        (FOLDER / name).write_text(picture, encoding="utf-8")
        print(f"written: {FOLDER / name}")
    for file in write_games(FOLDER):
        print(f"written: {file}, {file.stat().st_size:,} bytes")
