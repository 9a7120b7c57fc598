"""The page of a review in a real browser: what is asked and shown, how one moves, and that the address follows."""

import json
import re

import numpy as np
import pytest

import mahjong_agents
import mahjong_env
from mahjong_env.records import Recorder
from mahjong_training.analysis.review import Review
from mahjong_training.analysis.review_report import html_text
from mahjong_training.config import ReviewConfig
from support.browser import NARROW, WIDE, chromium, emulate, english_left, inaccessible, messages, text, texts, wait

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Two hands of Hangzhou, the choices of one person who plays at random reviewed on a few worlds."""
    engine, rng = mahjong_env.make_engine("hangzhou", 1, seed=2, num_hands=2), np.random.default_rng(7)
    agents, records = [mahjong_agents.make_agent(name) for name in ("greedy", "random", "greedy", "greedy")], []
    recorder = Recorder(engine, records.append, agents=["greedy", "you", "greedy", "greedy"])
    while engine.seat_to_act[0] >= 0:
        recorder.step(agents[int(engine.seat_to_act[0])].act(engine.view(), rng))
    study = Review(ReviewConfig(review=True, seat=1, worlds=32), records[0])
    found = study.findings([study.play(task) for task in study.tasks])
    assert sum(one.cost.low > 0 for one in found.decisions) >= 2
    path = tmp_path_factory.mktemp("review") / "review.html"
    path.write_text(html_text(found, command="mahjong-env play --browser --from games.jsonl"), encoding="utf-8")
    return path, found


def count(browser, selector):
    return browser.execute_script("return document.querySelectorAll(arguments[0]).length", selector)


def frame(browser):
    return browser.execute_script("return at")


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_a_review_is_looked_at(page, size):
    from selenium.webdriver.common.keys import Keys

    path, found = page
    assert path.stat().st_size < 700_000
    with chromium(size) as browser:
        browser.get(path.as_uri())
        press = browser.find_element("tag name", "body").send_keys
        # The summary comes first: how many, what was lost, the three worst.
        choices, mistakes = len(found.decisions), sum(one.cost.low > 0 for one in found.decisions)
        summary = text(browser, "#summary")
        assert f"In {choices - mistakes} of {choices} choices" in summary
        assert count(browser, "#summary li") == 3
        summary, table = (browser.find_element("id", name).rect for name in ("summary", "table"))
        assert summary["y"] < table["y"] if size == NARROW else summary["x"] > table["x"]
        # What others hold is not shown.
        shown = (
            "return [...document.querySelectorAll('#table .place:not(.own) .hand .tile')].map((e) => e.dataset.kind)"
        )
        assert set(browser.execute_script(shown)) == {"-1"}
        assert browser.execute_script("return document.querySelector('#table .own').dataset.person") == "1"
        press("a")
        assert "-1" not in browser.execute_script(shown)
        press("1")
        # By keys from choice to choice; the answer is hidden until it is asked for.
        first = next(one for one in found.decisions if one.taken.action.startswith("discard "))
        at = browser.execute_script(f"return review.choices.find((one) => one.at === {first.number}).frame")
        press(Keys.HOME)
        while frame(browser) < at:
            press(Keys.ARROW_DOWN)
        assert frame(browser) == at
        assert "turn 1: What would you discard?" in text(browser, "#options")
        assert (count(browser, ".value"), text(browser, "#thought")) == (0, "")
        assert browser.current_url.endswith(f"#{at + 1}")
        press("s")
        bars = browser.execute_script(
            "return [...document.querySelectorAll('.own .hand .value')].map((one) => "
            "[data.kindNames[one.parentElement.dataset.kind], Number(one.style.getPropertyValue('--part')), "
            "one.textContent, one.parentElement.className])"
        )
        lines = {line.action: line for line in first.lines}
        assert len(bars) >= len({name for name in lines if name.startswith("discard ")})
        for kind, part, label, classes in bars:
            line = lines[f"discard {kind}"]
            assert ("top" in classes) == (label == "★") == (part == 1) == (line is first.lines[0])
            assert ("played" in classes) == line.taken
        assert f"You chose: discard {tile(first.taken.action)}" in text(browser, "#thought")
        assert count(browser, "#thought tbody tr") == len(first.lines)
        assert all(row.count("[") == 1 for row in texts(browser, "#thought tbody tr"))  # one interval
        press(Keys.ARROW_DOWN, Keys.ARROW_UP)
        assert count(browser, ".value")  # what has been seen stays
        # From mistake to mistake, and one's own answer.
        worst = browser.execute_script("return own().filter(isMistake).map((one) => one.frame)")
        press(Keys.HOME)
        for place in worst[:2]:
            press(Keys.PAGE_DOWN)
            assert frame(browser) == place
        press(Keys.PAGE_UP)
        assert frame(browser) == worst[0]
        best = browser.execute_script("return here().lines[0][0]")
        browser.execute_script(
            "const kind = data.kindNames.indexOf(here().lines[0][0].split(' ').at(-1));"
            "(document.querySelector(`#options button[data-action='${here().lines[0][0]}']`)"
            " ?? document.querySelector(`#table .own button[data-kind='${kind}']`)).click()"
        )
        assert "is the best." in text(browser, "#thought"), best
        assert "1 of 1" in text(browser, "#answered")
        # The page knows how to play on from here.
        at = browser.execute_script("return here().at")
        assert text(browser, "#play-on code").endswith(f"--from games.jsonl --seat 1 --at {at}")
        # The chart leads to choices, buttons to where they say, the address to everything.
        browser.execute_script(
            "const chart = document.querySelector('#chart svg'); const box = chart.getBoundingClientRect();"
            "chart.dispatchEvent(new MouseEvent('click', {clientX: box.right}))"
        )
        assert frame(browser) == browser.execute_script("return own().at(-1).frame")
        assert count(browser, "#chart .dot") == mistakes
        press(Keys.HOME)
        browser.execute_script("summary.open = true; document.querySelector('#summary li button').click()")
        assert frame(browser) in worst
        if size == NARROW:
            assert not browser.execute_script("return summary.open")
        browser.execute_script(f"location.hash = '{worst[1] + 1},all'")
        wait(browser, f"at === {worst[1]} && view === 'all'")
        # Every step can be shown, the ends of hands with their wins among them.
        browser.execute_script("for (const i of frames.keys()) show(i)")
        assert "wins" in "".join(browser.execute_script("return frames.map(({event}) => eventText(event))"))
        browser.execute_script(f"show({worst[1]})")
        # In Chinese, without the question, remembered.
        browser.find_element("id", "language").click()
        browser.execute_script("document.getElementById('ask-first').click()")
        browser.get("about:blank")
        browser.get(f"{path.as_uri()}#{worst[1] + 1}")
        assert browser.execute_script("return [language, asksFirst, at]") == ["zh", False, worst[1]]
        browser.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
        assert "更好" in text(browser, "#thought")
        assert english_left(browser) == []
        for scheme in ("light", "dark"):
            emulate(browser, scheme=scheme)
            assert inaccessible(browser) == []
        assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")
        assert messages(browser) == []


def tile(name):
    """What the page calls the tile of an action."""
    return mahjong_env.drawing.tiles.tile_name(mahjong_env.basics.tiles.KIND_NAMES.index(name.split()[-1]))


def test_how_others_answer_is_not_told_before_all_have(page):
    """A choice that follows the answer of another player to the same discard is asked about the discard."""
    path, _ = page
    data = json.loads(re.search(r'type="application/json">(.*?)</script>', path.read_text("utf-8"))[1])
    answers = [at for at, one in enumerate(data["frames"]) if one["event"]["type"] in ("pass", "pung", "chow low")]
    with chromium(WIDE) as browser:
        browser.get(path.as_uri())
        told = set()
        for at in answers:
            browser.execute_script("show(arguments[0])", at)
            event, to_act = browser.execute_script("return [frames[at].event, frames[at].to_act]")
            if event["person"] != 1 and to_act == 1:
                told.add(text(browser, "#event").split()[2])
        assert told == {"discards"}
