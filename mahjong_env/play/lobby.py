"""What is chosen on the page before a match: variant, house rules with the sheet that follows them, opponents, seat."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from mahjong_env.environments.agents import Opponent
from mahjong_env.play.match import PersonsMatch, RequestError
from mahjong_env.rulebook.page import rules_in_short
from mahjong_env.ruleset import knobs
from mahjong_env.ruleset.questions import Rules
from mahjong_env.ruleset.registry import VARIANTS, rules

_MOST_HANDS: Final = 100
_SHOWN_AFTER: Final = 9  # answers: by then there are rivers and a claim or two


@dataclass(frozen=True)
class Lobby:
    """Matches as a person chooses them.

    Attributes:
        agents: the names that may be chosen for the others.
        begin: begins a match of rules, against the agent of a name, for a person, of a number of hands.
        shown: plays the table that shows what a variant looks like.
    """

    agents: tuple[str, ...]
    begin: Callable[[Rules, str, int, int], PersonsMatch]
    shown: Opponent

    def offer(self) -> dict[str, Any]:
        """Everything that can be chosen, as plain values."""
        variants = [
            {"name": name, "title": one.title, "chinese": one.chinese, "about": [_in_short(one), one.in_short_chinese]}
            for name, one in ((name, rules(name)) for name in VARIANTS)
        ]
        return {"variants": variants, "agents": self.agents}

    def look(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """The sheet of what is wanted so far, and a table of it.

        Raises:
            MahjongError: there is no such variant or house rule.
        """
        played = _rules(wanted)
        match = PersonsMatch(played, [None, *[self.shown] * (played.people - 1)], seed=7, hints=self.shown)
        while match.waits_for == "answer" and match.position < _SHOWN_AFTER:
            match.answer(match.position, match.hint(match.position)["advice"])
        return {**sheet(played), "table": match.about(), "frame": match.state()["frames"][-1]}

    def match(self, wanted: Mapping[str, Any]) -> PersonsMatch:
        """A match as it is wanted.

        Raises:
            MahjongError: something cannot be played as it is wanted.
        """
        played = _rules(wanted)
        agent, person, hands = wanted.get("agent"), wanted.get("person"), wanted.get("hands")
        if agent not in self.agents:
            raise RequestError(HTTPStatus.BAD_REQUEST, f"agent is one of {', '.join(self.agents)}, not {agent!r}")
        if not isinstance(person, int) or not 0 <= person < played.people:
            raise RequestError(HTTPStatus.BAD_REQUEST, f"person is a number from 0 to {played.people - 1}")
        if not isinstance(hands, int) or not 1 <= hands <= _MOST_HANDS:
            raise RequestError(HTTPStatus.BAD_REQUEST, f"hands is a number from 1 to {_MOST_HANDS}")
        return self.begin(played, agent, person, hands)


def sheet(played: Rules) -> dict[str, Any]:
    """The rules in short, as Markdown, and each knob: name, value, choices, valid values in words, what it does."""
    now, choices = played.knobs, played.knob_choices()
    told = [
        (name, str(now[name]), list(map(str, choices[name])), valid, about)
        for name, (_, valid, about) in played.knob_help().items()
    ]
    return {"page": rules_in_short(played), "knobs": told}


def _rules(wanted: Mapping[str, Any]) -> Rules:
    texts = wanted.get("knobs", [])
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise RequestError(HTTPStatus.BAD_REQUEST, f"knobs is a list of texts, each {knobs.EXAMPLE}")
    return knobs.read_rules(wanted.get("variant", ""), texts)


def _in_short(played: Rules) -> str:
    """The paragraph in short of the page of rules; empty for variants from outside that have none."""
    paragraph = rules_in_short(played).partition("in short\n\n")[2].partition("\n\n")[0]
    return " ".join(paragraph.replace("*", "").split())
