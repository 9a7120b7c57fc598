"""Whole matches in a real browser: by clicks on a wide page, by keys alone on a phone's width."""

import threading
from contextlib import contextmanager

import pytest

import mahjong_env
from mahjong_agents import make_agent
from mahjong_env.play.match import PersonsMatch, review_command, show_command
from mahjong_env.play.server import PlayServer
from mahjong_env.records import RecordWriter, count_records, read_records, replay_points
from support.browser import NARROW, WIDE, chromium, messages, wait

READY = "!document.body.hasAttribute('aria-busy') && document.querySelector('#ask button') && true"
AT_ONCE = "const pace = document.getElementById('pace'); pace.value = '0'; pace.dispatchEvent(new Event('change'))"


@contextmanager
def serving(variant, path, num_hands, seed):
    """A server whose matches are appended to a file."""

    def write(record):
        with RecordWriter(path) as writer:
            writer.write(record)
            return count_records(path)

    def new_match():
        rules, agent = mahjong_env.rules(variant), make_agent("greedy")
        seated = [None, *[agent] * (rules.people - 1)]
        return PersonsMatch(rules, seated, seed=seed, num_hands=num_hands, hints=agent, write=write, file=str(path))

    with PlayServer(new_match) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def texts(browser, selector):
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)", selector
    )


def check_what_is_shown(browser, is_over):
    """Nothing hidden is in the page, nothing is wider than it, and everything that can be clicked has a name."""
    others = "#table .place:not(.own) .hand [data-kind]"
    kinds = browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map((e) => e.dataset.kind)", others
    )
    assert kinds
    assert (set(kinds) == {"-1"}) != is_over
    assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    assert browser.execute_script(
        "return [...document.querySelectorAll('button')].every((one) => one.textContent || one.ariaLabel)"
    )


def match_in(path):
    (record,) = read_records(path)
    assert replay_points(record) == record.points
    assert record.agents[0] == "you"
    return record


@pytest.mark.thorough
@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_a_match_is_played_by_clicks(tmp_path, size):
    path = tmp_path / "games.jsonl"
    with serving("wuhan", path, 2, 7) as server, chromium(size) as browser:
        browser.get(server.url)
        wait(browser, READY)
        browser.execute_script(AT_ONCE)
        ends = clicks = 0
        while True:
            wait(browser, READY)
            find = browser.find_elements
            is_over, is_end = bool(find("id", "again")), bool(find("id", "next"))
            check_what_is_shown(browser, is_over or is_end)
            if is_over or is_end:
                assert texts(browser, "#reasons tbody tr") or "nobody wins" in texts(browser, "#event")[0]
                ends += 1
            if is_over:
                break
            if is_end:
                find("id", "next")[0].click()
                continue
            if clicks == 3:
                find("id", "hint")[0].click()
                wait(browser, "document.querySelector('#hints table')")
                assert texts(browser, "#hints h3")[0].startswith("greedy would: ")
            claims = find("css selector", "#ask [data-action]:not([data-action=pass])")
            choices = claims or find("css selector", "#table .own .hand button")
            before = browser.execute_script("return state.position")
            choices[-1].click()
            wait(browser, f"state.position > {before}")
            clicks += 1
        points = [int(cell) for cell in texts(browser, "#points tbody tr:last-child td.number")]
        assert (ends, clicks > 5) == (2, True)
        assert browser.find_element("id", "look").text == show_command(str(path))
        assert browser.find_element("id", "review").text == review_command(str(path), 1, 0)
        assert tuple(points) == match_in(path).points
        assert messages(browser) == []
        # A page that is loaded anew shows the same game.
        browser.refresh()
        wait(browser, READY)
        assert [int(cell) for cell in texts(browser, "#points tbody tr:last-child td.number")] == points


@pytest.mark.thorough
def test_a_match_is_played_by_keys_on_a_phone_s_width(tmp_path):
    from selenium.webdriver.common.keys import Keys

    path = tmp_path / "games.jsonl"
    with serving("hebei", path, 1, 3) as server, chromium(NARROW) as browser:
        browser.get(server.url)
        wait(browser, READY)
        browser.execute_script(AT_ONCE)
        press = lambda *keys: browser.switch_to.active_element.send_keys(*keys)  # noqa: E731
        press("h")
        wait(browser, "document.querySelector('#hints table')")
        seen = set()
        while not browser.find_elements("id", "again"):
            wait(browser, READY)
            check_what_is_shown(browser, False)
            legal, position = browser.execute_script("return [state.legal, state.position]")
            key = next((key for key, name in (("w", "win"), ("p", "pung"), ("x", "pass")) if name in legal), Keys.ENTER)
            if key == Keys.ENTER:
                press(Keys.ARROW_RIGHT)
                press(Keys.ARROW_LEFT)
            seen.add(key)
            press(key)
            wait(browser, f"state.position > {position} && {READY}")
        check_what_is_shown(browser, True)
        assert Keys.ENTER in seen
        match_in(path)
        assert "The match is over." in texts(browser, "#ask p")
        browser.find_element("id", "language").click()
        assert "本场结束。" in texts(browser, "#ask p")
        assert browser.execute_script("return document.documentElement.lang") == "zh"
        browser.find_element("id", "again").click()
        wait(browser, f"state.waitsFor === 'answer' && {READY}")
        assert messages(browser) == []


@pytest.mark.thorough
def test_errors_are_shown_and_change_nothing(tmp_path):
    with chromium(WIDE) as browser:
        with serving("hebei", tmp_path / "games.jsonl", 1, 3) as server:
            browser.get(server.url)
            wait(browser, READY)
            before = browser.execute_script("return document.querySelector('#table').innerHTML")
            browser.execute_script("state.position += 5; answer(state.legal[0])")
            assert "is being asked now" in wait(browser, "document.querySelector('#error').textContent")
            assert browser.execute_script("return document.querySelector('#table').innerHTML") == before
            browser.find_element("id", "language").click()
            assert texts(browser, "#error") == ["这一问已经回答过了。"]
            browser.find_element("id", "language").click()
            browser.execute_script("state.position -= 5; document.querySelector('#table .own .hand button').click()")
            wait(browser, f"state.position === 1 && {READY}")
            assert texts(browser, "#error") == [""]
        browser.execute_script("document.querySelector('#table .own .hand button').click()")
        assert "does not answer" in wait(browser, "document.querySelector('#error').textContent")
