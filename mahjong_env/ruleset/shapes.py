"""How far hands are from what rules let win: the shapes that they play beside sets and a pair, or their aims."""

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
    """Whether seven pairs and thirteen orphans are complete hands: the rules are shown one of each."""
    seven_pairs, orphans = np.zeros((2, NUM_KINDS), np.int8)
    seven_pairs[[0, 3, 6, 10, 13, 16, 27]] = 2
    orphans[ORPHANS] = 1
    orphans[27] = 2
    codes = encode(np.stack([seven_pairs, orphans]))
    nothing = np.zeros(2, np.int8)
    complete = rules.tiles_short(codes, nothing, nothing) <= 0
    return Shapes(bool(complete[0]), bool(complete[1]))


def shanten(hands: Hands, rules: Rules) -> Shanten | AimedShanten:
    """The distances of hands from what these rules let win; `needs_counts` and `Rules.aims` say what they need."""
    return Shanten(hands, other_shapes(rules)) if rules.aims is None else AimedShanten(hands, rules.aims)


def needs_counts(rules: Rules) -> bool:
    """Whether `shanten` needs `Hands.counts`."""
    return rules.aims is not None or any(other_shapes(rules))
