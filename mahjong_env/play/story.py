"""A game told move by move: for spectators, or for a person at the table, who is told what that person sees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mahjong_env.basics.actions import ACTIONS, ADDED_KONG, CONCEALED_KONG, PASS, WIN
from mahjong_env.basics.tiles import NO_TILE, NUM_KINDS
from mahjong_env.drawing.table import WINDS
from mahjong_env.drawing.text import Reader, deeds, legal_text, outcome_text
from mahjong_env.engine.batch import Engine
from mahjong_env.engine.outcome import StepResult, hand_info
from mahjong_env.ruleset.questions import Rules
from mahjong_env.state.arrays import Event, Phase


class Story:
    """Tells the one game of an engine.

    Attributes:
        reader: who is told.
    """

    def __init__(
        self, engine: Engine, reader: Reader | None = None, step: Callable[[list[int]], StepResult] | None = None
    ) -> None:
        """Begin where the engine is; ``step`` plays actions instead of `Engine.step`, as `Recorder.step` does."""
        self.reader = reader or Reader()
        self._step = step or engine.step
        self._engine, self._state = engine, engine.state
        self._flowers = np.zeros_like(self._state.flowers[0])

    def opening(self) -> list[str]:
        """The flowers that have been laid open when a hand begins."""
        return [
            f"{self.reader.does(self._person(seat), 'lay')} open {self._tiles(new)}"
            for seat in range(self._engine.num_seats)
            if (new := self._new_flowers(seat)).size
        ]

    def play(self, action: int) -> tuple[StepResult, list[str]]:
        """Step the game with one action, and say what the reader sees of it.

        Returns:
            What `Engine.step` returns, and lines. The result of a hand that has ended is among them, and the opening
            of the next one.
        """
        state = self._state
        seat, in_turn = int(state.actor[0]), state.phase[0] == Phase.TURN
        lines = self._turn(seat, action) if in_turn else self._answer(seat, action)
        watcher = self.reader.person or 0
        told = len(deeds(self._engine.view(seats=watcher)))
        result = self._step([action])
        if result.hand_over[0]:
            ended, receipt = hand_info(result.outcome, 0), result.outcome.receipts[0]
            lines.append(outcome_text(ended, self.reader, self._engine.rules, receipt))
            self._flowers[...] = 0
            if not result.done[0]:
                lines += self.opening()
        elif not in_turn:
            granted = deeds(self._engine.view(seats=watcher))[told:]
            lines += [f"{self.reader.name(deed[1])} {self.reader.deed(*deed)}" for deed in granted]
        return result, lines

    # --- turns -------------------------------------------------------------------------------------------------
    def draw(self) -> list[str]:
        """The draw of the seat in its turn, as far as the reader sees it: flowers, and the tile itself."""
        state, seat = self._state, int(self._state.actor[0])
        if seat < 0 or state.phase[0] != Phase.TURN:
            return []
        person = self._person(seat)
        told = self._draw(seat, person)
        return [f"{self.reader.name(person)} {', '.join(told)}"] if told else []

    def _draw(self, seat: int, person: int) -> list[str]:
        new, drawn = self._new_flowers(seat), int(self._state.drawn[0])
        verb = self.reader.verb
        told = [f"{verb(person, 'lay')} open {self._tiles(new)}"] if new.size else []
        if drawn >= 0 and self.reader.person in (None, person):
            from_the_end = " from the end of the wall" if new.size or self._state.kong_draws[0] else ""
            told.append(f"{verb(person, 'draw')} {self._tiles([drawn])}{from_the_end}")
        return told

    def _turn(self, seat: int, action: int) -> list[str]:
        person = self._person(seat)
        is_you, verb, kind = person == self.reader.person, self.reader.verb, action % NUM_KINDS
        if action == WIN:
            what = f"{verb(person, 'declare')} a win"
        elif action < CONCEALED_KONG:
            what = self.reader.deed(Event.DISCARD, person, kind)
        elif action < ADDED_KONG:
            is_hidden = self._engine.rules.hides_concealed_kongs and not is_you and self.reader.person is not None
            what = self.reader.deed(Event.CONCEALED_KONG, person, NO_TILE if is_hidden else kind)
        else:
            what = self.reader.deed(Event.ADDED_KONG, person, kind)
        # A person at the table has been told about the own draw when the question was put.
        return [f"{self.reader.name(person)} {', '.join([*([] if is_you else self._draw(seat, person)), what])}"]

    # --- claims ------------------------------------------------------------------------------------------------
    def _answer(self, seat: int, action: int) -> list[str]:
        """The answer of a seat to an offered tile: nobody else at the table hears it."""
        person = self._person(seat)
        if self.reader.person not in (None, person):
            return []
        if action == WIN:
            return [f"{self.reader.does(person, 'declare')} a win"]
        if action != PASS:
            return [f"{self.reader.does(person, 'call')} {ACTIONS[action]}"]
        legal = np.flatnonzero(self._engine.action_mask[0])
        possible = legal_text(legal[legal != PASS]).replace("; ", ", ")
        return [f"{self.reader.does(person, 'pass')} ({possible} possible)"]

    # --- words -------------------------------------------------------------------------------------------------
    def _new_flowers(self, seat: int) -> np.ndarray:
        """The flowers that a seat has laid open since this was last asked."""
        now = self._state.flowers[0, seat]
        new = np.repeat(np.arange(len(now)), np.maximum(now - self._flowers[seat], 0))
        self._flowers[seat] = now
        return new

    def _person(self, seat: int) -> int:
        return int(self._state.person_at[0, seat])

    def _tiles(self, kinds: object) -> str:
        return self.reader.tiles(kinds)  # type: ignore[arg-type]


def aim(rules: Rules) -> list[str]:
    """The aim of the game, in lines."""
    sets = {4: "four", 5: "five"}.get(rules.sets, rules.sets)
    shapes: tuple[Any, ...] = getattr(rules, "shapes", ())
    others = "".join(f", or {shape.name}" for shape in shapes[1:])
    return [
        f"draw a tile and discard one until your hand is complete: {sets} sets and a pair{others}",
        "a set is three alike (a pung; with the fourth tile a kong) or three in a row of one suit (a chow)",
        f"the first complete hand may win; which hands may, and what they pay: rules --variant {rules.name}",
    ]


def situation_text(engine: Engine, reader: Reader) -> str:
    """The aim of a hand, and the meaning of its headline: the order of turns, the winds, the streak, the wild tile."""
    state, rules = engine.state, engine.rules
    persons = state.person_at[0].tolist()
    order = " -> ".join(reader.name(person) for person in persons)
    dealer = reader.name(persons[int(state.dealer[0])])
    wind = WINDS[int(state.round_wind[0])]
    lines = [
        *aim(rules),
        f"turns go {order} and round again",
        "a chow is claimed from the player before, everything else from anybody",
        f"{wind} round: {wind} is the round wind; each seat's own wind stands beside its name",
    ]
    streak = int(state.streak[0])
    times = {0: "has just got the deal", 1: "has kept it once", 2: "has kept it twice"}
    kept = times.get(streak, f"has kept it {streak} times")
    is_you = persons[int(state.dealer[0])] == reader.person
    kept = kept.replace("has", "have", int(is_you))
    lines.append(f"{dealer} deal{'' if is_you else 's'} and {kept}: the dealer's streak is {streak}")
    if state.wild[0] >= 0:
        turned = f", because {reader.tiles([state.indicator[0]])} was turned up" if state.indicator[0] >= 0 else ""
        lines.append(f"{reader.tiles([state.wild[0]])} is wild{turned}: it stands for any tile of a set or pair")
    if rules.uses_flowers:
        lines.append("flowers and seasons are laid open and replaced from the end of the wall")
    return "\n".join(lines)
