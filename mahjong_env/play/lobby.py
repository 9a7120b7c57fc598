"""The choices on the page before a match: variant, house rules and the rule sheet for them, opponents, seat."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from typing import Any, Final

from mahjong_env.basics.errors import RulesError
from mahjong_env.drawing.table import WINDS, read_table
from mahjong_env.engine.batch import Engine
from mahjong_env.environments.agents import Opponent
from mahjong_env.play.match import PersonsMatch, RequestError
from mahjong_env.rulebook.page import rules_in_short, variant_page, without_links
from mahjong_env.ruleset import knobs
from mahjong_env.ruleset.questions import Rules
from mahjong_env.ruleset.registry import VARIANTS, rules

_HANDS: Final = (1, 4, 8, 16)
_SHOWN_AFTER: Final = 9  # answers after which a table is shown: by then there are rivers and a claim or two


@dataclass(frozen=True)
class Lobby:
    """The choices from which a person's matches are made.

    Attributes:
        agents: the names of the agents that may be chosen for the others.
        begin: begins a match, given the rules, the name of an agent, a seat (`person_at`) and a number of hands.
        shown: the agent that plays the table that shows what a variant looks like.
    """

    agents: tuple[str, ...]
    begin: Callable[[Rules, str, int, int], PersonsMatch]
    shown: Opponent

    @cached_property
    def offer(self) -> dict[str, Any]:
        """Everything that can be chosen, as plain values, with each variant's rules in a few sentences."""
        variants = [
            {
                "name": name,
                "title": one.title,
                "chinese": one.chinese,
                "about": [_in_short(one, "en"), _in_short(one, "zh")],
            }
            for name, one in ((name, rules(name)) for name in VARIANTS)
        ]
        return {"variants": variants, "agents": self.agents, "hands": _HANDS}

    def look(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """Return the rule sheet of what is wanted so far, and an example of its table.

        Raises:
            MahjongError: there is no such variant or house rule.
        """
        played = _rules(wanted)
        match = PersonsMatch(played, [None, *[self.shown] * (played.people - 1)], seed=7, hints=self.shown)
        while match.waits_for == "answer" and match.position < _SHOWN_AFTER:
            match.answer(match.position, match.hint(match.position)["advice"])
        return {
            **sheet(played, wanted),
            "seats": played.seats,
            "table": match.about(),
            "frame": match.state()["frames"][-1],
        }

    def match(self, wanted: Mapping[str, Any]) -> PersonsMatch:
        """Begin a match as it is wanted.

        Raises:
            MahjongError: something cannot be played as it is wanted.
        """
        played = _rules(wanted)
        for name, valid in {"agent": self.agents, "seat": tuple(range(played.people)), "hands": _HANDS}.items():
            if type(wanted.get(name)) is not type(valid[0]) or wanted[name] not in valid:
                told = f"{name} is one of {', '.join(map(str, valid))}, not {wanted.get(name)!r}"
                raise RequestError(HTTPStatus.BAD_REQUEST, told)
        return self.begin(played, wanted["agent"], wanted["seat"], wanted["hands"])


def sheet(played: Rules, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rules as Markdown, and each knob: name, value, choices, valid values, meaning, choices in words."""
    language = "zh" if wanted.get("language") == "zh" else "en"
    now, choices, told = played.knobs, played.knob_choices(), []
    for name, (_, valid, about) in played.knob_help(language).items():
        text, _, words = about.rpartition("：")
        labels = words.split(" / ")
        if len(labels) != len(choices[name]):
            text, labels = about, []
        told.append((name, str(now[name]), list(map(str, choices[name])), valid, text, labels))
    return {"page": _page(played, language), "knobs": told}


def person_at(played: Rules, seed: int, seat: int) -> int:
    """Return who has a wind (0 for East) in the first hand dealt from a seed, or else the person who sits out."""
    places = [place for place in read_table(Engine(played, 1, seed=seed), 0).places if place]
    seated = {place.wind: place.person for place in places}
    return seated.get(WINDS[seat], played.people - 1)


def _page(played: Rules, language: str) -> str:
    with suppress(RulesError):  # a variant from outside this package has a page only in English
        if language != "en":
            return without_links(variant_page(played, language)).rstrip()
    return rules_in_short(played)


def _in_short(played: Rules, language: str) -> str:
    """Return the summary paragraph of a variant's page, for readers who are still choosing; "" if it has none."""
    _, heading, rest = _page(played, language).partition(" in short\n\n" if language == "en" else "概要\n\n")
    return " ".join(rest.partition("\n\n")[0].replace("*", "").split()) if heading else ""


def _rules(wanted: Mapping[str, Any]) -> Rules:
    texts = wanted.get("knobs", [])
    return knobs.read_rules(wanted.get("variant", ""), map(str, texts if isinstance(texts, list) else [texts]))
