"""``rules``: the rule sheet of a variant."""

from __future__ import annotations

import argparse
from typing import Any

from mahjong_env.rulebook.sheet import describe_rules
from mahjong_env.ruleset.registry import VARIANTS


def add_to(commands: Any) -> None:
    """Add the command's parser."""
    parser: argparse.ArgumentParser = commands.add_parser("rules", help=__doc__.partition(": ")[2], description=__doc__)
    parser.add_argument("--variant", required=True, choices=sorted(VARIANTS), help="whose rules")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Print it."""
    print(describe_rules(chosen.variant))
    return 0
