"""``from-botzone``: Convert games that were played on Botzone into records."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from mahjong_env.basics.errors import RecordError
from mahjong_env.records import RecordWriter
from mahjong_env.records.botzone import read_games, record_of


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("logs", nargs="+", type=Path, help="logs of Botzone's judge, as JSON or as lines of text")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="append the records to this file")


def run(chosen: argparse.Namespace) -> int:
    """Write the records. Games that cannot be read or played are named and left out, and the status is then 1."""
    written = incomplete = left_out = 0

    def leave_out(error: RecordError) -> None:
        nonlocal left_out
        left_out += 1
        print(f"left out: {error}", file=sys.stderr)

    with RecordWriter(chosen.out) as writer:
        for log in chosen.logs:
            for game in read_games(log, leave_out):
                try:
                    record = record_of(game)
                except RecordError as error:
                    leave_out(error)
                    continue
                writer.write(record)
                written += 1
                incomplete += not record.is_complete
    print(f"{written} games in {chosen.out}, {incomplete} of them incomplete; {left_out} left out")
    return 1 if left_out else 0
