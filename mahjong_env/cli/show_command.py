"""``show``: a game between agents, move by move."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from mahjong_env.basics.notation import LEGEND
from mahjong_env.cli.arguments import add_agents, add_game, add_rules, read_agents, read_rules, read_seed
from mahjong_env.cli.story import Story
from mahjong_env.cli.terminal import has_colour, say
from mahjong_env.engine.batch import Engine
from mahjong_env.environments.players import Opponent
from mahjong_env.environments.players import ask as ask_agent
from mahjong_env.environments.render import Reader, table_text

TABLES = ("none", "hands", "moves")


def add_to(commands: Any) -> None:
    """Add the command's parser."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "show", help=__doc__.partition(": ")[2], description=__doc__, epilog=LEGEND
    )
    add_rules(parser)
    add_agents(parser, "who plays")
    add_game(parser)
    parser.add_argument(
        "--tables",
        choices=TABLES,
        default="hands",
        help="draw the table never, before and after each hand (default), or before each move",
    )
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Play and print one match."""
    rules, seed = read_rules(chosen), read_seed(chosen)
    agents = read_agents(chosen.agents, rules.people)
    engine = Engine(rules, 1, seed=seed, num_hands=chosen.num_hands)
    rng, colour = np.random.default_rng(seed), has_colour()
    story = Story(engine, Reader(unicode=chosen.unicode))
    print(f"seed {seed}\n{LEGEND}\n")
    say(*story.opening(), colour=colour)
    is_new = True
    while engine.seat_to_act[0] >= 0:
        if chosen.tables == "moves" or (chosen.tables == "hands" and is_new):
            say(table_text(engine, unicode=chosen.unicode), colour=colour)
        result, lines = story.play(ask(agents[int(engine.seat_to_act[0])], engine, rng))
        is_new = bool(result.hand_over[0])
        say(*lines, colour=colour)
    if chosen.tables != "none":
        say(table_text(engine, unicode=chosen.unicode), colour=colour)
    return 0


def ask(agent: Opponent, engine: Engine, rng: np.random.Generator) -> int:
    """The answer of an agent to the question that an engine of one game asks."""
    return int(ask_agent(agent, engine, np.zeros(1, np.intp), rng)[0])
