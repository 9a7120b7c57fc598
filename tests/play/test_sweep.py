"""Two whole hands in every variant, on a phone and on a desk, in both languages: whatever a person meets there.

The first hand is dealt so that there are a chow, a kong of each kind and a win, by fingers on a phone, else by clicks;
between them a refusal, a page that is loaded anew, a second tab, and a server that ends. The second one is played by
keys alone. With ``SWEEP_PICTURES=FOLDER`` every state is photographed.
"""

import os
import time
from pathlib import Path

import numpy as np
import pytest

import mahjong_env
from mahjong_env import Deal
from mahjong_env.basics.tiles import KIND_NAMES
from mahjong_env.play.match import DOWNLOAD, review_command, show_command
from support.browser import NARROW, WIDE, chromium, english_left, messages, wait
from support.playing import AT_ONCE, READY, Throws, answering, match_of, tap

SIZES, LANGUAGES = {"phone": NARROW, "desk": WIDE}, ("en", "zh")
CASES = [(variant, size, language) for variant in mahjong_env.VARIANTS for size in SIZES for language in LANGUAGES]
EVERYDAY = {CASES[place] for place in (1, len(CASES) // 2 + 2)}  # a phone in Chinese, a desk in English

OWN = "3m 4m 7p 7p 7p 9s 9s 1m 1m 1m 1m 5p 2p"
FURTHER = " 2s 3s 4s"  # where hands have sixteen tiles
WILD = "8s"
CHOWED, KONGED, PUNGED = "5m", "7p", "9s"
JUNK = ("6m", "3p")  # what comes for the first two kongs


def dealt(variant):
    """A match of two hands whose first one has everything; the person is the dealer's next player."""
    rules = mahjong_env.rules(variant)
    own = OWN + FURTHER * (rules.hand_size == 16)
    idle = ["4p", "6p", "8p"][: rules.seats - 1]
    draws, replacements = [KONGED, PUNGED, *idle, "9s"], [*JUNK, "5p"]  # whoever draws what the person wants throws it
    named = [*own.split(), CHOWED, *draws, *replacements, *[WILD] * 4]
    pool = [kind for kind in KIND_NAMES[:27] for _ in range(4 - named.count(kind))]
    np.random.default_rng(1).shuffle(pool)
    size = rules.hand_size
    hands = [own, *(" ".join(pool[i * size : (i + 1) * size]) for i in range(rules.seats - 1))]
    hands[-1] += f" {CHOWED}"
    wild = WILD if rules.has_wild and rules.fixed_wild is None else None
    texts = {"draws": " ".join(draws), "replacements": " ".join(replacements), "wild": wild}
    deal = Deal(hands=tuple(hands), dealer=rules.seats - 1, **texts)
    return match_of(variant, seed=5, agent=Throws(), num_hands=2, deal=deal)


class Player:
    """A person at a page."""

    def __init__(self, browser, size, language, name):
        self.browser, self.size, self.language, self.name = browser, size, language, name
        self.seen = []

    def look(self, state):
        """Whatever is shown can be read, fits, and hides what is hidden."""
        find = self.browser.execute_script
        self.seen.append(state)
        folder = os.environ.get("SWEEP_PICTURES")
        if folder:
            self.browser.save_screenshot(str(Path(folder) / f"{self.name}-{len(self.seen):02}-{state}.png"))
        assert find("return document.documentElement.scrollWidth <= innerWidth"), state
        assert find("return [...document.querySelectorAll('button')].every((one) => one.textContent || one.ariaLabel)")
        if self.language == "zh":
            assert english_left(self.browser) == [], state
        is_open = find("return state.waitsFor !== 'answer'")
        others = "#table .place:not(.own) .hand [data-kind]"
        kinds = set(find(f"return [...document.querySelectorAll('{others}')].map((one) => one.dataset.kind)"))
        assert kinds
        assert is_open or kinds == {"-1"}, state

    def choose(self, name):
        """Touch or click what is called so."""
        wait(self.browser, READY)
        before = self.browser.execute_script("return state.position")
        selector = f'[data-action="{name}"]'
        found = self.browser.find_elements("css selector", selector)
        assert found, (name, self.browser.execute_script("return state.legal"))
        if self.size == "phone":
            time.sleep(0.6)  # two touches of one place that follow faster are one, for the page
            for _ in range(1 + name.startswith("discard ")):  # the first touch lifts a tile
                assert self.browser.execute_script("return state.position") == before
                tap(self.browser, selector)
        else:
            found[-1].click()
        wait(self.browser, f"state.position > {before} && {READY}")

    def press(self, key):
        self.browser.switch_to.active_element.send_keys(key)

    def plays_by_keys(self):
        """Play on as greedy would, by keys alone."""
        from selenium.webdriver.common.keys import Keys

        find = self.browser.execute_script
        while find("return state.waitsFor") == "answer":
            position = find("return state.position")
            self.press("h")
            advised = wait(self.browser, f"{READY} && hinted?.advice")
            for _ in range(40):  # along the hand and the buttons
                if find("return document.activeElement.dataset.action") == advised:
                    break
                self.press(Keys.ARROW_RIGHT)
            self.press(Keys.ENTER)
            wait(self.browser, f"state.position > {position} && {READY}")


@pytest.mark.parametrize(
    ("variant", "size", "language"),
    [pytest.param(*case, marks=pytest.mark.thorough if case in EVERYDAY else pytest.mark.slow) for case in CASES],
)
def test_two_hands(variant, size, language):
    with chromium(SIZES[size]) as browser:
        player = Player(browser, size, language, f"{variant}-{size}-{language}")
        find = browser.execute_script
        with answering(lambda: dealt(variant)) as server:
            port, token = server.server_port, server.token
            browser.get(server.url)
            wait(browser, READY)
            find(AT_ONCE)
            if find("return language") != language:
                browser.find_element("id", "language").click()
            player.look("chow")
            # What may not be is refused, with its reason, and nothing has changed.
            find("answer('win')")
            assert wait(browser, "document.getElementById('error').textContent")
            assert find("return state.position") == 0
            player.look("refusal")
            (chow,) = [name for name in find("return state.legal") if name.startswith("chow")]
            player.choose(chow)
            player.choose("discard 2p")
            # A page that is loaded anew shows the same question.
            legal = find("return state.legal")
            browser.refresh()
            wait(browser, READY)
            find(AT_ONCE)
            assert find("return state.legal") == legal
            player.look("kong")
            player.choose("kong")
            # A second tab plays on; the first one finds back.
            address, first = browser.current_url, browser.current_window_handle
            browser.switch_to.new_window("tab")
            browser.get(address)
            wait(browser, READY)
            find(AT_ONCE)
            player.look("concealed-kong")
            player.choose("concealed kong 1m")
            browser.switch_to.window(first)
            wait(browser, READY)
            find("state.position = 0; answer(state.legal[0])")
            wait(browser, f"document.getElementById('error').textContent && state.position && {READY}")
            player.look("late-tab")
            player.choose(f"discard {JUNK[0]}")
            player.look("pung")
            player.choose("pung")
            player.choose(f"discard {JUNK[1]}")
            player.look("added-kong")
            player.choose("added kong 9s")
            player.look("win")
            player.choose("win")
            assert find("return [state.waitsFor, shown.event.winner]") == ["next", 0]
            assert browser.find_elements("css selector", "#reasons .receipt .tile.winning")
            player.look("won")
            melds = find("return [...document.querySelectorAll('.own .meld')].map((one) => one.children.length)")
            assert sorted(melds) == [3, 4, 4, 4]
            games = server.games._games.copy()
        # The server is gone, and comes back: the page says so, and goes on by itself.
        find("next()")
        assert wait(browser, "document.getElementById('error').textContent")
        player.look("server-gone")
        with answering(lambda: dealt(variant), port) as server:
            server.token = token
            server.games._games.update(games)
            wait(browser, f"document.getElementById('error').textContent === '' && {READY}")
            browser.find_element("id", "next").click()
            wait(browser, f"state.waitsFor === 'answer' && {READY}")
            player.look("second-hand")
            player.plays_by_keys()
            assert find("return state.waitsFor") == "over"
            player.look("over")
            # A page that is loaded anew shows the same.
            points = "return [...document.querySelectorAll('#points tbody tr')].map((one) => one.textContent)"
            shown = find(points)
            assert len(shown) == 3
            assert browser.find_element("id", "look").text == show_command(DOWNLOAD)
            assert browser.find_element("id", "review").text == review_command(DOWNLOAD, 1, 0)
            browser.refresh()
            wait(browser, READY)
            assert find(points) == shown
            # A program that has been started anew is told of, with the way on.
            server.token = "another"
            browser.find_element("id", "again").click()
            assert wait(browser, "document.getElementById('error').textContent")
            player.look("started-anew")
        assert [one for one in messages(browser) if "Failed to load resource" not in one] == []
