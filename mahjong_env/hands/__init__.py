"""Hand mathematics: complete shapes, distance to a win, and every way to read a hand."""

from mahjong_env.hands.codes import POWER, SUIT, decode, encode
from mahjong_env.hands.distance import (
    helping_kinds,
    missing_after_discard,
    seven_pairs_missing,
    thirteen_orphans_missing,
    tiles_missing,
)
from mahjong_env.hands.facts import (
    group_sets_missing,
    honour_facts,
    look_up,
    orphan_kinds,
    pairs,
    quads,
    sets_and_258_missing,
    sets_and_pair_missing,
    sets_missing,
    suit_facts,
    sum_words,
)
from mahjong_env.hands.reading import Readings, readings
from mahjong_env.hands.wild_tiles import Substitutions, substitutions, waits

__all__ = [
    "POWER",
    "SUIT",
    "Readings",
    "Substitutions",
    "decode",
    "encode",
    "group_sets_missing",
    "helping_kinds",
    "honour_facts",
    "look_up",
    "missing_after_discard",
    "orphan_kinds",
    "pairs",
    "quads",
    "readings",
    "sets_and_258_missing",
    "sets_and_pair_missing",
    "sets_missing",
    "seven_pairs_missing",
    "substitutions",
    "suit_facts",
    "sum_words",
    "thirteen_orphans_missing",
    "tiles_missing",
    "waits",
]
