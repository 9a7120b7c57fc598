"""The command line: read the rules, score a hand, watch a game, play one, measure the speed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from mahjong_env.basics.errors import MahjongError
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
        chosen = _parser().parse_args(arguments)
        status: int = chosen.run(chosen)
    except MahjongError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return INTERRUPTED
    return status


def _parser() -> argparse.ArgumentParser:
    is_script = Path(sys.argv[0]).stem == SCRIPT
    name = SCRIPT if is_script else "python -m mahjong_env"
    parser = argparse.ArgumentParser(
        prog=name,
        description=__doc__,
        epilog=f"{LEGEND}. `{name} COMMAND --help` explains one command.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for command in COMMANDS:
        command.add_to(commands)
    return parser
