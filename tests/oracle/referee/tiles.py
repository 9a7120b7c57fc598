"""Names of tiles and actions, and reading them from text. Every tile in the referee is its name: "5m", "1z",
"F2".
"""

import re

NUMBERED = [f"{rank}{suit}" for suit in "mps" for rank in range(1, 10)]
WINDS = ["1z", "2z", "3z", "4z"]  # East South West North
DRAGONS = ["5z", "6z", "7z"]  # White Green Red
HONOURS = WINDS + DRAGONS
FLOWERS = ["F1", "F2", "F3", "F4"]
SEASONS = ["S1", "S2", "S3", "S4"]
KINDS = NUMBERED + HONOURS  # the 34 kinds that make sets
EVERY_KIND = KINDS + FLOWERS + SEASONS
ORDER = {tile: place for place, tile in enumerate(EVERY_KIND)}
RED = "7z"

RUNS = [(f"{rank}{suit}", f"{rank + 1}{suit}", f"{rank + 2}{suit}") for suit in "mps" for rank in range(1, 8)]
RUNS_WITH = {kind: [run for run in RUNS if kind in run] for kind in KINDS}


def in_order(tiles):
    """The tiles as a sorted list: 1m..9m 1p..9p 1s..9s 1z..7z F1..F4 S1..S4."""
    return sorted(tiles, key=ORDER.__getitem__)


def is_honour(tile):
    return tile.endswith("z")


def is_terminal(tile):
    return tile[0] in "19" and tile[1] in "mps"


def suits_in(tiles):
    """The suits among the tiles, honours left out: a subset of {"m", "p", "s"}."""
    return {tile[1] for tile in tiles if tile[1] in "mps"}


def tiles_from(text):
    """The tiles of a text such as "456s 78p55m F1 S2", in its order; ValueError for anything else."""
    tiles = []
    for rest in text.replace(",", " ").split():
        while rest:
            match = re.match(r"([1-9]+)([mps])|([1-7]+)(z)|([FS])([1-4]+)", rest)
            if match is None:
                raise ValueError(f"cannot read the tiles {rest!r} in {text!r}")
            digits, letter = match.group(1) or match.group(3), match.group(2) or match.group(4)
            if digits:
                tiles += [digit + letter for digit in digits]
            else:
                tiles += [match.group(5) + digit for digit in match.group(6)]
            rest = rest[match.end() :]
    return tiles
