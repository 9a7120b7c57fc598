"""The command line: read the rules, score a hand, watch a game, play one, measure the speed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from mahjong_env import __version__
from mahjong_env.basics.errors import MahjongError, did_you_mean
from mahjong_env.basics.notation import LEGEND
from mahjong_env.cli import bench_command, play_command, rules_command, score_command, show_command
from mahjong_env.cli.terminal import INTERRUPTED, as_long_as_read, prepare_output

SCRIPT: Final = "mahjong-env"
"""The command that installing puts on the path."""
COMMANDS = (rules_command, score_command, show_command, play_command, bench_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: what stands after ``python -m mahjong_env``; None: the process's own.

    Returns:
        The exit status: 0; 2 for wrong input (which is said on stderr; nothing has been done then); 130 after Ctrl-C.
    """
    prepare_output()
    return as_long_as_read(lambda: _status(arguments))


def _status(arguments: Sequence[str] | None) -> int:
    try:
        chosen = _parsed(arguments)
        status: int = chosen.run(chosen)
    except MahjongError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return INTERRUPTED
    return status


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The arguments of a command; those that it does not have are refused by the command itself, with a proposal."""
    parser, commands = _parser()
    chosen, unknown = parser.parse_known_args(arguments)
    if unknown:
        command = commands.choices[chosen.command]
        close = did_you_mean(unknown[0].partition("=")[0], command._option_string_actions)
        command.error(f"unrecognized arguments: {' '.join(unknown)}{close}")
    return chosen


def _parser() -> tuple[argparse.ArgumentParser, Any]:
    is_script = Path(sys.argv[0]).stem == SCRIPT
    name = SCRIPT if is_script else "python -m mahjong_env"
    parser = argparse.ArgumentParser(
        prog=name,
        description=__doc__,
        epilog=f"{LEGEND}. `{name} COMMAND --help` explains one command.",
    )
    parser.add_argument("--version", action="version", version=f"mahjong_env {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for command in COMMANDS:
        command.add_to(commands)
    return parser, commands
