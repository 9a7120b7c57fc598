"""``score``: Score a hand that you describe, and say who pays."""

from __future__ import annotations

import argparse
import inspect
import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from mahjong_env.basics.errors import HandError
from mahjong_env.cli.arguments import add_rules, check_distinct, check_writable, read_rules, write_text
from mahjong_env.scoring.described import known_circumstances, score
from mahjong_env.viewer import Explained

_TYPES: Final = {"str": str, "int": int, "bool": bool}


def _arguments() -> dict[str, tuple[type, str]]:
    """The arguments of `score` that are one word or flag, by name: their types, and what its docstring says of them."""
    about = dict(re.findall(r"^    (\w+): (.+)\.$", inspect.getdoc(score) or "", re.MULTILINE))
    types = {name: item.annotation.split()[0] for name, item in inspect.signature(score).parameters.items()}
    return {
        name: (_TYPES[kind], about[name].replace("`", ""))
        for name, kind in types.items()
        if kind in _TYPES and name != "variant"
    }


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_rules(parser)
    melds = {"action": "append", "metavar": "MELD", "help": "the winner's melds, oldest first, such as 'chow 123s@3'"}
    parser.add_argument("--meld", dest="melds", **melds)  # type: ignore[arg-type]
    other = "a meld of another seat, such as '2:pung 111m@0'"
    parser.add_argument("--other-meld", action="append", default=[], metavar="SEAT:MELD", help=other)
    for name, (wanted, about) in _arguments().items():
        _add(parser, name, wanted, about, required=name in ("hand", "source"))
    group = parser.add_argument_group("circumstances that only some variants know")
    for name, by_variant in known_circumstances().items():
        is_flag = all(item.type is bool for item in by_variant.values())
        about = "; ".join(f"{variant}: {item.about}" for variant, item in by_variant.items())
        _add(group, name, bool if is_flag else int, about)
    parser.add_argument(
        "--running-points", type=int, nargs="+", metavar="POINTS", help="points of each seat before the hand"
    )
    parser.add_argument("--json", action="store_true", help="print the score as JSON")
    parser.add_argument("--html", metavar="FILE", help="also write a page with the hand drawn")
    parser.add_argument("--svg", metavar="FILE", help="also write a picture of the hand with its rows")


def _add(parser: Any, name: str, wanted: type, about: str, *, required: bool = False) -> None:
    kind: dict[str, Any] = {"action": "store_true", "default": None} if wanted is bool else {"type": wanted}
    parser.add_argument(f"--{name.replace('_', '-')}", **kind, help=about, required=required)


def run(chosen: argparse.Namespace) -> int:
    """Score the hand and print it."""
    names = (*_arguments(), "melds", "running_points", *known_circumstances())
    given = {name: value for name in names if (value := getattr(chosen, name)) is not None}
    check_distinct({"--html": chosen.html, "--svg": chosen.svg})
    for file in filter(None, (chosen.html, chosen.svg)):
        check_writable(Path(file))
    rules = read_rules(chosen)
    scored = score(rules, other_melds=_read_other_melds(chosen.other_meld), **given)
    explained = Explained(rules, scored, given)
    print(json.dumps(asdict(scored), indent=2) if chosen.json else explained.text())
    for file, draw in ((chosen.html, explained.page), (chosen.svg, explained.svg)):
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
