"""Hand mathematics: complete shapes, distance to a win, and every way to read a hand."""

from mahjong_env.hands.codes import POWER, SUIT, decode, encode
from mahjong_env.hands.distance import distance_to_sets_and_pair
from mahjong_env.hands.reading import Readings, readings
from mahjong_env.hands.shanten import distance_to_seven_pairs, distance_to_thirteen_orphans
from mahjong_env.hands.summaries import (
    FIRST_HONOUR_FACTS,
    doubled_orphans,
    doubled_orphans_of_one,
    facts_for_one,
    group_short_of_sets,
    orphan_kinds,
    orphan_kinds_of_one,
    pairs,
    pairs_of_one,
    quads,
    short_of_sets,
    short_of_sets_and_258,
    short_of_sets_and_pair,
    suit_summaries,
    sum_of_one,
    sum_summaries,
)
from mahjong_env.hands.wild_tiles import Substitutions, substitutions

__all__ = [
    "FIRST_HONOUR_FACTS",
    "POWER",
    "SUIT",
    "Readings",
    "Substitutions",
    "decode",
    "distance_to_sets_and_pair",
    "distance_to_seven_pairs",
    "distance_to_thirteen_orphans",
    "doubled_orphans",
    "doubled_orphans_of_one",
    "encode",
    "facts_for_one",
    "group_short_of_sets",
    "orphan_kinds",
    "orphan_kinds_of_one",
    "pairs",
    "pairs_of_one",
    "quads",
    "readings",
    "short_of_sets",
    "short_of_sets_and_258",
    "short_of_sets_and_pair",
    "substitutions",
    "suit_summaries",
    "sum_of_one",
    "sum_summaries",
]
