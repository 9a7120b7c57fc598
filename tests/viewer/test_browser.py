"""The viewer in a real browser: keys, slider, touch, both languages, a phone's width, and what the agents thought."""

import json

import numpy as np
import pytest

import mahjong_agents
import mahjong_env
from mahjong_env import Deal
from mahjong_env.viewer import viewer_html
from mahjong_env.viewer.story import frames_of
from support.browser import NARROW, WIDE, chromium, messages, text, texts, wait
from support.recorded import Collector, recorded


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A match of two hands with notes of every kind."""

    def note(legal, choice):
        names, chosen = [mahjong_env.ACTIONS[number] for number in legal], mahjong_env.ACTIONS[choice]
        return {
            "probabilities": {name: 1 / len(names) for name in names},
            "value": -1.25,
            "values": {names[0]: 0.5},
            "intervals": {name: [-2.5, -1.0, 0.5] for name in names if name != chosen},
        }

    record = recorded("hebei", 4, agents=["a", "b", "c"], note=note, num_hands=2)
    path = tmp_path_factory.mktemp("viewer") / "page.html"
    path.write_text(viewer_html(record), encoding="utf-8")
    return path.as_uri()


@pytest.mark.thorough
@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_a_match_is_looked_at(page, size):
    from selenium.webdriver.common.keys import Keys

    with chromium(size) as browser:
        browser.get(page)
        press = browser.find_element("tag name", "body").send_keys
        count = browser.execute_script("return frames.length")
        assert text(browser, "#place") == f"1 / {count}"
        # What the agent thought of its choice, and what the laboratory found.
        thought = text(browser, "#thought")
        assert "-1.25" in thought
        assert "\N{MINUS SIGN}1.00 [\N{MINUS SIGN}2.50, +0.50]" in thought
        chosen = browser.execute_script("return frames[0].chosen")
        played = browser.find_element("css selector", "#thought tr.chosen")
        kinds = [one.get_attribute("data-kind") for one in played.find_elements("css selector", ".tile")]
        assert chosen == f"discard {mahjong_env.basics.tiles.KIND_NAMES[int(kinds[0])]}"
        assert "played" in played.text
        press(Keys.ARROW_RIGHT)
        assert text(browser, "#place") == f"2 / {count}"
        press(Keys.END, Keys.END)  # the second hand, and then its end
        assert text(browser, "#place") == f"{count} / {count}"
        press(Keys.ARROW_LEFT, Keys.HOME)
        assert text(browser, "#event") == "A hand begins."
        press(Keys.HOME)
        assert text(browser, "#place") == f"1 / {count}"
        # One seat's eyes, by a key; all hands open again by another.
        closed = "return [...document.querySelectorAll('#table .hand [data-kind=\"-1\"]')].length"
        assert browser.execute_script(closed) == 0
        press("1")
        assert browser.execute_script(closed) >= 26
        # The address follows, and is followed.
        browser.execute_script("location.hash = '7,2'")
        wait(browser, f"document.getElementById('place').textContent === '7 / {count}'")
        assert browser.execute_script("return [view, frames[at].table.places.length]") == ["2", 4]
        press("a", Keys.ARROW_RIGHT)
        assert browser.current_url.endswith("#8")
        browser.execute_script(
            "document.querySelector('#chart svg').dispatchEvent(new MouseEvent('click', {clientX: 0}))"
        )
        assert text(browser, "#place") == f"1 / {count}"
        # The slider goes anywhere: to a hand that was won, with its rows, payments and reasons.
        end = browser.execute_script("return frames.findIndex((one) => one.event.type === 'end')")
        slide = (
            "const s = document.getElementById('slider'); s.value = arguments[0]; s.dispatchEvent(new Event('input'))"
        )
        browser.execute_script(slide, end)
        assert text(browser, "#place") == f"{end + 1} / {count}"
        event = browser.execute_script("return frames[Number(document.getElementById('slider').value)].event")
        if event["winner"] >= 0:
            assert "won the hand" in text(browser, "#reasons")
        drawn = browser.execute_script("return frames.findIndex((one) => one.event.winner < 0)")
        assert drawn >= 0
        browser.execute_script("show(arguments[0])", drawn)
        assert text(browser, "#reasons") == ""  # nobody is paid
        browser.find_element("id", "language").click()
        assert browser.execute_script("return document.documentElement.lang") == "zh"
        names = browser.execute_script(
            "return [...document.querySelectorAll('#table .tile')].map((one) => one.ariaLabel)"
        )
        assert all(names)
        assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")
        assert browser.execute_script("return document.getElementById('slider').getAttribute('aria-valuetext')")
        swipe = """
            const table = document.getElementById('table');
            const at = (x) => new Touch({identifier: 1, target: table, clientX: x, clientY: 5});
            show(3);
            table.dispatchEvent(new TouchEvent('touchstart', {touches: [at(200)], changedTouches: [at(200)]}));
            table.dispatchEvent(new TouchEvent('touchend', {touches: [], changedTouches: [at(50)]}));
            return document.getElementById('place').textContent;
        """
        assert browser.execute_script(swipe) == f"5 / {count}"
        assert messages(browser) == []


@pytest.mark.thorough
@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_a_receipt_adds_up(tmp_path, size):
    """The hand by its sets, like rows folded, the calculation; a row opens its example; places at the end."""
    engine, agent = mahjong_env.make_engine("fuzhou", 1, seed=1), mahjong_agents.make_agent("greedy")
    recorder = Collector(engine)
    while engine.seat_to_act[0] >= 0:
        recorder.step(agent.act(engine.view(), np.random.default_rng(0)))
    (record,) = recorder.collected
    page = tmp_path / "page.html"
    page.write_text(viewer_html(record), encoding="utf-8")
    with chromium(size) as browser:
        browser.get(f"{page.as_uri()}#99999")
        # The page holds what changes from step to step, and has every table again.
        tables = json.loads(json.dumps([frame["table"] for frame in frames_of(record)]))
        assert browser.execute_script("return frames.map((frame) => frame.table)") == tables
        event = browser.execute_script("return frames.at(-1).event")
        assert event["winner"] >= 0
        assert event["formula"][0] in text(browser, "#reasons .receipt > .formula")
        assert len(browser.find_elements("css selector", "#reasons .receipt > .groups .tile.winning")) == 1
        assert len(browser.find_elements("css selector", "#reasons .rows > .row")) == len(event["rows"])
        assert "Flower Points" in text(browser, "#reasons .rows")
        assert "1 × " in text(browser, "#reasons .rows")
        assert not browser.find_element("css selector", ".example").is_displayed()
        browser.find_element("css selector", "#reasons summary").click()
        assert browser.find_element("css selector", ".example").is_displayed()
        assert browser.find_elements("css selector", ".example .tile.winning")
        assert text(browser, ".standings tbody td") == "1"
        browser.find_element("id", "language").click()
        assert "这手牌值" in text(browser, "#reasons .receipt > .formula")
        assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")
        assert messages(browser) == []


@pytest.mark.thorough
def test_a_seat_sees_no_more_than_it_did(tmp_path):
    """Somebody else's concealed kong is of a hidden tile, and who is asked out of turn is not marked."""
    engine = mahjong_env.make_engine("hebei", 1, seed=1)
    recorder = Collector(engine, agents=("constructor", "two\nlines", "c"))
    recorder.reset(
        deals=Deal(hands=("7777z 147m 258p 369s 1z", "147p 258s 369m 1234z", "11z 1m 2p 3s 4m 5p"), dealer=0)
    )
    for name in ("concealed kong 7z", "discard 1z"):
        recorder.step([mahjong_env.action(name)])
    (record, *_) = recorder.so_far()
    assert int(engine.seat_to_act[0]) == 2
    page = tmp_path / "page.html"
    page.write_text(viewer_html(record), encoding="utf-8")
    lit = "return Number(document.querySelector('#table .turn').dataset.person)"
    with chromium(WIDE) as browser:
        browser.get(f"{page.as_uri()}#2.5")
        assert text(browser, "#place") == "2 / 3"
        assert text(browser, "#event") == "constructor (0) declares a concealed kong of Red Dragon."
        assert texts(browser, "#table h2") == ["constructor (0)", "two\nlines (1)", "c (2)"]
        browser.execute_script("look('1')")
        assert text(browser, "#event") == "constructor (0) declares a concealed kong of a hidden tile."
        browser.execute_script("look('0')")
        assert "Red Dragon" in text(browser, "#event")
        for view, person in (("all", 2), ("2", 2), ("0", 1), ("1", 1)):
            browser.execute_script("show(2); look(arguments[0])", view)
            assert browser.execute_script(lit) == person, view
        assert messages(browser) == []


@pytest.mark.thorough
def test_who_sits_out_is_named(tmp_path):
    record = recorded("hebei", 2, agents=("a", "b", "c", "you"), num_hands=3, rotation=True)
    review = {
        "agents": ["greedy"],
        "worlds": [8, 8],
        "hindsight": False,
        "lost": {"3": [-1.0, 0.0, 1.0]},
        "choices": [],
    }
    page = tmp_path / "page.html"
    page.write_text(viewer_html(record, review | {"patterns": {}, "ends": {}}), encoding="utf-8")
    with chromium(WIDE) as browser:
        browser.get(page.as_uri())
        assert "you sit out (50)" in text(browser, "#facts")
        browser.execute_script("show(beginnings[2])")
        assert "b (1) sits out (52)" in text(browser, "#facts")
        results = texts(browser, "#by-hand tbody td:nth-child(2)")
        assert [result == "sat out" for result in results] == [True, True, False]
        assert messages(browser) == []
