"""``rules``: the rules of a variant, as they are played with your house rules."""

from __future__ import annotations

import argparse
import re
from io import StringIO

from mahjong_env.cli.arguments import add_rules, read_rules
from mahjong_env.cli.terminal import has_colour, width
from mahjong_env.rulebook.page import describe_rules


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_rules(parser)
    parser.add_argument("--markdown", action="store_true", help="print the page as Markdown, for files")


def run(chosen: argparse.Namespace) -> int:
    """Print it."""
    page = describe_rules(read_rules(chosen))
    print(page if chosen.markdown else terminal_text(page, width(), colour=has_colour()))
    return 0


def terminal_text(page: str, width: int, *, colour: bool) -> str:
    """A page of Markdown as it is read on a terminal: laid out where rich is installed, else without links."""
    page = re.sub(r"<!--.*?-->\n*", "", page, flags=re.DOTALL)
    # Links lead to other places of the same text, where no terminal follows them; addresses stand for themselves.
    page = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", page)
    page = re.sub(r"<(https?://[^>]+)>", r"\1", page)
    try:
        from rich.console import Console
        from rich.markdown import Markdown
    except ImportError:
        return page.rstrip()
    told = StringIO()
    console = Console(file=told, width=width, force_terminal=colour, legacy_windows=False)
    console.print(Markdown(page, hyperlinks=False))
    return "\n".join(line.rstrip() for line in told.getvalue().rstrip().splitlines())
