"""Matches in a real browser, from the lobby to the review; each moment of a hand, in every variant: test_sweep.py."""

import threading

import pytest

import mahjong_env
from mahjong_env import Deal
from mahjong_training.config import ReviewConfig
from support.browser import NARROW, WIDE, chromium, emulate, english_left, messages, text, texts, wait
from support.playing import (
    AT_ONCE,
    READY,
    Throws,
    advised,
    answering,
    last_flower,
    lobby,
    match_of,
    paid_late,
    tap,
)


def chows_in_three_ways():
    """The first discard of the player before the person may become three chows."""
    deal = Deal(hands=("3467m 258p 369s 1234z", "", ""), draws="9p 5m", dealer=0)
    return match_of("hebei", seed=1, agent=Throws(), deal=deal)


def position(browser):
    return browser.execute_script("return state.position")


@pytest.mark.thorough
def test_fingers_play_nothing_that_was_not_meant():
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    own = "#table .own .hand button"
    with answering(chows_in_three_ways) as server, chromium(WIDE) as browser:
        browser.get(server.url)
        wait(browser, READY)
        browser.execute_script(AT_ONCE)
        body = browser.find_element("tag name", "body")
        # Space hurries; a key that is held, and a second click, are none.
        browser.execute_script(f"document.querySelector({own!r}).focus()")
        browser.switch_to.active_element.send_keys(Keys.SPACE * 3)
        press = {"type": "keyDown", "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}
        browser.execute_cdp_cmd("Input.dispatchKeyEvent", press | {"autoRepeat": True})
        assert position(browser) == 0
        ActionChains(browser).double_click(browser.find_elements("css selector", own)[-1]).perform()
        wait(browser, READY)
        assert position(browser) == 1
        # Whoever is asked is outlined, and the page's title says so.
        assert browser.execute_script("return document.querySelector('.turn').classList.contains('own')")
        assert browser.title.startswith("● Your turn")
        # One key for several chows asks which; each has its number.
        body.send_keys("c")
        assert "Which one?" in texts(browser, "#event")[0]
        assert position(browser) == 1
        assert texts(browser, "#ask kbd") == ["1", "2", "3"]
        browser.execute_script("grace = 100000")
        body.send_keys("2")
        wait(browser, "state.position === 2")
        assert shown_melds(browser) == [["3", "4", "5"]]
        # For a moment nothing is accepted.
        browser.execute_script(f"document.querySelector({own!r}).click(); hint()")
        assert texts(browser, "#hints h3") == []
        assert position(browser) == 2
        assert messages(browser) == []


def shown_melds(browser):
    return browser.execute_script(
        "return [...document.querySelectorAll('.own .meld')].map((meld) => "
        "[...meld.querySelectorAll('.tile')].map((one) => one.dataset.kind).sort())"
    )


@pytest.mark.thorough
def test_a_finger_lifts_a_tile_before_it_plays_it():
    own = "#table .own .hand button"
    with answering(chows_in_three_ways) as server, chromium(NARROW) as browser:
        browser.get(server.url)
        wait(browser, READY)
        browser.execute_script(AT_ONCE)
        tap(browser, own)
        assert "touch it once more" in texts(browser, "#event")[0]
        tap(browser, f"{own}:last-child")
        assert browser.execute_script("return document.querySelectorAll('.lifted').length") == 1
        assert position(browser) == 0
        tap(browser, ".lifted")
        wait(browser, f"state.position === 1 && {READY}")
        # No claims in this turn: the question is passed, and so are all until the next discard.
        for setting in ("noClaims", "sound"):
            browser.execute_script("set(arguments[0], true)", setting)
        wait(browser, f"state.position === 2 && state.phase === TURN && {READY}")
        assert browser.execute_script("return chosen.noClaims") is False
        browser.find_element("id", "language").click()
        browser.refresh()
        wait(browser, READY)
        assert browser.execute_script("return [language, chosen.sound, chosen.pace]") == ["zh", True, 0]
        assert messages(browser) == []


@pytest.mark.thorough
def test_claims_are_passed_until_the_next_turn():
    from selenium.webdriver.common.keys import Keys

    with answering(chows_in_three_ways) as server, chromium(WIDE) as browser:
        browser.get(server.url)
        wait(browser, READY)
        browser.execute_script(AT_ONCE)
        # Beside the tiles and what may be done Space presses a button.
        browser.find_element("id", "open-settings").send_keys(Keys.SPACE)
        assert wait(browser, "document.getElementById('settings').open")
        browser.find_element("id", "noClaims").click()
        assert browser.execute_script("return [chosen.noClaims, $('noClaims').checked]") == [True, True]
        # What lies under a dialog hears no keys.
        legal = browser.execute_script("return state.legal")
        browser.execute_script("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'h', bubbles: true}))")
        assert browser.execute_script("return busy") is False
        browser.find_element("css selector", "#settings [data-close]").click()
        browser.execute_script("answer(arguments[0])", legal[-1])
        wait(browser, f"state.position === 2 && state.phase === TURN && {READY}")
        assert shown_melds(browser) == []
        assert browser.execute_script("return [chosen.noClaims, $('noClaims').checked]") == [False, False]
        # Two kongs that nobody sees the tiles of are two.
        kong = "{event: {type: 'concealed kong', person: 1, tile: -1}, table: shown.table}"
        browser.execute_script(f"$('log').replaceChildren(); for (const one of [1, 2]) log({kong})")
        assert len(texts(browser, "#log p")) == 2
        assert messages(browser) == []


@pytest.mark.thorough
def test_a_kong_is_paid_once_and_when_it_stands():
    with answering(paid_late) as server, chromium(WIDE) as browser:
        browser.get(server.url)
        wait(browser, READY)
        browser.execute_script(AT_ONCE)
        for number, name in enumerate(("discard 5s", "discard 6z"), 1):
            browser.execute_script("answer(arguments[0])", name)
            wait(browser, f"state.position === {number} && {READY}")
        assert "Do you rob 5 of Bamboo?" in text(browser, "#event")
        assert texts(browser, ".plate .points") == ["50"] * 3
        assert text(browser, "#reasons") == ""
        browser.execute_script("answer('pass')")
        wait(browser, f"state.waitsFor === 'over' && {READY}")
        assert texts(browser, "#log p")[-2] == "The kong is paid."
        assert [one.split()[0] for one in texts(browser, ".plate .points")] == ["45", "60", "45"]
        assert messages(browser) == []


@pytest.mark.thorough
def test_it_is_said_why_one_is_asked_and_who_sits_out():
    with answering(last_flower) as server, chromium(WIDE) as browser:
        browser.get(server.url)
        wait(browser, READY)
        assert "The last flower cannot be replaced: do you want to win?" in text(browser, "#event")
        browser.find_element("id", "language").click()
        assert "最后一张花无牌可补" in text(browser, "#event")
        assert english_left(browser) == []
    rules = mahjong_env.rules("hebei", rotation=True)
    with answering(lambda: match_of(rules, person=3, num_hands=3)) as server, chromium(WIDE) as browser:
        browser.get(server.url)
        wait(browser, "shown")
        browser.execute_script(f"{AT_ONCE}; hurry?.()")
        wait(browser, f"state.waitsFor === 'next' && {READY}")
        assert "you sit out (50)" in text(browser, "#facts")
        browser.find_element("id", "language").click()
        assert "你轮空 (50)" in text(browser, "#facts")


@pytest.mark.thorough
def test_the_lobby_has_the_settings_and_says_what_is_wrong():
    with answering(lobby()) as server, chromium(WIDE) as browser:
        browser.get(server.url)
        wait(browser, "looked && true")
        browser.execute_script("set('passes', true)")
        browser.refresh()
        wait(browser, "looked && true")
        browser.find_element("id", "open-settings").click()
        assert browser.execute_script("return $('passes').checked")
        browser.execute_script("$('settings').close(); Object.assign(wanted, {variant: 'mcr', knobs: []}); look()")
        wait(browser, "looked.table.variant === 'mcr'")
        browser.execute_script("wanted.knobs = ['private_walls=True']; look()")
        assert "needs flower_tiles=False" in wait(browser, "$('error').textContent")
        browser.find_element("id", "language").click()
        wait(browser, "language === 'zh' && $('error').textContent.includes('needs')")
        assert [one for one in english_left(browser) if "needs" in one] == []
        assert browser.execute_script("return $('knob-private_walls').value") == "True"  # what the error is about


SHOWN = """
    const tiles = [...document.querySelectorAll("#table .own .hand .tile")];
    const river = document.querySelector("#table .own .river");
    const [plates, laid] = [".plate", ":is(.rack, .river) .tile"].map((one) => [...document.querySelectorAll(one)]);
    const covers = (one, other) => Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1
        && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 1;
    const box = (one) => one.getBoundingClientRect();
    return {
        covered: laid.filter((tile) => plates.some((plate) => covers(box(plate), box(tile)))).length,
        isWider: document.documentElement.scrollWidth > innerWidth,
        rows: new Set(tiles.map((one) => Math.round(one.getBoundingClientRect().bottom / 20))).size,
        tile: tiles[0].getBoundingClientRect().width,
        fits: document.querySelector(".felt").getBoundingClientRect().bottom <= innerHeight,
        colour: getComputedStyle(document.body).backgroundColor,
        regions: [...document.querySelectorAll("#table section")].map((one) => one.getAttribute("aria-label")),
        hidden: document.querySelector("#table .across .hand").getAttribute("aria-label"),
        river: [...river.querySelectorAll("[role=listitem]")].map((one) => one.getAttribute("aria-label")),
        shadows: [...river.querySelectorAll(".taken .by")].map((one) => one.textContent),
        wild: document.querySelector(".middle .shown .faint").textContent,
        lit: document.querySelectorAll(".alike").length,
    };
"""


@pytest.mark.thorough
def test_the_table_fits_every_screen():
    """All seats around it, the whole hand in one row, nothing beside the screen; claimed discards stay as shadows."""
    with answering(lambda: match_of("wuhan", seed=7)) as server, chromium(WIDE) as browser:
        browser.get(server.url)
        wait(browser, READY)
        browser.execute_script(AT_ONCE)
        advised(browser, lambda *_: browser.execute_script("return document.querySelector('.own .taken') && true"))
        colours = set()
        screens = ((320, 640, 15), (390, 844, 20), (740, 900, 40), (844, 390, 40), (1280, 800, 55), (1920, 1080, 60))
        for width, height, least in screens:
            for language, theme in (("en", "light"), ("zh", "dark")):
                emulate(browser, size=(width, height), scheme=theme)
                if browser.execute_script("return language") != language:
                    browser.execute_script("document.getElementById('language').click()")
                shown = browser.execute_script(SHOWN)
                assert (shown["isWider"], shown["rows"], shown["fits"]) == (False, 1, True), (width, language)
                assert shown["covered"] == 0, (width, language)
                assert shown["tile"] >= least
                assert len(shown["regions"]) == 4
                assert shown["shadows"]
                is_english = language == "en"
                assert shown["hidden"].endswith("hidden tiles" if is_english else "张暗牌")
                assert any("claimed by greedy" in one if is_english else "贪心" in one for one in shown["river"])
                assert shown["wild"] == ("wild card" if is_english else "癞子")
                colours.add(shown["colour"])
        assert len(colours) == 2
        browser.execute_script("""
            document.querySelector(".own .hand .tile").dispatchEvent(new PointerEvent("pointerover", {bubbles: true}))
        """)
        assert browser.execute_script(SHOWN)["lit"] >= 1
        assert messages(browser) == []


@pytest.mark.thorough
def test_a_match_is_chosen_in_the_lobby():
    with answering(lobby()) as server, chromium(WIDE) as browser:
        browser.get(server.url)
        wait(browser, "document.querySelector('.felt') && true")
        assert len(texts(browser, ".card")) == len(mahjong_env.VARIANTS)
        assert browser.execute_script("return document.querySelectorAll('#lobby .taught .tile').length") == 14
        browser.find_element("css selector", ".card input[value=hebei]").click()
        wait(browser, "looked.page.includes('Hebei') && document.querySelectorAll('#table .place').length === 3")
        # A house rule changes the sheet beside it; one that cannot be is refused in words.
        browser.execute_script("document.getElementById('knobs').open = true")
        field = (
            "[...document.querySelectorAll('#knobs label')].find((one) => one.textContent.startsWith('the product'))"
        )
        browser.execute_script(f"window.cap = {field}.lastChild")
        for value, said in (
            ("-3", "document.getElementById('error').textContent"),
            ("64", "looked.page.includes('cap=64')"),
        ):
            set_it = "cap.focus(); cap.value = arguments[0]; cap.dispatchEvent(new Event('change'))"
            browser.execute_script(set_it, value)
            assert wait(browser, said)
            browser.execute_script(f"window.cap = {field}.lastChild")
            assert browser.execute_script("return document.activeElement === cap")  # by keyboard one goes on from there
        assert "64" in wait(browser, "document.getElementById('sheet').textContent")
        for width in (320, 1280):
            emulate(browser, size=(width, 800))
            assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")
        for title, word in (
            ("# 河北麻将", "开始"),
            ("# Hebei", "Play"),
        ):  # the lobby is drawn anew when its sheet is there
            browser.find_element("id", "language").click()
            wait(browser, f"looked.page.startsWith('{title}')")
            assert word in texts(browser, "#start")
        browser.find_element("id", "start").click()
        wait(browser, f"state && {READY}")
        assert browser.execute_script("return data.variant") == "hebei"
        # The rules of this table are at hand; hints light what they advise.
        browser.find_element("id", "open-rules").click()
        assert "cap=64" in wait(browser, "document.querySelector('#rules[open] article')?.textContent")
        browser.find_element("css selector", "#rules [data-close]").click()
        browser.find_element("id", "hint").click()
        wait(browser, "document.querySelector('#hints table')")
        lit = browser.execute_script("return [document.querySelector('.best').dataset.action, hinted.advice]")
        assert lit[0] == lit[1]
        # What was chosen is remembered; the way back leads to the lobby.
        browser.find_element("id", "open-lobby").click()
        wait(browser, "document.querySelector('.card input:checked')?.value === 'hebei'")
        browser.refresh()
        wait(browser, "looked && wanted.knobs.includes('cap=64') && document.querySelector('.felt') && true")
        assert [one for one in messages(browser) if "400" not in one] == []


@pytest.mark.thorough
def test_a_match_is_reviewed_and_played_on_from_its_review(monkeypatch):
    """By buttons, on the server that is there: how far it is, a page that is loaded anew, the review, a position."""
    from mahjong_training.analysis import review

    few = lambda **settings: ReviewConfig(**settings, worlds=8)  # noqa: E731
    monkeypatch.setattr(review, "ReviewConfig", few)
    goes_on = threading.Event()

    def slow(record, person, tell, play_on):
        def told(done, of):
            tell(done, of)
            if done:
                assert goes_on.wait(60)

        return review.review_match(record, person, told, play_on)

    with answering(lambda: match_of("hebei"), reviewer=lambda: slow) as server, chromium(WIDE) as browser:
        browser.get(server.url)
        wait(browser, READY)
        browser.execute_script(AT_ONCE)
        assert browser.find_elements("id", "make-review") == []
        while not browser.find_elements("id", "again"):
            before = position(browser)
            browser.execute_script("answer(state.legal.includes('win') ? 'win' : state.legal.at(-1))")
            wait(browser, f"state.position > {before} && {READY}")
        browser.find_element("id", "make-review").click()
        part = "document.querySelector('#review-part').textContent"
        wait(browser, f"{part}.includes('Reviewing: 4 of ')")
        table = browser.current_url
        browser.refresh()
        wait(browser, "document.querySelector('#review-part progress')?.value === 4")
        browser.find_element("id", "language").click()
        wait(browser, f"{part}.includes('复盘中')")
        goes_on.set()
        wait(browser, "document.getElementById('to-review')")
        browser.find_element("id", "language").click()
        browser.find_element("id", "to-review").click()
        assert "Your choices" in wait(browser, "document.getElementById('summary')?.textContent")
        # Somewhere in the middle the same tiles are held again, and the match goes on.
        browser.execute_script("show(own()[3].frame)")
        tiles = "document.querySelectorAll('#table .own .hand [data-kind]')"
        held = f"return [...{tiles}].map((one) => one.dataset.kind).sort()"
        tiles, played = browser.execute_script(held), browser.execute_script("return playedBefore[at]")
        assert browser.find_element("id", "to-table").get_attribute("href") == table
        browser.find_element("id", "play-on").click()
        wait(browser, f"typeof state !== 'undefined' && {READY}")
        assert browser.execute_script(held) == tiles
        match = server.games.game(browser.current_url.partition("#")[2]).match
        assert len(match._recorder.so_far([0])[0].actions) == played
        browser.find_elements("css selector", "#table .own .hand button, #ask button")[0].click()
        wait(browser, "state.position === 1")
        # A position that is not there any more leads to a new match.
        browser.get("about:blank")
        browser.get(f"{server.url}#gone,4")
        wait(browser, f"typeof state !== 'undefined' && {READY}")
        assert browser.execute_script("return state.position") == 0
        assert [one for one in messages(browser) if "404" not in one] == []
