"""The parts of an evaluation that have been played, kept until it is finished: an interrupted one goes on with them."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agents import Agent
from agents.outcomes import NUMBERS_PATH
from agents.policy_file import SHIPPED, find_policy
from mahjong_env import Rules, __version__
from training.kept import Kept
from training.lineups import Block
from training.play import Played


class Parts:
    """Played blocks in a folder of their own, which bears a name that stands for everything they depend on.

    Attributes:
        digests: for each agent, of the files that its choices come from: its class's, and its policy's.
    """

    def __init__(
        self, out: Path | None, rules: Rules, specs: Sequence[str], agents: Sequence[Agent], seed: int
    ) -> None:
        """Look where the parts of this evaluation would be.

        Args:
            out: the folder of the evaluation; None: nothing is kept.
            rules: what is played.
            specs: the texts that the agents are made from.
            agents: the agents.
            seed: of the deals and all choices.
        """
        self.digests = [digests(str(spec), agent, rules) for spec, agent in zip(specs, agents, strict=True)]
        depends_on: dict[str, Any] = {
            "versions": [__version__, np.__version__],
            "rules": [rules.name, rules.version, {name: str(value) for name, value in rules.knobs.items()}],
            "agents": [[str(spec), *found] for spec, found in zip(specs, self.digests, strict=True)],
            "seed": seed,
        }
        self._kept = Kept(out, "parts", depends_on)

    def get(self, block: Block) -> Played | None:
        """Return what happened in a block; None if it was not played, or if its file is damaged."""
        found = self._kept.get(self._name(block))
        try:
            return None if found is None else Played.of_arrays(found)
        except KeyError:
            return None

    def put(self, block: Block, played: Played) -> None:
        """Keep what happened in a block.

        Raises:
            WriteError: it cannot be written.
        """
        self._kept.put(self._name(block), played.arrays())

    def remove(self) -> None:
        """Forget them: the evaluation is finished."""
        self._kept.remove()

    @staticmethod
    def _name(block: Block) -> str:
        lineup = "-".join(map(str, block.lineup))
        how = block.seatings + "-luck" * block.control_variates
        return f"{lineup}_{how}_{block.number}_{block.first}-{block.last}"


def digests(spec: str, agent: Agent, rules: Rules | None = None) -> list[str]:
    """Return the digests of the files that an agent's choices come from; "" for one that cannot be read.

    Args:
        spec: the text that it is made from.
        agent: the agent.
        rules: what is played: agents that play a shipped policy play that of these rules.
    """
    return [*map(_digest, _files(spec, agent, rules))]


def _files(spec: str, agent: Agent, rules: Rules | None) -> list[Path]:
    """Return the files that an agent's choices come from: its class's, its policy's, its numbers."""
    module = sys.modules.get(type(agent).__module__)
    files = [Path(file)] if (file := getattr(module, "__file__", None)) else []
    name, _, place = spec.partition("?")[0].partition(":")
    if name.strip() == "policy" and place:
        return [*files, find_policy(place)]
    if rules is not None and name.strip() in ("policy", "search"):
        files.append(SHIPPED / f"{rules.name}.zip")
    if name.strip() == "value":
        files.append(NUMBERS_PATH)
    return files


def _digest(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""
