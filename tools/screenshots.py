"""Takes the screenshots of the documentation: ``make screenshots``.

It needs Chromium with its driver, selenium, rich and Pillow. The same seeds give the same games, but the letters depend
on the fonts of the machine, so that no test compares the pictures.
"""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from PIL import Image
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import mahjong_env
from mahjong_agents import make_agent
from mahjong_env.drawing.text import WIDTH, table_text
from mahjong_env.environments.agents import ask
from mahjong_env.play.match import PersonsMatch
from mahjong_env.play.server import PlayServer
from mahjong_env.records import GameRecord, Recorder
from mahjong_env.viewer import viewer_html
from mahjong_training.analysis.review import Review
from mahjong_training.analysis.review_report import html_text
from mahjong_training.config import ReviewConfig
from support.browser import NARROW, WIDE, chromium, wait
from support.playing import AT_ONCE, READY, advised

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
MOVING, MOVING_STEPS, MOVING_SEED = (1100, 940), 16, 7
REVIEW_SEED = 12


def shot(browser: Any) -> Image.Image:
    """Return what the browser shows."""
    return Image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("RGB")


def save(name: str, *pictures: Image.Image) -> None:
    """Write pictures side by side into one file, with few colours to keep it small."""
    gap = 16 * (len(pictures) > 1)
    size = sum(one.width + gap for one in pictures) - gap, max(one.height for one in pictures)
    page, left = Image.new("RGB", size, "white"), 0
    for one in pictures:
        page.paste(one, (left, 0))
        left += one.width + gap
    page.quantize(128).save(FOLDER / name, optimize=True)
    print(f"written: {FOLDER / name}")


def play_pages() -> None:
    """Take the play page: wide with a hint; narrow at a claim, at the end of a hand and at the end of the match."""
    rules, agent = mahjong_env.rules("wuhan"), make_agent("greedy")

    def new_match() -> PersonsMatch:
        return PersonsMatch(rules, [None, agent, agent, agent], seed=7, num_hands=2, hints=agent)

    with PlayServer(new_match) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with chromium(WIDE) as browser:
            steps(browser, server.url, lambda legal, count: count == 8)
            browser.find_element("id", "hint").click()
            wait(browser, "document.querySelector('#hints table')")
            save("play-wide.png", shot(browser))
        with chromium(NARROW) as browser:
            steps(browser, server.url, lambda legal, count: count > 6 and "pung" in legal)
            claim = shot(browser)
            steps(browser, "", lambda legal, count: not legal)
            browser.execute_script("document.getElementById('ask').scrollIntoView({block: 'start'})")
            end = shot(browser)
            browser.find_element("id", "next").click()
            steps(browser, "", lambda legal, count: not legal)
            browser.execute_script("document.getElementById('language').click()")
            save("play-narrow.png", claim, end, shot(browser))
        server.shutdown()


def steps(browser: Any, url: str, is_there: Callable[[list[str], int], bool]) -> None:
    """Play as the greedy agent does until a condition on the legal actions and the number of answers is true."""
    if url:
        browser.get(url)
        wait(browser, READY)
        browser.execute_script(AT_ONCE)
    advised(browser, is_there)


def recorded(variant: str, seed: int, names: list[str], *, agent: str = "greedy", hands: int = 1) -> GameRecord:
    """Return a match of one agent in all seats, under the given names, with its reasons for its choices."""
    engine, rng = mahjong_env.make_engine(variant, 1, seed=seed, num_hands=hands), np.random.default_rng(seed)
    player, records = make_agent(agent), list[GameRecord]()
    recorder = Recorder(engine, records.append, agents=names, thoughts=agent != "greedy")
    while engine.seat_to_act[0] >= 0:
        recorder.step(ask(player, engine, np.zeros(1, np.intp), rng, recorder.thoughts))
    return records[0]


def viewer_pages(folder: Path) -> None:
    """Take the viewer, wide and narrow, at the end of a hand that somebody wins."""
    page = folder / "page.html"
    record = recorded("hangzhou", 21, ["greedy", "greedy", "you", "greedy"], hands=2)
    page.write_text(viewer_html(record), encoding="utf-8")
    ends = "frames.findIndex((frame) => frame.event.type === 'end' && frame.event.winner >= 0)"
    for name, size in (("viewer-wide.png", WIDE), ("viewer-narrow.png", NARROW)):
        with chromium(size) as browser:
            browser.get(page.as_uri())
            browser.execute_script(f"show({ends})")
            pictures = [shot(browser)]
            if size == NARROW:
                browser.execute_script("document.querySelector('nav').scrollIntoView()")
                pictures.append(shot(browser))
            save(name, *pictures)


def viewer_moves(folder: Path) -> None:
    """Take the end of a hand of four policies in the viewer, with the reasons of each, as an animated picture."""
    page = folder / "moving.html"
    record = recorded("wuhan", MOVING_SEED, ["policy"] * 4, agent="policy:wuhan")
    page.write_text(viewer_html(record), encoding="utf-8")
    with chromium(MOVING) as browser:
        browser.get(page.as_uri())
        # A real window is smaller than the size that was asked for.
        metrics = {"width": MOVING[0], "height": MOVING[1], "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        count = browser.execute_script(
            "document.getElementById('chart').remove(); drawChart = () => {}; return frames.length"
        )
        shots = []
        for number in range(count - MOVING_STEPS, count):
            browser.execute_script("show(arguments[0])", number)
            shots.append(shot(browser).resize((MOVING[0] * 4 // 5, MOVING[1] * 4 // 5), Image.Resampling.LANCZOS))
    first, *rest = shots
    durations = [700] * len(rest) + [4000]
    file = FOLDER / "viewer.webp"
    first.save(file, "WEBP", save_all=True, append_images=rest, duration=durations, loop=0, quality=80, method=6)
    print(f"written: {file}, {file.stat().st_size:,} bytes")


def review_page(folder: Path) -> None:
    """Take a review at the discard that cost most, with the answer shown."""
    record = recorded("wuhan", REVIEW_SEED, ["you", "greedy", "greedy", "greedy"])
    study = Review(ReviewConfig(review=True, seat=0), record)
    page = folder / "review.html"
    page.write_text(html_text(study.findings([study.play(task) for task in study.tasks])), encoding="utf-8")
    with chromium((1280, 900)) as browser:
        browser.get(page.as_uri())
        browser.execute_script(
            "const some = own().filter((one) => one.taken.startsWith('discard '));"
            "show(some.reduce((one, other) => (other.cost[0] > one.cost[0] ? other : one)).frame);"
            "document.getElementById('answer').click(); scrollTo(0, 0)"
        )
        save("review.png", shot(browser))


def terminal(folder: Path) -> None:
    """Take the table on a terminal with colours."""
    engine, rng = mahjong_env.make_engine("wuhan", 1, seed=3, num_hands=4), np.random.default_rng(3)
    agent = make_agent("greedy")
    for _ in range(66):
        engine.step(agent.act(engine.view(), rng))
    console = Console(record=True, width=WIDTH + 2, file=io.StringIO())
    console.print(Text.from_ansi(table_text(engine, colour=True)))
    style = "font: 15px/20px 'Noto Sans Mono CJK SC', monospace; margin: 12px"
    code = f'<body style="background:#16191d;color:#ddd;margin:0"><pre style="{style}">{{code}}</pre></body>'
    page = folder / "terminal.html"
    page.write_text(console.export_html(theme=MONOKAI, inline_styles=True, code_format=code), encoding="utf-8")
    with chromium((800, 640)) as browser:
        browser.get(page.as_uri())
        height = browser.execute_script("return document.querySelector('pre').getBoundingClientRect().bottom")
        save("terminal.png", shot(browser).crop((0, 0, 780, int(height) + 12)))


if __name__ == "__main__":
    with TemporaryDirectory() as made:
        terminal(Path(made))
        viewer_pages(Path(made))
        viewer_moves(Path(made))
        review_page(Path(made))
    play_pages()
