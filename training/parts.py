"""The parts of an evaluation that have been played, kept until it is finished: an interrupted one goes on with them."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from agents import Agent
from agents.policy_file import SHIPPED, find_policy
from mahjong_env import Rules, __version__
from training.folders import make_folder, write_bytes
from training.lineups import Block
from training.play import Played

_COUNTS = "counts."


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
        name = hashlib.sha256(json.dumps(depends_on, sort_keys=True).encode()).hexdigest()[:16]
        self._folder = None if out is None else out / f".parts-{name}"

    def get(self, block: Block) -> Played | None:
        """Return what happened in a block; None if it was not played, or if its file is damaged."""
        if self._folder is None:
            return None
        try:
            with np.load(self._path(self._folder, block), allow_pickle=False) as arrays:
                found = dict(arrays)
            counts = {name.removeprefix(_COUNTS): found.pop(name) for name in list(found) if name.startswith(_COUNTS)}
            return Played(**found, counts=counts)
        except Exception:  # zipfile, zlib and numpy have a dozen kinds; what cannot be read is played again
            return None

    def put(self, block: Block, played: Played) -> None:
        """Keep what happened in a block.

        Raises:
            WriteError: it cannot be written.
        """
        if self._folder is None:
            return
        arrays = {item.name: getattr(played, item.name) for item in fields(Played) if item.name != "counts"}
        arrays |= {_COUNTS + name: array for name, array in played.counts.items()}
        data = io.BytesIO()
        np.savez_compressed(data, **arrays)
        make_folder(self._folder)
        write_bytes(self._path(self._folder, block), data.getvalue())

    def remove(self) -> None:
        """Forget them: the evaluation is finished."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    @staticmethod
    def _path(folder: Path, block: Block) -> Path:
        lineup = "-".join(map(str, block.lineup))
        how = block.seatings + "-luck" * block.control_variates
        return folder / f"{lineup}_{how}_{block.number}_{block.first}-{block.last}.npz"


def digests(spec: str, agent: Agent, rules: Rules | None = None) -> list[str]:
    """Return the digests of the files that an agent's choices come from; "" for one that cannot be read.

    Args:
        spec: the text that it is made from.
        agent: the agent.
        rules: what is played: agents that play a shipped policy play that of these rules.
    """
    return [*map(_digest, _files(spec, agent, rules))]


def _files(spec: str, agent: Agent, rules: Rules | None) -> list[Path]:
    """Return the files that an agent's choices come from: its class's, and its policy's."""
    module = sys.modules.get(type(agent).__module__)
    files = [Path(file)] if (file := getattr(module, "__file__", None)) else []
    name, _, place = spec.partition("?")[0].partition(":")
    if name.strip() == "policy" and place:
        return [*files, find_policy(place)]
    if rules is not None and name.strip() in ("policy", "search"):
        files.append(SHIPPED / f"{rules.name}.zip")
    return files


def _digest(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""
