"""``score``: what a described hand is worth, and who pays."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mahjong_env.basics.errors import HandError
from mahjong_env.cli.arguments import add_rules, check_writable, read_rules, write_text
from mahjong_env.scoring.described import known_circumstances, score
from mahjong_env.viewer import Explained

# Option, type, help; the values are given to `score` under the same name.
_TEXTS = (
    ("hand", "the concealed tiles before the winning tile, such as '456s234p78p55m'"),
    ("winning-tile", "the tile that completes it, such as 9p"),
    ("wild", "the wild kind"),
    ("flowers", "exposed by the winner, such as 'F1 S2 1z'"),
    ("round-wind", "1z to 4z"),
    ("house-wind", "the winner's, 1z to 4z"),
    ("turned-up", "tiles turned up after the win, where they change what it pays"),
)
_NUMBERS = (
    ("from-seat", "who gave the tile"),
    ("seat", "the winner (default: 0)"),
    ("dealer", "the dealer's seat (default: 0)"),
    ("dealer-streak", "hands for which the dealer has already kept the deal"),
    ("kong-draws", "the winning tile is the replacement after this many kongs in a row"),
)
_FLAGS = (
    ("flower-draw", "the winning tile replaced a flower"),
    ("last-tile", "no drawable tile is left"),
    ("first-draw", "the winner's first draw, nobody having claimed or declared anything"),
)


def add_to(commands: Any) -> None:
    """Add the command's parser."""
    parser: argparse.ArgumentParser = commands.add_parser("score", help=__doc__.partition(": ")[2], description=__doc__)
    add_rules(parser)
    parser.add_argument("--source", required=True, help="draw, discard, kong (robbed) or flowers")
    parser.add_argument(
        "--meld",
        action="append",
        dest="melds",
        metavar="MELD",
        help="in the order they were made, such as 'chow 123s@3'",
    )
    parser.add_argument(
        "--other-meld", action="append", default=[], metavar="SEAT:MELD", help="another seat's, such as '2:pung 111m@0'"
    )
    for name, about in _TEXTS:
        parser.add_argument(f"--{name}", help=about, required=name == "hand")
    for name, about in _NUMBERS:
        parser.add_argument(f"--{name}", type=int, help=about)
    for name, about in _FLAGS:
        parser.add_argument(f"--{name}", action="store_true", default=None, help=about)
    _add_circumstances(parser)
    parser.add_argument("--running-points", type=int, nargs="+", metavar="POINTS", help="of each seat, before the hand")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--html", metavar="FILE", help="write a page with the hand drawn, too")
    parser.add_argument("--svg", metavar="FILE", help="write a picture of the hand with its rows, too")
    parser.set_defaults(run=run)


def _add_circumstances(parser: argparse.ArgumentParser) -> None:
    """An option for each thing that only some variants want to know."""
    group = parser.add_argument_group("what only some variants want to know")
    for name, by_variant in known_circumstances().items():
        option = f"--{name.replace('_', '-')}"
        about = "; ".join(f"{variant}: {item.about}" for variant, item in by_variant.items())
        if all(item.type is bool for item in by_variant.values()):
            group.add_argument(option, action="store_true", default=None, help=about)
        else:
            group.add_argument(option, type=int, metavar="NUMBER", help=about)


def run(arguments: argparse.Namespace) -> int:
    """Score the hand and print it."""
    names = [name.replace("-", "_") for table in (_TEXTS, _NUMBERS, _FLAGS) for name, _ in table]
    names += ["source", "melds", "running_points", *known_circumstances()]
    given = {name: getattr(arguments, name) for name in names}
    given = {name: value for name, value in given.items() if value is not None}
    for file in filter(None, (arguments.html, arguments.svg)):
        check_writable(Path(file))
    rules = read_rules(arguments)
    scored = score(rules, other_melds=_read_other_melds(arguments.other_meld), **given)
    explained = Explained(rules, scored, given)
    print(json.dumps(asdict(scored), indent=2) if arguments.json else explained.text())
    for file, draw in ((arguments.html, explained.page), (arguments.svg, explained.svg)):
        if file:
            write_text(Path(file), draw())
    return 0


def _read_other_melds(listed: list[str]) -> dict[int, list[str]]:
    melds: dict[int, list[str]] = {}
    for text in listed:
        seat, colon, meld = text.partition(":")
        if not colon or seat.strip() not in ("0", "1", "2", "3"):
            raise HandError(f"--other-meld is written SEAT:MELD, such as '2:pung 111m@0', not {text!r}")
        melds.setdefault(int(seat), []).append(meld.strip())
    return melds
