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
from mahjong_env.basics.errors import MahjongError, did_you_mean
from mahjong_env.basics.notation import LEGEND
from mahjong_env.cli import play_command, rules_command, score_command, show_command
from mahjong_env.cli.terminal import INTERRUPTED, as_long_as_read, prepare_output

SCRIPT: Final = "mahjong-env"
"""The command that installing puts on the path."""
ENTRY_POINTS: Final = "mahjong_env.commands"
"""The entry-point group in which distributions add commands."""
COMMANDS: Final = (show_command, play_command, score_command, rules_command)


class Command(Protocol):
    """A command that a distribution adds."""

    @property
    def summary(self) -> str:
        """One line about the command for the list of commands."""
        ...

    def __call__(self, arguments: Sequence[str], prog: str) -> int:
        """Run it.

        Args:
            arguments: the words after the command's name.
            prog: what the command is called in messages, such as "mahjong-env train".

        Returns:
            The exit status.
        """
        ...


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: the words after ``mahjong-env``; None: those of this process.

    Returns:
        The exit status: 0; 2 for wrong input, which is reported on stderr before anything is done; 130 after Ctrl-C,
        143 after SIGTERM.
    """
    prepare_output()
    words = list(sys.argv[1:] if arguments is None else arguments)

    def run() -> int:
        try:
            added = plugins.installed(ENTRY_POINTS)
            if words and words[0] in added:
                return _added(added[words[0]])(words[1:], f"{_name()} {words[0]}")
            chosen = _parsed(words)
            return int(chosen.run(chosen))
        except MahjongError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        except KeyboardInterrupt:
            print("\ninterrupted", file=sys.stderr)
            return INTERRUPTED

    return as_long_as_read(run)


def _name() -> str:
    return SCRIPT if Path(sys.argv[0]).stem == SCRIPT else "python -m mahjong_env"


def _added(entries: list[Any]) -> Command:
    if len(entries) > 1:
        owners = " and by ".join(plugins.distribution(entry) for entry in entries)
        raise MahjongError(
            f"the command {entries[0].name!r} is registered more than once, by {owners}; uninstall all but one of them"
        )
    command: Command = plugins.load(entries[0])
    return command


def _parsed(words: list[str]) -> argparse.Namespace:
    """Parse a command of this package; arguments that it does not have are refused with a proposal."""
    parser, commands = _parser(words)
    chosen, unknown = parser.parse_known_args(words)
    if unknown:
        command = commands.choices[chosen.command]
        close = did_you_mean(unknown[0].partition("=")[0], command._option_string_actions)
        command.error(f"unrecognized arguments: {' '.join(unknown)}{close}")
    return chosen


def _parser(words: Sequence[str]) -> tuple[argparse.ArgumentParser, Any]:
    parser = argparse.ArgumentParser(
        prog=_name(),
        description="Chinese regional mahjong: watch games and play them, score hands, train and measure agents.",
        epilog=f"{LEGEND}. `{_name()} COMMAND --help` explains one command.",
    )
    parser.add_argument("--version", action="version", version=f"mahjong_env {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for command in COMMANDS:
        command.add_to(commands)
    # Loaded for the list of commands alone: a command of this package starts without the others.
    wanted = {} if words and words[0] in commands.choices else plugins.installed(ENTRY_POINTS)
    for name, entries in wanted.items():
        summary = "(cannot be loaded)"
        with suppress(MahjongError):
            summary = _added(entries).summary
        commands.add_parser(name, help=summary)
    return parser, commands
