"""Writes one short game of each variant, move by move in words and tile notation: ``make golden``.

The games are for people who want to follow the rules at a table. test_golden.py also compares them, so that no change
of the engine or an agent goes unnoticed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

import mahjong_env
from mahjong_agents import make_agent
from mahjong_env.basics.notation import Meld, MeldType
from mahjong_env.drawing.table import WINDS
from mahjong_env.drawing.text import tiles_text
from mahjong_env.scoring.receipt import rows_text
from mahjong_env.state.arrays import Phase

FOLDER = Path(__file__).parents[1] / "tests" / "golden"
SEEDS = {"wuhan": 5, "hangzhou": 97, "hebei": 22, "taiwan": 2, "fuzhou": 0, "mcr": 142}
"""The seeds of games that end in a win with several rows, after claims and not too late."""


class Storyteller:
    """Plays one game with greedy agents and tells it in words."""

    def __init__(self, variant: str, seed: int) -> None:
        self.engine = mahjong_env.make_engine(variant, 1, seed=seed, start="first")
        self.agent = make_agent("greedy")
        self.rng = np.random.default_rng(seed)
        self.state, self.rules = self.engine.state, self.engine.rules
        self.seed = seed
        self.flowers = self.state.flowers[0].copy()

    def story(self) -> str:
        """Return the whole game."""
        return "\n".join([*self.opening(), "", "Play", *self.moves(), ""])

    # --- the parts ------------------------------------------------------------------------------------------------
    def opening(self) -> Iterator[str]:
        state, rules = self.state, self.rules
        players = {3: "three", 4: "four"}[rules.seats]
        yield f"{rules.title} mahjong ({rules.chinese}), one hand between {players} greedy agents, seed {self.seed}"
        yield "Tiles: 1-9m Characters, 1-9p Dots, 1-9s Bamboo, 1-4z East South West North, 5-7z White Green Red,"
        yield "F1-F4 flowers, S1-S4 seasons. Seats count in the order of turns; @2 means claimed from seat 2."
        yield "In brackets stands what the seat holds when it decides, the tile just drawn included, and its melds."
        yield ""
        yield "Start"
        facts = [f"seat {int(state.dealer[0])} deals", f"{WINDS[int(state.round_wind[0])]} round"]
        if state.indicator[0] >= 0:
            facts.append(f"{tiles_text([state.indicator[0]])} is turned up")
        if state.wild[0] >= 0:
            facts.append(f"{tiles_text([state.wild[0]])} is wild")
        facts.append(f"{self.left()} tiles can be drawn")
        yield f"  {', '.join(facts)}"
        for seat in range(rules.seats):
            flowers = tiles_text(np.repeat(np.arange(42), state.flowers[0, seat]))
            opened = f"  flowers {flowers}" if state.flowers[0, seat].any() else ""
            yield f"  seat {seat} ({WINDS[int(state.house_wind[0, seat])]})  {self.hand(seat)}{opened}"

    def moves(self) -> Iterator[str]:
        number = 0
        while self.engine.seat_to_act[0] >= 0:
            number += 1
            action = int(self.agent.act(self.engine.view(), self.rng)[0])
            yield f"{number:3}  {self.move(action)}"
            yield from self.consequences(self.engine.step([action]))

    def move(self, action: int) -> str:
        """Return what the seat to act does, and what it holds when it decides."""
        state, seat, name = self.state, int(self.state.actor[0]), mahjong_env.ACTIONS[action]
        if int(state.phase[0]) != Phase.TURN:
            return f"seat {seat} {self.answer(name)}"
        drawn = int(state.drawn[0])
        flowers = self.state.flowers[0, seat] - self.flowers[seat]
        self.flowers = state.flowers[0].copy()
        opened = f"lays open {tiles_text(np.repeat(np.arange(42), flowers))}, " if flowers.any() else ""
        words = {"win": "wins", "discard": "discards", "concealed": "declares a", "added": "makes an"}
        verb, _, rest = name.partition(" ")
        if drawn < 0:  # after a claim
            return f"seat {seat} discards {rest}   [{self.hand(seat)}]"
        first = f"draws {tiles_text([drawn])}"
        if state.kong_draws[0] or flowers.any():
            first += " from the end of the wall"
        does = words[verb] if verb == "win" else f"{words[verb]} {rest if verb == 'discard' else name}"
        return f"seat {seat} {opened}{first}, {does}   [{self.hand(seat)}]"

    def answer(self, name: str) -> str:
        """Return what a seat answers to an offered tile."""
        kind = int(self.state.offered[0])
        legal = [mahjong_env.ACTIONS[option] for option in np.flatnonzero(self.engine.action_mask[0])]
        offer = ", ".join(option for option in legal if option != "pass")
        about = f"could answer {tiles_text([kind])} with" if kind >= 0 else "is asked before the first turn:"
        return f"{about} {offer}: {'passes' if name == 'pass' else name + '!'}"

    def consequences(self, result: mahjong_env.StepResult) -> Iterator[str]:
        rewards, outcome = result.rewards[0], result.outcome
        if rewards.any() and not result.hand_over[0]:
            yield f"     paid at once: {self.paid(rewards)}"
        if not result.hand_over[0]:
            return
        yield from ("", "End")
        winner, giver = int(outcome.winner[0]), int(outcome.from_seat[0])
        if winner < 0:
            yield "  the wall is used up: nobody wins"
        else:
            source = str(outcome.source[0])
            how = {"draw": "by self-draw", "discard": "on a discard", "kong": "by robbing a kong"}.get(
                source, "by flowers"
            )
            tile = f" with {tiles_text([outcome.tile[0]])}" if outcome.tile[0] >= 0 else ""
            yield f"  seat {winner} wins{tile} {how}{f' of seat {giver}' if giver >= 0 else ''}"
            yield f"  hand      {self.hand(winner)}"
            yield f"  rows      {rows_text(outcome.rows[0])}"
            yield f"  value     {outcome.receipts[0].formula[0] or int(outcome.value[0])}"
        yield f"  payments  {self.paid(outcome.payments[0])}"
        yield f"  points    {', '.join(f'seat {seat} {int(held)}' for seat, held in enumerate(outcome.points[0]))}"

    # --- words ----------------------------------------------------------------------------------------------------
    def left(self) -> int:
        return int(self.state.left(np.array([0]))[0])

    def paid(self, amounts: object) -> str:
        return ", ".join(f"seat {seat} {int(amount):+d}" for seat, amount in enumerate(amounts))

    def hand(self, seat: int) -> str:
        """Return the concealed tiles and the melds of a seat."""
        state = self.state
        text = tiles_text(np.repeat(np.arange(34), state.hand[0, seat]))
        places = range(int(state.num_melds[0, seat]))
        of_meld = (getattr(state, name)[0, seat] for name in ("meld_type", "meld_kind", "meld_from"))
        types, kinds, givers = (numbers.tolist() for numbers in of_meld)
        return " | ".join([text, *(str(Meld(MeldType(types[at]), kinds[at], givers[at])) for at in places)])


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for variant, seed in SEEDS.items():
        (FOLDER / f"{variant}.txt").write_text(Storyteller(variant, seed).story(), encoding="utf-8")
