"""The parts of an evaluation that have been played, kept until it is finished: an interrupted one goes on with them."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from modulefinder import ModuleFinder
from pathlib import Path
from typing import Any, Final

from mahjong_agents import Agent, PolicyFileError
from mahjong_agents.policy.file import SHIPPED, find_policy
from mahjong_agents.value.agent import NUMBERS_PATH
from mahjong_env import Rules
from mahjong_env.environments.isolated import PREFIX, IsolatedAgent
from mahjong_training.evaluation.hand_statistics import Played
from mahjong_training.evaluation.matches import Block
from mahjong_training.runtime.kept import Kept
from mahjong_training.runtime.versions import OURS

_SOURCE: Final = re.compile(r"(?P<file>.+\.py):[^:]+|(?P<module>[A-Za-z_][\w.]*):[A-Za-z_][\w.]*")
"""Where a text names what makes an agent: ``file.py:Class`` or ``module:Class``."""


class Parts:
    """Played blocks in a folder of their own, which bears a name that stands for everything they depend on.

    Attributes:
        digests: for each agent, see `digests`.
    """

    def __init__(
        self,
        out: Path | None,
        rules: Rules,
        specs: Sequence[str],
        agents: Sequence[Agent],
        seed: int,
        *,
        recorded: str = "",
    ) -> None:
        """Look where the parts of this evaluation would be.

        Args:
            out: the folder of the evaluation; None: nothing is kept.
            rules: what is played.
            specs: the texts that the agents are made from.
            agents: the agents.
            seed: of the deals and all choices.
            recorded: what is kept of the games themselves, in a word; "": nothing.
        """
        self.digests = [digests(str(spec), agent, rules) for spec, agent in zip(specs, agents, strict=True)]
        depends_on: dict[str, Any] = {
            "rules": of_rules(rules),
            "agents": [[str(spec), *found] for spec, found in zip(specs, self.digests, strict=True)],
            "seed": seed,
            "recorded": recorded,
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


def of_rules(rules: Rules) -> list[Any]:
    """Return what stands for rules in a key: name, version and knobs, and the source of those from outside."""
    knobs = {name: str(value) for name, value in rules.knobs.items()}
    return [rules.name, rules.version, knobs, [*map(_digest, _source_of(type(rules).__module__))]]


def digests(spec: str, agent: Agent, rules: Rules) -> list[str]:
    """Return what an agent's choices come from, whatever it is called.

    For agents of this package that is their class, and digests of the policies and numbers that they read: their source
    is in every key of what is kept (`mahjong_training.runtime.kept.key_of`), and makes no other agent in the ledger of
    blind tests. For others it is digests of their source: the file with what it imports from beside it, or their whole
    package.

    Args:
        spec: the text that the agent is made from.
        agent: the agent.
        rules: what is played: agents that play a shipped policy play that of these rules.
    """
    if isinstance(agent, IsolatedAgent):  # the same agent as without, whose source is not loaded here
        (module, name), source = agent.kind, _around(Path(agent.file)) if agent.file else []
    else:
        module, name = type(agent).__module__, type(agent).__qualname__
        source = _source_of(module)
    own = [f"{module}.{name}"] if module.partition(".")[0] in OURS else []
    files = dict.fromkeys([*([] if own else source), *_named(spec, rules)])
    return [*own, *map(_digest, files)]


def _named(spec: str, rules: Rules) -> Iterator[Path]:
    """Yield the files that a text names or implies, with those of agents in its options."""
    address, _, options = spec.strip().removeprefix(PREFIX).partition("?")
    name, _, place = (part.strip() for part in address.partition(":"))
    if name == "policy" and place:
        with suppress(PolicyFileError):
            yield find_policy(place)
    elif name in ("policy", "search"):
        yield SHIPPED / f"{rules.name}.zip"
    elif name == "value":
        yield NUMBERS_PATH
    elif match := _SOURCE.fullmatch(address.strip()):
        yield from _beside(Path(match["file"])) if match["file"] else _source_of(match["module"])
    yield from (Path(file) for file in (address, place) if os.path.isfile(file))
    for option in filter(None, options.split("&")):
        yield from _named(option.partition("=")[2], rules)


def _source_of(module: str) -> list[Path]:
    """Return the source of a loaded module from outside: its package's, or its file's with what that imports."""
    top = module.partition(".")[0]
    file = getattr(sys.modules.get(module), "__file__", None)
    if top in OURS or file is None:
        return []
    folders = getattr(sys.modules.get(top), "__path__", ())
    return sorted(path for folder in folders for path in Path(folder).rglob("*.py")) or _beside(Path(file))


def _around(file: Path) -> list[Path]:
    """Return the package that a file is in, or else the file with what it imports, without loading anything."""
    folders = [folder for folder in file.resolve().parents if (folder / "__init__.py").is_file()]
    return sorted(folders[-1].rglob("*.py")) if folders else _beside(file)


def _beside(file: Path) -> list[Path]:
    """Return a file, and those beside it that it imports, directly or not, as far as its text says so."""
    file = file.expanduser().resolve()
    finder = ModuleFinder(path=[str(file.parent)], excludes=list(OURS))
    try:
        finder.run_script(str(file))
    except Exception:  # what cannot be read or compiled there imports nothing
        return [file]
    return sorted({Path(found) for module in finder.modules.values() if (found := getattr(module, "__file__", None))})


def _digest(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""
