"""How far hands are from a win under given rules: by the shapes that these play beside sets and a pair, or by aims."""

from __future__ import annotations

from functools import cache

import numpy as np

from mahjong_env.basics.tiles import NUM_KINDS
from mahjong_env.hands.aimed import AimedShanten
from mahjong_env.hands.codes import encode
from mahjong_env.hands.shanten import ORPHANS, Hands, Shanten, Shapes
from mahjong_env.ruleset.questions import Rules


@cache
def other_shapes(rules: Rules) -> Shapes:
    """Find out whether seven pairs and thirteen orphans are complete hands, by asking the rules about one of each."""
    seven_pairs, orphans = np.zeros((2, NUM_KINDS), np.int8)
    seven_pairs[[0, 3, 6, 10, 13, 16, 27]] = 2
    orphans[ORPHANS] = 1
    orphans[27] = 2
    codes = encode(np.stack([seven_pairs, orphans]))
    nothing = np.zeros(2, np.int8)
    complete = rules.tiles_short(codes, nothing, nothing) <= 0
    return Shapes(bool(complete[0]), bool(complete[1]))


def shanten(hands: Hands, rules: Rules) -> Shanten | AimedShanten:
    """Return how far hands are from a win under these rules; `needs_counts` and `Rules.aims` say what it needs."""
    return Shanten(hands, other_shapes(rules)) if rules.aims is None else AimedShanten(hands, rules.aims)


def needs_counts(rules: Rules) -> bool:
    """Whether `shanten` needs `Hands.counts`."""
    return rules.aims is not None or any(other_shapes(rules))
