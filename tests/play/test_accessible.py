"""Every page is for everybody: axe finds nothing serious, in both schemes, and Chinese pages are in Chinese."""

import pytest

from mahjong_env.cli import main
from support.browser import WIDE, chromium, emulate, english_left, inaccessible, messages, wait
from support.playing import AT_ONCE, READY, advised, answering, lobby
from support.spread_commands import record_games

pytestmark = pytest.mark.thorough
LOOKS = (("light", WIDE, "en"), ("dark", (320, 700), "zh"))


def check(browser):
    """Nothing serious in any look, nothing wider than the screen, no English among the Chinese."""
    for scheme, size, language in LOOKS:
        emulate(browser, scheme=scheme, size=size)
        if browser.execute_script("return typeof switchLanguage === 'function' && language") not in (False, language):
            browser.execute_script("document.getElementById('language').click()")
        assert inaccessible(browser) == [], (scheme, size, language)
        assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth"), (size, language)
        if browser.execute_script("return document.documentElement.lang") == "zh":
            assert english_left(browser) == []


def test_faults_are_found(tmp_path):
    page = tmp_path / "page.html"
    page.write_text(
        '<!doctype html><html lang="zh"><title>x</title><body><main><h1>中文 words</h1><b lang="en">not this</b>'
        '<p style="color: #ccc; background: #fff">灰色的字看不清</p><button></button></main>',
        encoding="utf-8",
    )
    with chromium(WIDE) as browser:
        browser.get(page.as_uri())
        assert {rule for rule, *_ in inaccessible(browser)} == {"button-name", "color-contrast"}
        assert english_left(browser) == ["中文 words"]


def test_lobby_and_play():
    def show(script):
        browser.execute_script(script)
        return wait(browser, "document.querySelector('dialog[open]')?.textContent.length > 20")

    with answering(lobby()) as server, chromium(WIDE) as browser:
        browser.get(server.url)
        wait(browser, "looked && document.querySelector('.felt') && true")
        browser.execute_script("document.getElementById('knobs').open = true")
        check(browser)
        browser.find_element("id", "start").click()
        wait(browser, f"state && {READY}")
        browser.execute_script(AT_ONCE)
        advised(browser, lambda legal, count: count == 6)
        browser.execute_script("hint()")
        wait(browser, "document.querySelector('#hints table')")
        check(browser)
        for name in ("settings", "rules"):
            assert show(f"document.getElementById('open-{name}').click()")
            check(browser)
            browser.execute_script(f"document.getElementById('{name}').close()")
        advised(browser, lambda legal, count: False)
        assert browser.execute_script("return state.waitsFor") == "over"
        browser.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
        check(browser)
        assert messages(browser) == []
        browser.get(server.url.replace(server.token, "none"))
        check(browser)


def test_pages_to_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    games = record_games(tmp_path / "games.jsonl")
    hand = ["--hand", "123m 456m 789m 123p 22p 55s", "--winning-tile", "2p", "--source", "draw"]
    for command in (
        ["score", "--variant", "fuzhou", *hand, "--html", "score.html"],
        ["show", games, "--html", "match.html"],
        ["evaluate", "--variant", "hebei", "--agents", "greedy", "random", "--deals", "2", "--out", "."],
        ["review", "--record", games, "--match", "2", "--decisions", "4", "--worlds", "4", "--out", "."],
    ):
        assert main([str(word) for word in command]) == 0
    pages = sorted(tmp_path.glob("*.html"))
    assert len(pages) >= 3
    with chromium(WIDE) as browser:
        for page in pages:
            browser.get(page.as_uri())
            check(browser)
            assert messages(browser) == []
