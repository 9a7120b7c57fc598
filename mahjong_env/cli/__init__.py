"""The command line ``mahjong-env COMMAND``, or ``python -m mahjong_env COMMAND``.

A distribution adds a command in the entry-point group `mahjong_env.commands`, under the name that users type::

    [project.entry-points."mahjong_env.commands"]
    train = "mahjong_training.commands:train"

What is named there is a `Command`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Protocol

from mahjong_env import __version__
from mahjong_env.basics import plugins
from mahjong_env.basics.errors import MahjongError, did_you_mean, told
from mahjong_env.basics.notation import LEGEND
from mahjong_env.cli import botzone_command, play_command, rules_command, score_command, show_command
from mahjong_env.cli.terminal import INTERRUPTED, as_long_as_read, prepare_streams

SCRIPT: Final = "mahjong-env"
"""The command that installing puts on the path."""
ENTRY_POINTS: Final = "mahjong_env.commands"
"""The entry-point group in which distributions add commands."""
COMMANDS: Final = {
    "show": show_command,
    "play": play_command,
    "score": score_command,
    "rules": rules_command,
    "from-botzone": botzone_command,
}
"""The commands of this package, modules with ``declare(parser)`` and ``run(arguments)``, which returns the status."""


class Command(Protocol):
    """A command that a distribution adds.

    Attributes:
        summary: one line for the list of commands.
    """

    @property
    def summary(self) -> str: ...  # noqa: D102

    def __call__(self, arguments: Sequence[str], prog: str) -> int:
        """Run the command with the words after its name, and return the exit status; messages call it ``prog``."""
        ...


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: the words after ``mahjong-env``; None: those of this process.

    Returns:
        The exit status: 0 for success, 2 for wrong input, which is reported on stderr before anything is done, 130
        after Ctrl-C, and 143 after SIGTERM.
    """
    prepare_streams()
    words = list(sys.argv[1:] if arguments is None else arguments)
    name = SCRIPT if Path(sys.argv[0]).stem == SCRIPT else "python -m mahjong_env"

    def run() -> int:
        try:
            added = plugins.installed(ENTRY_POINTS)
            if words and words[0] in added:
                return _added(words[0], added[words[0]])(words[1:], f"{name} {words[0]}")
            chosen = _parsed(words, name)
            return COMMANDS[chosen.command].run(chosen)
        except MahjongError as error:
            print(told(error), file=sys.stderr)
            return 2
        except KeyboardInterrupt:
            print("\ninterrupted", file=sys.stderr)
            return INTERRUPTED

    return as_long_as_read(run)


def _added(name: str, entries: list[Any]) -> Command:
    plugins.only(f"command {name!r}", entries)
    command: Command = plugins.load(entries[0])
    return command


def _parsed(words: list[str], name: str) -> argparse.Namespace:
    """Parse a command of this package; unknown arguments are refused, with a suggestion."""
    parser = argparse.ArgumentParser(
        prog=name,
        description="Chinese regional mahjong: watch and play games, score hands, train and evaluate agents.",
        epilog=f"{LEGEND}. `{name} COMMAND --help` explains one command.",
    )
    parser.add_argument("--version", action="version", version=f"mahjong_env {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for command, module in COMMANDS.items():
        about = module.__doc__ or ""
        declared = commands.add_parser(command, help=about.partition(": ")[2], description=about, epilog=LEGEND)
        module.declare(declared)
    # Loaded for the list of commands alone: a command of this package starts without the others.
    for command, entries in plugins.installed(ENTRY_POINTS).items() if not words or words[0] not in COMMANDS else ():
        summary = "(cannot be loaded)"
        with suppress(MahjongError):
            summary = _added(command, entries).summary
        commands.add_parser(command, help=summary)
    chosen, unknown = parser.parse_known_args(words)
    if unknown:
        used = commands.choices[chosen.command]
        close = did_you_mean(unknown[0].partition("=")[0], used._option_string_actions)
        used.error(f"unrecognized arguments: {' '.join(unknown)}{close}")
    return chosen
