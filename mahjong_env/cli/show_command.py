"""``show``: a game between agents, or a recorded one, move by move or as a page for a browser."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from mahjong_env.basics.errors import MahjongError
from mahjong_env.basics.notation import LEGEND
from mahjong_env.cli.arguments import (
    add_game,
    add_rules,
    check_record,
    check_writable,
    read_agents,
    read_rules,
    read_seed,
    write_text,
)
from mahjong_env.cli.terminal import say, width
from mahjong_env.drawing.text import WIDTH, Reader, has_colour, standings_text, table_text
from mahjong_env.engine.batch import Engine
from mahjong_env.engine.outcome import StepResult
from mahjong_env.environments.agents import agent_name, ask_alone
from mahjong_env.play.story import Story
from mahjong_env.records import GameRecord, Recorder, RecordWriter, Replay, nth_record
from mahjong_env.viewer import viewer_html


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("games", nargs="?", metavar="RECORD", help="a file of recorded games (.jsonl), instead of play")
    parser.add_argument("--match", type=int, default=1, help="which match of the file, from 1 (default: 1)")
    add_rules(parser, required=False)
    add_game(parser, "who plays")
    tables = "draw the table never, before and after each hand (default), or before each move"
    parser.add_argument("--tables", choices=("none", "hands", "moves"), default="hands", help=tables)
    parser.add_argument("--html", metavar="FILE", help="write the match as a page for a browser instead of telling it")


def run(chosen: argparse.Namespace) -> int:
    """Tell one match, or write it as a page."""
    if chosen.html is not None:
        check_writable(Path(chosen.html))
    if chosen.games is None:
        if chosen.variant is None:
            raise MahjongError("name a variant to be played (--variant), or a file of recorded games")
        check_record(chosen, page=chosen.html)
        record = _play(chosen)
        if chosen.record is not None:
            with RecordWriter(chosen.record) as writer:
                writer.write(record)
    else:
        if chosen.variant is not None or chosen.record is not None or chosen.thoughts:
            wrong = "--variant, --record and --thoughts go without a file of records"
            raise MahjongError(f"a recorded game has its own rules: {wrong}")
        if chosen.match < 1:
            raise MahjongError(f"--match is an integer from 1, not {chosen.match}")
        record = nth_record(chosen.games, chosen.match)
        if chosen.html is None:
            replay, actions = Replay(record), iter(record.actions)
            _tell(replay.engine, lambda: next(actions, None), chosen, lambda played: replay.step())
            for _ in replay:  # nothing is left but to check the end
                pass
    if chosen.html is not None:
        write_text(Path(chosen.html), viewer_html(record))
        print(f"{chosen.html}: open it in a browser")
    return 0


def _play(chosen: argparse.Namespace) -> GameRecord:
    """Let agents play a match, and tell it unless a page is wanted."""
    rules, seed = read_rules(chosen), read_seed(chosen)
    agents = read_agents(chosen.agents, rules.people)
    engine, rng = Engine(rules, 1, seed=seed, num_hands=chosen.num_hands), np.random.default_rng(seed)
    records: list[GameRecord] = []
    names = [agent_name(agent) for agent in agents]
    recorder = Recorder(engine, lambda *ended: records.extend(ended), agents=names, thoughts=chosen.thoughts)

    def choose() -> int:
        return ask_alone(agents[int(engine.seat_to_act[0])], engine, rng, recorder.thoughts)

    if chosen.html is None:
        print(f"seed {seed}")
        _tell(engine, choose, chosen, recorder.step)
    while engine.seat_to_act[0] >= 0:
        recorder.step([choose()])
    return records[0]


def _tell(
    engine: Engine,
    choose: Callable[[], int | None],
    chosen: argparse.Namespace,
    step: Callable[[list[int]], StepResult],
) -> None:
    """Tell a match while it is played; ``choose`` gives the next action, None where a record ends early."""
    colour = has_colour()
    story = Story(engine, Reader(unicode=chosen.unicode), step)
    say(LEGEND, "")
    say(*story.opening(), colour=colour)
    is_new = True
    while engine.seat_to_act[0] >= 0:
        if chosen.tables == "moves" or (chosen.tables == "hands" and is_new):
            print(table_text(engine, unicode=chosen.unicode, colour=colour, width=width(WIDTH)))
        action = choose()
        if action is None:
            say("the record ends here", colour=colour)
            break
        result, lines = story.play(action)
        is_new = bool(result.hand_over[0])
        say(*lines, colour=colour)
        if result.done[0]:
            say(standings_text(engine.points[0].tolist(), story.reader), colour=colour)
    if chosen.tables != "none":
        print(table_text(engine, unicode=chosen.unicode, colour=colour, width=width(WIDTH)))
