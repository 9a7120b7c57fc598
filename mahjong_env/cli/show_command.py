"""``show``: Watch a game between agents, or a recorded one, move by move or as a page for a browser."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import numpy as np

from mahjong_env.basics.actions import ACTIONS, ADDED_KONG, CONCEALED_KONG, PASS, WIN
from mahjong_env.basics.errors import MahjongError
from mahjong_env.basics.notation import LEGEND
from mahjong_env.basics.tiles import NUM_KINDS
from mahjong_env.cli.arguments import (
    add_game,
    add_rules,
    check_distinct,
    check_left_out,
    check_record,
    check_writable,
    read_agents,
    read_rules,
    read_seed,
    write_text,
)
from mahjong_env.cli.terminal import say, width
from mahjong_env.drawing.text import (
    WIDTH,
    Reader,
    deeds,
    has_colour,
    kong_text,
    legal_text,
    outcome_text,
    standings_text,
    table_text,
)
from mahjong_env.engine.batch import Engine
from mahjong_env.engine.outcome import StepResult, hand_info
from mahjong_env.environments.agents import agent_name, ask_alone
from mahjong_env.records import GameRecord, Recorder, RecordWriter, Replay, nth_record
from mahjong_env.state.arrays import Event, Phase
from mahjong_env.viewer import viewer_html


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "games",
        nargs="?",
        metavar="RECORD",
        help="file of recorded games (.jsonl) to show, instead of playing a new one",
    )
    parser.add_argument("--match", type=int, default=1, help="which match of the file, counted from 1 (default: 1)")
    add_rules(parser, required=False)
    add_game(parser, "agents that play")
    tables = "draw the table never, before and after each hand (the default), or before each move"
    parser.add_argument("--tables", choices=("none", "hands", "moves"), default="hands", help=tables)
    parser.add_argument("--html", metavar="FILE", help="write the match as a page for a browser, and print no moves")


def run(chosen: argparse.Namespace) -> int:
    """Tell one match, or write it as a page."""
    check_distinct({"RECORD": chosen.games, "--record": chosen.record, "--html": chosen.html})
    if chosen.html is not None:
        check_writable(Path(chosen.html))
    if chosen.games is None:
        if chosen.match != 1:
            raise MahjongError("--match chooses one of the matches in a file of records: name the file")
        if chosen.variant is None:
            raise MahjongError("name a variant to play (--variant), or a file of recorded games")
        check_record(chosen, page=chosen.html)
        record = _play(chosen)
        if chosen.record is not None:
            with RecordWriter(chosen.record) as writer:
                writer.write(record)
    else:
        why, played = "a recorded game has its own rules, players and cards", {"agents": ["random"], "num_hands": 1}
        check_left_out(chosen, why, variant=None, knob=[], seed=None, record=None, thoughts=False, **played)
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
    """Tell a match while it is played; ``choose`` gives the next action, or None where a record ends early."""
    colour = has_colour()
    reader = Reader(unicode=chosen.unicode)
    story = Story(engine, reader, step)
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
            say(standings_text(engine.points[0].tolist(), reader), colour=colour)
    if chosen.tables != "none":
        print(table_text(engine, unicode=chosen.unicode, colour=colour, width=width(WIDTH)))


class Story:
    """Tells the one game of an engine move by move to spectators, who see all hands."""

    def __init__(self, engine: Engine, reader: Reader, step: Callable[[list[int]], StepResult]) -> None:
        """Begin where the engine is; ``step`` plays actions, as `Engine.step` and `Recorder.step` do."""
        self._engine, self._reader, self._step = engine, reader, step
        self._told = 0  # of the deeds that the seat to act sees

    def opening(self) -> list[str]:
        """The flowers that have been laid open when a hand begins."""
        laid = deeds(self._engine.view())
        self._told = len(laid)
        flowers = [(person, sorted(deed[2] for deed in own)) for person, own in groupby(laid, itemgetter(1))]
        return [f"{self._reader.does(person, 'lay')} open {self._reader.tiles(kinds)}" for person, kinds in flowers]

    def play(self, action: int) -> tuple[StepResult, list[str]]:
        """Step the game by one action, and say what happens.

        Returns:
            What `Engine.step` returns, and lines of text. When a hand has ended, they include its result and the
            opening of the next one.
        """
        in_turn, before = self._engine.state.phase[0] == Phase.TURN, deeds(self._engine.view())
        lines = [self._turn(action, [deed[2] for deed in before[self._told :]]) if in_turn else self._answer(action)]
        result = self._step([action])
        if result.hand_over[0]:
            ended, receipt = hand_info(result.outcome, 0), result.outcome.receipts[0]
            lines.append(outcome_text(ended, self._reader, self._engine.rules, receipt))
            return result, lines if result.done[0] else [*lines, *self.opening()]
        # The flowers of the next draw are told with what the seat does then.
        new = [deed for deed in deeds(self._engine.view())[len(before) :] if deed[0] != Event.FLOWER]
        self._told = len(before) + len(new)
        if not in_turn:  # a claim may have been granted
            lines += [f"{self._reader.name(deed[1])} {self._reader.deed(*deed)}" for deed in new]
        if result.rewards.any():
            lines.append(kong_text(result.rewards[0].tolist(), self._reader))
        return result, lines

    def _turn(self, action: int, flowers: list[int]) -> str:
        """What the seat whose turn it is has laid open and drawn, and what it does."""
        state, reader, person = self._engine.state, self._reader, int(self._engine.seat_to_act[0])
        drawn = int(state.drawn[0])
        told = [f"{reader.verb(person, 'lay')} open {reader.tiles(sorted(flowers))}"] if flowers else []
        if drawn >= 0:
            where = " from the end of the wall" if flowers or state.kong_draws[0] else ""
            told.append(f"{reader.verb(person, 'draw')} {reader.tiles([drawn])}{where}")
        if action == WIN:
            told.append(f"{reader.verb(person, 'declare')} a win")
        else:
            later = Event.CONCEALED_KONG if action < ADDED_KONG else Event.ADDED_KONG
            told.append(reader.deed(Event.DISCARD if action < CONCEALED_KONG else later, person, action % NUM_KINDS))
        return f"{reader.name(person)} {', '.join(told)}"

    def _answer(self, action: int) -> str:
        """The answer of a seat to an offered tile, which nobody at the table hears."""
        reader, person = self._reader, int(self._engine.seat_to_act[0])
        if action == WIN:
            return f"{reader.does(person, 'declare')} a win"
        if action != PASS:
            return f"{reader.does(person, 'call')} {ACTIONS[action]}"
        legal = np.flatnonzero(self._engine.action_mask[0])
        return f"{reader.does(person, 'pass')} ({legal_text(legal[legal != PASS]).replace('; ', ', ')} possible)"
