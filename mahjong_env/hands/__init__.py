"""Hand mathematics: complete shapes, distance to a win, and every way to read a hand."""

from mahjong_env.hands.codes import POWER, SUIT, decode, encode
from mahjong_env.hands.distance import distance_to_sets_and_pair
from mahjong_env.hands.reading import Readings, readings
from mahjong_env.hands.shanten import distance_to_seven_pairs, distance_to_thirteen_orphans
from mahjong_env.hands.summaries import (
    doubled_orphans,
    group_short_of_sets,
    orphan_kinds,
    pairs,
    quads,
    short_of_sets,
    short_of_sets_and_258,
    short_of_sets_and_pair,
    suit_summaries,
    sum_summaries,
)
from mahjong_env.hands.wild_tiles import Substitutions, substitutions

__all__ = [
    "POWER",
    "SUIT",
    "Readings",
    "Substitutions",
    "decode",
    "distance_to_sets_and_pair",
    "distance_to_seven_pairs",
    "distance_to_thirteen_orphans",
    "doubled_orphans",
    "encode",
    "group_short_of_sets",
    "orphan_kinds",
    "pairs",
    "quads",
    "readings",
    "short_of_sets",
    "short_of_sets_and_258",
    "short_of_sets_and_pair",
    "substitutions",
    "suit_summaries",
    "sum_summaries",
]
