"""Screenshots of the viewer in a headless Chromium, wide and narrow; without one they stay as they are."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import mahjong_env
from agents import make_agent
from mahjong_env.records import GameRecord, Recorder
from mahjong_env.viewer import viewer_html

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
VARIANT, SEED, STEP = "wuhan", 11, 40
SIZES = {"viewer-wide": (1200, 664), "viewer-narrow": (500, 820)}
MARGIN = 200  # below what is kept: Chromium leaves the last lines of a window unpainted
COLOURS = 96


def record() -> GameRecord:
    """A match of three hands, played by greedy."""
    engine, rng = mahjong_env.make_engine(VARIANT, 1, seed=SEED, num_hands=3), np.random.default_rng(SEED)
    agent, found = make_agent("greedy"), []
    recorder = Recorder(engine, found.append, agents=["greedy"] * 4)
    while not found:
        recorder.step(agent.act(engine.view(), rng))
    return found[0]


def write_screenshots(folder: Path) -> Iterator[Path]:
    """Write the pictures; yield their files."""
    from PIL import Image

    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.stderr.write(f"no {BROWSERS[0]} found: the pictures of the viewer stay as they are\n")
        return
    with tempfile.TemporaryDirectory() as scratch:
        page = Path(scratch, "game.html")
        page.write_text(viewer_html(record()), encoding="utf-8")
        for name, (width, height) in SIZES.items():
            shot = Path(scratch, f"{name}.png")
            command = [browser, "--headless=new", "--no-sandbox", "--hide-scrollbars", "--virtual-time-budget=3000"]
            command += [f"--window-size={width},{height + MARGIN}", f"--screenshot={shot}", f"{page.as_uri()}#{STEP}"]
            subprocess.run(command, check=True, capture_output=True, timeout=120)
            file = io.BytesIO()
            with Image.open(shot) as image:
                image.convert("RGB").crop((0, 0, width, height)).quantize(COLOURS).save(file, "PNG", optimize=True)
            path = folder / f"{name}.png"
            path.write_bytes(file.getvalue())
            yield path
