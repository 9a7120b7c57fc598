"""``rules``: the rules of a variant, as they are played with your house rules."""

from __future__ import annotations

import argparse
from typing import Any

from mahjong_env.basics.notation import LEGEND
from mahjong_env.cli.arguments import add_rules, read_rules
from mahjong_env.cli.markdown import terminal_text
from mahjong_env.cli.terminal import has_colour, width
from mahjong_env.rulebook.page import describe_rules


def add_to(commands: Any) -> None:
    """Add the command's parser."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "rules", help=__doc__.partition(": ")[2], description=__doc__, epilog=LEGEND
    )
    add_rules(parser)
    parser.add_argument("--markdown", action="store_true", help="print the page as Markdown, for files")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Print it."""
    page = describe_rules(read_rules(chosen))
    print(page if chosen.markdown else terminal_text(page, width(), colour=has_colour()))
    return 0
