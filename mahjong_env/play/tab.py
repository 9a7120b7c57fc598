"""The play page without a server: a worker of the browser's tab runs this module under Pyodide to answer the page."""

from __future__ import annotations

import json
import secrets
from functools import cache
from typing import Final

from mahjong_env.environments.agents import Opponent, agent_names, find_agent
from mahjong_env.play.games import Games, refused
from mahjong_env.play.lobby import Lobby, person_at
from mahjong_env.play.match import PersonsMatch
from mahjong_env.play.server import play_html
from mahjong_env.records import GameRecord
from mahjong_env.ruleset.questions import Rules
from mahjong_env.viewer.page import part

# 'self' is the site that the page came from: the worker fetches Python there, under the policy of the page.
_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'wasm-unsafe-eval' 'self'; "
    "img-src data:; connect-src 'self'; worker-src blob:; base-uri 'none'; form-action 'none'"
)
_AGENTS: Final = ("random", "closed-greedy", "greedy", "policy")  # those that need only numpy and answer at once


def tab_html() -> str:
    """Return the page; it needs a folder "python" beside it with Pyodide, numpy and these packages."""
    return play_html(_lobby(), reach=part("tab.js", "play"), policy=_POLICY)


def answer(method: str, path: str, body: str) -> str:
    """Return the status and the answer to a request, as JSON.

    The answer about a match also has its record so far, a line from which the address "kept" resumes the match; "" if
    the match is over. The answer to a request for the record is the text of its file.
    """
    try:
        parts, games = path.split("/"), _games()
        if method == "GET" and len(parts) == 3 and parts[0] == "games" and parts[2] == "record":
            return json.dumps([200, games.record(parts[1])])
        told = games.go_on(_kept(body)) if parts == ["kept"] else games.told(method, parts, json.loads(body))
        if name := told.get("game", "".join(parts[1:2])):
            record = games.game(name).match.so_far()
            return json.dumps([200, told, record.to_json() if record else ""])
        return json.dumps([200, told])
    except Exception as error:
        return json.dumps(refused(error))


@cache
def _games() -> Games:
    return Games(_lobby())


def _kept(line: str) -> PersonsMatch:
    """Return the match of a record, resumed where it stopped."""
    record = GameRecord.from_json(line)
    seated = [None if name == "you" else find_agent(name) for name in record.agents]
    begun = record, len(record.actions)
    return PersonsMatch(record.rules, seated, seed=secrets.randbits(31), hints=_lobby().shown, begun=begun)


def _lobby() -> Lobby:
    names = tuple(name for name in _AGENTS if name in agent_names())
    hints = find_agent("greedy" if "greedy" in names else "random")

    def begin(rules: Rules, name: str, seat: int, num_hands: int) -> PersonsMatch:
        seed = secrets.randbits(31)
        seated: list[Opponent | None] = [find_agent(name)] * rules.people
        seated[person_at(rules, seed, seat)] = None
        return PersonsMatch(rules, seated, seed=seed, num_hands=num_hands, hints=hints)

    return Lobby(names, begin, hints)
