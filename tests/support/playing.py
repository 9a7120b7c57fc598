"""Matches of a person, a running server, and a page on which somebody plays."""

import threading
from contextlib import contextmanager

import numpy as np

import mahjong_env
from mahjong_agents import make_agent
from mahjong_env import ACTIONS, Deal
from mahjong_env.basics.actions import PASS
from mahjong_env.engine.batch import Engine
from mahjong_env.play.lobby import Lobby
from mahjong_env.play.match import PersonsMatch
from mahjong_env.play.server import PlayServer
from mahjong_env.records import Recorder
from support.browser import wait

READY = "!document.body.hasAttribute('aria-busy') && document.querySelector('#ask button') && true"
AT_ONCE = "set('pace', 0); grace = 0"


class Throws:
    """An agent that discards what it has drawn, and claims nothing."""

    name = "random"  # a word that pages know in both languages

    def act(self, view, rng):
        drawn = np.where(view.drawn >= 0, view.drawn, view.action_mask.argmax(axis=1))
        return np.where(view.action_mask[:, PASS], PASS, drawn)


def match_of(rules, seed=3, person=0, agent="greedy", num_hands=1, deal=None, **settings):
    """Return a match of a person against copies of an agent, with greedy's hints; it begins with ``deal`` if given."""
    rules = mahjong_env.rules(rules)
    agents = [make_agent(agent) if isinstance(agent, str) else agent] * rules.people
    agents[person] = None
    if deal is not None:
        recorder = Recorder(Engine(rules, 1, seed=seed, num_hands=num_hands), print)
        recorder.reset(deals=deal)
        settings["begun"] = recorder.so_far()[0], 0
    return PersonsMatch(rules, agents, seed=seed, num_hands=num_hands, hints=make_agent("greedy"), **settings)


def last_flower():
    """Return a match in Taiwan in which the person draws an eighth flower when no tile is left to replace it."""
    hands = ("147m 258p 369s 1234567z 9m", "258m 369p 147s F1 F2 F3 F4 S1 S2 S3", "369m 147p 258s 1234567z", "")
    tiles = {"draws": "S4", "replacements": "1z 2z 3z 4z 5z 6z 7z"}
    return match_of("taiwan", seed=5, person=1, agent=Throws(), deal=Deal(hands=hands, **tiles, tiles_left=1))


def paid_late(**settings):
    """Return a match in which the person's first "pass" lets a kong stand, and its owner wins with the replacement."""

    class Adds:
        name = "greedy"

        def act(self, view, rng):
            legal = [ACTIONS[number] for number in np.flatnonzero(view.action_mask[0])]
            wanted = ["pung"] * int(view.own_person[0] == 1) + ["pass", "win", "added kong 5s", "discard 1z", *legal]
            return np.array([ACTIONS.index(next(one for one in wanted if one in legal))])

    hands = ("123m 456p 678p 46s 22z 5s", "123m 456m 789m 55s 9s 1z", "234m 678m 678p 46s 44z")
    return match_of("hebei", agent=Adds(), deal=Deal(hands=hands, draws="1z 6z 5s", replacements="9s"), **settings)


def lobby():
    """Return a lobby in which everything can be chosen, with two agents."""

    def begin(rules, name, person, num_hands):
        return match_of(rules, person=person, agent=name, num_hands=num_hands)

    return Lobby(("greedy", "random"), begin, make_agent("greedy"))


@contextmanager
def answering(new_match, port=0, reviewer=None):
    """Run a server."""
    with PlayServer(new_match, port=port, reviewer=reviewer) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def advised(browser, is_there, most=300):
    """Play as greedy does until a condition on legal actions and answers is true, or the hand has ended."""
    for count in range(most):
        wait(browser, READY)
        legal, position = browser.execute_script("return [state.legal, state.position]")
        if is_there(legal, count) or not legal:
            return
        browser.execute_script(
            "ask(`games/${game}/hint`, {position: state.position}).then((told) => answer(told.advice))"
        )
        wait(browser, f"state.position > {position}")
    raise AssertionError(f"nothing after {most} answers")


def tap(browser, selector):
    """Touch the middle of an element."""
    place = browser.execute_script(
        "const box = document.querySelector(arguments[0]).getBoundingClientRect();"
        "return {x: box.x + box.width / 2, y: box.y + box.height / 2}",
        selector,
    )
    browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [place]})
    browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
