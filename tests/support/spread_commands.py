"""Small runs of the commands that distribute their work, whose output must not depend on where the work is done."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mahjong_agents import GreedyAgent
from mahjong_env import make_engine
from mahjong_env.cli import main
from mahjong_env.records import Recorder, RecordWriter

COMMANDS = {
    "evaluate": (("--variant", "hebei", "--agents", "random", "greedy", "--deals", "20"), "evaluation.json"),
    "leaderboard": (
        ("--variants", "hebei", "--levels", "0", "2", "--deals", "6", "--mixed-deals", "0", "--matches", "0"),
        "leaderboard.json",
    ),
    "review": (("--record", "{games}", "--review", "--seat", "1", "--worlds", "6"), "review.json"),
    "rule-values": (("--variant", "wuhan", "--all-rows", "--deals", "30"), "rules.json"),
}
"""The arguments of each command, and the file that it writes its results to. {games} is a file of `record_games`."""


def record_games(path: Path) -> Path:
    """Write two recorded hands of Hebei."""
    engine, agent, rng = make_engine("hebei", 2, seed=7), GreedyAgent(), np.random.default_rng(1)
    with RecordWriter(path) as writer:
        recorder = Recorder(engine, writer.write, agents=["greedy"] * 3)
        while (engine.seat_to_act >= 0).any():
            live = np.flatnonzero(engine.seat_to_act >= 0)
            recorder.step(agent.act(engine.view(live), rng), live)
    return path


def found_by(command: str, folder: Path, *more: str, status: int = 0) -> bytes:
    """Run a command that must end with this status, and return the file of its results."""
    words, file = COMMANDS[command]
    folder.mkdir(exist_ok=True)
    games = record_games(folder.parent / f"{command}.jsonl") if "{games}" in words else ""
    words = tuple(word.format(games=games) for word in words)
    assert main([command, *words, "--out", str(folder), *more]) == status
    return (folder / file).read_bytes() if status == 0 else b""
