"""Contests: line-ups that are played on the same deals, wherever the settings say, and kept as they are played."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

from mahjong_agents import Agent, make_agent
from mahjong_agents.control_variates import useful_weights
from mahjong_env import Rules
from mahjong_training.config import WorkersConfig
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.hand_statistics import Played
from mahjong_training.evaluation.lineups import Seatings
from mahjong_training.evaluation.matches import Block, block_cache, blocks, play_block
from mahjong_training.evaluation.results import LineupResult, summarise
from mahjong_training.runtime.console import TimeLeft
from mahjong_training.runtime.workers import new_executor


class Contest(NamedTuple):
    """Who plays what.

    Attributes:
        rules: what is played.
        agents: texts; numbers of line-ups are places in it.
        blocks: of one line-up, in order.
    """

    rules: Rules
    agents: tuple[str, ...]
    blocks: tuple[Block, ...]

    @classmethod
    def of(
        cls,
        rules: Rules,
        agents: Mapping[str, Agent],
        lineup: Sequence[str],
        deals: range,
        seatings: Seatings = "all",
        *,
        hands: int = 1,
        most: int | None = None,
    ) -> Contest:
        """Return the contest of agents, by their texts, on some deals; luck is taken off hands where that is useful.

        ``hands`` more than one make every game a match. ``most`` is the most deals of a block; None: as many as are
        played in some seconds.
        """
        names = tuple(dict.fromkeys(lineup))
        numbers = [names.index(name) for name in lineup]
        luck_off = hands == 1 and useful_weights(rules) is not None
        playing = [agents[name] for name in names]
        every = blocks(numbers, deals, seatings, playing, luck_off, hands=hands, most=most)
        return cls(rules, names, tuple(every))

    def result(self, parts: Sequence[Played]) -> LineupResult:
        """Return means and intervals of what its blocks brought."""
        return summarise(self.rules, self.blocks[0].lineup, parts, self.blocks[0].seatings)

    def __str__(self) -> str:
        lineup = self.blocks[0].lineup
        return f"{self.rules.title}: " + ", ".join(
            f"{lineup.count(number)} x {name}" if lineup.count(number) > 1 else name
            for number, name in enumerate(self.agents)
        )


def play_contests(
    contests: Sequence[Contest],
    agents: Mapping[str, Agent],
    config: WorkersConfig,
    seed: int,
    *,
    out: Path | None = None,
    progress: Callable[[str], object] = str,
) -> Iterator[tuple[Contest, list[Played]]]:
    """Play all blocks that are not kept, then yield each contest with what its blocks brought.

    Args:
        contests: what is played.
        agents: those of all contests, by their texts; other processes make them of these.
        config: where work is done.
        seed: of the deals and all choices.
        out: a folder in which blocks are kept; None: they are kept in memory.
        progress: is told what is being played.
    """
    kept = [block_cache(out, one.rules, one.agents, [agents[name] for name in one.agents], seed) for one in contests]
    in_memory: dict[tuple[int, Block], Played] = {}
    missing = [
        (number, block)
        for number, one in enumerate(contests)
        for block in one.blocks
        if kept[number].get(block) is None
    ]
    tasks = [(contests[number].rules, contests[number].agents, block) for number, block in missing]
    left = TimeLeft(len(missing))
    progress(f"part 1 of {len(missing)}")
    with (
        new_executor(config.processes, config.ray, config.threads) as executor,
        closing(executor.map(_play_task, (agents, seed), tasks, partial(_state_of, tuple(agents), seed))) as done,
    ):
        for count, (place, part) in enumerate(done, start=1):
            number, block = missing[place]
            if out is None:
                in_memory[number, block] = part
            else:
                kept[number].put(block, part)
            left.done()
            progress(f"part {count} of {len(missing)}, {contests[number]}{left}")
    for number, one in enumerate(contests):
        parts = [in_memory.get((number, block)) or kept[number].get(block) for block in one.blocks]
        if None in parts:
            raise TrainingError("what was played has gone from the folder; the same command plays it again")
        yield one, [part for part in parts if part is not None]


def _state_of(specs: Sequence[str], seed: int) -> tuple[Mapping[str, Agent], int]:
    return {spec: make_agent(spec) for spec in specs}, seed


def _play_task(state: tuple[Mapping[str, Agent], int], task: tuple[Rules, tuple[str, ...], Block]) -> Played:
    (agents, seed), (rules, names, block) = state, task
    return play_block(rules, [agents[name] for name in names], block, seed)
