"""``play``: you sit at the table, on the terminal, against agents."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from mahjong_env.basics.actions import ACTIONS, ADDED_KONG, CONCEALED_KONG
from mahjong_env.basics.errors import MahjongError
from mahjong_env.cli.arguments import add_agents, add_game, add_rules, read_agents, read_rules, read_seed
from mahjong_env.cli.show_command import ask
from mahjong_env.engine.batch import Engine
from mahjong_env.environments.hand_info import hand_info
from mahjong_env.environments.opponents import Opponent
from mahjong_env.environments.render import legal_text, meld_text, move_text, outcome_text, person_name, table_text
from mahjong_env.state.arrays import Phase

HELP = "write a tile to discard it (5m), or an action (pung, chow low, kong, added kong 5m, win, pass); q leaves"


def add_to(commands: Any) -> None:
    """Add the command's parser."""
    parser: argparse.ArgumentParser = commands.add_parser("play", help=__doc__.partition(": ")[2], description=__doc__)
    add_rules(parser)
    add_agents(parser, "who plays the other seats")
    add_game(parser)
    parser.add_argument("--seat", type=int, default=0, help="your person (default: 0)")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Play one match."""
    rules, seed = read_rules(chosen), read_seed(chosen)
    if not 0 <= chosen.seat < rules.people:
        raise MahjongError(f"--seat is a person from 0 to {rules.people - 1}, not {chosen.seat}")
    others = read_agents(chosen.agents, rules.people - 1)
    agents: list[Opponent | None] = [*others[: chosen.seat], None, *others[chosen.seat :]]
    engine = Engine(rules, 1, seed=seed, num_hands=chosen.num_hands)
    print(f"seed {seed}; you are {person_name(chosen.seat)}; {HELP}")
    play(engine, agents, np.random.default_rng(seed), unicode=chosen.unicode)
    return 0


def play(
    engine: Engine,
    agents: list[Opponent | None],
    rng: np.random.Generator,
    *,
    unicode: bool = False,
    read: Callable[[str], str] = input,
) -> None:
    """Play an engine's one game; None among the agents is the person at the terminal."""
    you = agents.index(None)
    while engine.seat_to_act[0] >= 0:
        person = int(engine.seat_to_act[0])
        agent = agents[person]
        if agent is None:
            print(table_text(engine, person=you, unicode=unicode))
            answer = ask_person(engine, read)
            if answer is None:
                print("you have left the table")
                return
            action = answer
        else:
            action = ask(agent, engine, rng)
        melds, in_turn = engine.state.num_melds[0].copy(), engine.state.phase[0] == Phase.TURN
        result = engine.step([action])
        if in_turn and agent is not None:
            print(turn_text(engine, person, action))
        if result.hand_over[0]:
            print(outcome_text(hand_info(result.outcome, 0), unicode=unicode))
        elif not in_turn:
            print(*claims_text(engine, melds), sep="", end="")
    print(table_text(engine, unicode=unicode))


def turn_text(engine: Engine, person: int, action: int) -> str:
    """What the table sees of another's turn: not the kind of a kong that is hidden."""
    hides = engine.rules.hides_concealed_kongs and CONCEALED_KONG <= action < ADDED_KONG
    return f"{person_name(person)}: concealed kong" if hides else move_text(person, action)


def claims_text(engine: Engine, melds: Any) -> list[str]:
    """The claim that has been granted, if any, each line with its end: nobody learns who has passed.

    Args:
        engine: the game after the step.
        melds: [S] how many melds each table seat had before.
    """
    seats = np.flatnonzero(engine.state.num_melds[0] > melds).tolist()
    return [
        f"{person_name(int(engine.state.person_at[0, seat]))}: {meld_text(engine, 0, seat, int(melds[seat]))}\n"
        for seat in seats
    ]


def ask_person(engine: Engine, read: Callable[[str], str]) -> int | None:
    """Read one legal action; None when the person leaves."""
    legal = [ACTIONS[number] for number in np.flatnonzero(engine.action_mask[0])]
    while True:
        try:
            text = " ".join(read("> ").lower().split())
        except EOFError:
            return None
        if text in ("q", "quit"):
            return None
        fits = matching(text, legal)
        if len(fits) == 1:
            return ACTIONS.index(fits[0])
        if text in ("", "?", "help"):
            print(HELP)
        print(f"you may {legal_text(map(ACTIONS.index, fits or legal))}")


def matching(text: str, legal: list[str]) -> list[str]:
    """The legal actions that a person may have meant: the name, a tile to discard, or the beginning of names."""
    for meant in (text, f"discard {text}"):
        if meant in legal:
            return [meant]
    return [name for name in legal if text and name.startswith(text)]
