"""``bench``: decisions per second, beside other mahjong environments in the same run."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from mahjong_env.cli.arguments import read_knobs
from mahjong_env.errors import MahjongError
from mahjong_env.variants import VARIANTS, rules


def add_to(commands: Any) -> None:
    """Add the command's parser."""
    parser: argparse.ArgumentParser = commands.add_parser("bench", help=__doc__.partition(": ")[2], description=__doc__)
    parser.add_argument(
        "--variant", nargs="+", choices=sorted(VARIANTS), default=sorted(VARIANTS), help="what is played (default: all)"
    )
    parser.add_argument(
        "--knob", action="append", default=[], metavar="NAME=VALUE", help="a house rule, for every variant named"
    )
    parser.add_argument(
        "--batch", nargs="+", type=int, default=[1, 256, 4096], help="games at once (default: 1 256 4096)"
    )
    parser.add_argument("--seconds", type=float, default=0.5, help="timed seconds of each in each round (default: 0.5)")
    parser.add_argument("--rounds", type=int, default=3, help="the median of these rounds counts (default: 3)")
    parser.add_argument(
        "--clock", choices=("cpu", "wall"), default="cpu", help="cpu: the time of this process alone (default)"
    )
    parser.add_argument(
        "--no-peers", action="store_true", help="without other environments (they need the extra bench)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Measure and print."""
    from mahjong_env.bench import TIMES, measure, own_contenders, peer_contenders, report_json, report_text

    if min(chosen.batch) < 1 or chosen.rounds < 1 or not chosen.seconds > 0:
        raise MahjongError("--batch and --rounds are integers from 1, --seconds is a number above 0")
    knobs = read_knobs(chosen.knob)
    played = [rules(variant, **knobs) for variant in chosen.variant]
    peers = [] if chosen.no_peers else peer_contenders()
    contenders = [*peers, *(own for rules_played in played for own in own_contenders(rules_played, chosen.batch))]
    watch = _say if sys.stderr.isatty() else lambda _: None
    results = measure(contenders, chosen.seconds, chosen.rounds, TIMES[chosen.clock], watch)
    settings = {name: getattr(chosen, name) for name in ("variant", "knob", "batch", "seconds", "rounds", "clock")}
    print(json.dumps(report_json(results, settings), indent=2) if chosen.json else report_text(results))
    return 0


def _say(what: str) -> None:
    print(f"\r{what:<100}", end="", file=sys.stderr, flush=True)
