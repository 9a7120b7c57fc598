"""``rules``: Print the rules of a variant, with your house rules in place."""

from __future__ import annotations

import argparse
import re
import sys
from io import StringIO

from mahjong_env.cli.arguments import add_rules, read_rules
from mahjong_env.cli.terminal import show_pages, width
from mahjong_env.drawing.text import has_colour
from mahjong_env.rulebook.page import COMMON, describe_rules, rules_in_short, without_links


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_rules(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--short", action="store_true", help="only what you need to begin to play, on a page or two")
    which.add_argument("--language", choices=sorted(COMMON), default="en", help="English or Chinese (default: en)")
    parser.add_argument("--markdown", action="store_true", help="print the page as Markdown, as for a file")
    parser.add_argument("--no-pager", action="store_true", help="print everything at once, even on a terminal")


def run(chosen: argparse.Namespace) -> int:
    """Print the rules."""
    rules = read_rules(chosen)
    page = rules_in_short(rules) if chosen.short else describe_rules(rules, chosen.language)
    text = page if chosen.markdown else terminal_text(page, width(), colour=has_colour())
    if chosen.no_pager or sys.stdout is None or not sys.stdout.isatty():
        print(text)
    else:
        show_pages(text)
    return 0


def terminal_text(page: str, width: int, *, colour: bool) -> str:
    """A page of Markdown for reading on a terminal, laid out by rich if that is installed, else only without links."""
    page = without_links(re.sub(r"<!--.*?-->\n*", "", page, flags=re.DOTALL))
    try:
        from rich.console import Console
        from rich.markdown import Markdown
    except ImportError:
        return page.rstrip()
    told = StringIO()
    console = Console(file=told, width=width, force_terminal=colour, legacy_windows=False)
    console.print(Markdown(page, hyperlinks=False))
    return "\n".join(line.rstrip() for line in told.getvalue().rstrip().splitlines())
