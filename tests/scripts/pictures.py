"""The pictures of the documentation: ``make pictures`` draws them anew, always the same, and a test compares them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mahjong_env
from agents import make_agent
from mahjong_env.drawing.picture import table_svg
from mahjong_env.drawing.table import read_table
from mahjong_env.drawing.themes import THEMES

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
VARIANT, SEED, MOVES = "wuhan", 3, 58


def pictures() -> dict[str, str]:
    """The contents of every picture, by file name."""
    engine, rng = mahjong_env.make_engine(VARIANT, 1, seed=SEED), np.random.default_rng(SEED)
    agent = make_agent("greedy")
    for _ in range(MOVES):
        engine.step(agent.act(engine.view(), rng))
    table = read_table(engine)
    return {f"table-{theme}.svg": f"{table_svg(table, theme=theme)}\n" for theme in THEMES}


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures().items():
        (FOLDER / name).write_text(picture, encoding="utf-8")
        print(f"written: {FOLDER / name}")
