"""Strategies of the fuzz tests: texts, values of the wrong kind, tiles of a set, possible hands, deals."""

from __future__ import annotations

import os

import numpy as np
from hypothesis import Phase, settings
from hypothesis import strategies as st

from mahjong_env import Deal
from mahjong_env.basics.notation import Meld, MeldType, format_tiles
from mahjong_env.basics.tiles import KIND_NAMES, NUM_KINDS

TIMES = int(os.environ.get("FUZZ", "0"))


def examples(number):
    """Return settings for a number of examples, the same ones each time unless FUZZ asks for more."""
    stages = (Phase.explicit, Phase.generate, Phase.shrink)
    return settings(max_examples=number * max(TIMES, 1), derandomize=not TIMES, phases=stages)


# Text that looks like notation, and text that does not.
NOTATION = st.text("123456789mpszFSabz+@ ,chowpungk0-\n", max_size=25)
TEXTS = st.one_of(NOTATION, st.text(max_size=12), st.from_regex(r"(chow|pung|kong) [1-9]{2,5}[mpsz]\+?(@\d+)?"))
INTEGERS = st.one_of(st.integers(-3, 8), st.integers(), st.sampled_from([2**31, 2**63, -(2**63) - 1, 10**30]))
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    INTEGERS,
    st.floats(),
    TEXTS,
    st.binary(max_size=5),
    st.lists(st.one_of(INTEGERS, TEXTS), max_size=4),
    st.dictionaries(st.one_of(INTEGERS, TEXTS), TEXTS, max_size=2),
    st.sampled_from([np.int8(1), np.float64(1), np.arange(3), np.array(1), np.bool_(True), object(), print]),
)
"""Anything, mostly of the wrong kind."""

# Contents of files.
JSONS = st.recursive(
    st.one_of(st.none(), st.booleans(), INTEGERS, st.floats(), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)
JSON_TEXTS = st.text('[]{}":,0123456789.eE+-truefalsn\\ \n', max_size=40)
DAMAGES = st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=4), st.integers(0, 8)), min_size=1, max_size=4)
"""Damages: the place (as a share of the length), the bytes that are put there, and how many bytes they replace."""


def damaged(data, damages):
    """Return bytes with some of them replaced; their number may change."""
    for where, put, cut in damages:
        place = int(where * len(data))
        data = data[:place] + put + data[place + cut :]
    return data


# Seeds for generators of possible hands and deals, which are far faster than drawing tile by tile.
SEEDS = st.integers(0, 2**32 - 1)

_RUN_STARTS = [suit + rank for suit in (0, 9, 18) for rank in range(7)]
MELDS = st.one_of(
    st.builds(Meld, st.just(MeldType.CHOW), st.sampled_from(_RUN_STARTS), st.integers(0, 3)),
    st.builds(
        Meld,
        st.sampled_from([MeldType.PUNG, MeldType.EXPOSED_KONG, MeldType.ADDED_KONG]),
        st.integers(0, NUM_KINDS - 1),
        st.integers(0, 3),
    ),
    st.builds(Meld, st.just(MeldType.CONCEALED_KONG), st.integers(0, NUM_KINDS - 1)),
)


def possible_deal(rules, seed):
    """Return a possible deal that names some tiles of the hands and the wall."""
    rng = np.random.default_rng(seed)
    dealer = int(rng.integers(rules.seats))
    sizes = rng.integers(0, rules.hand_size + 1, rules.seats)
    if rng.random() < 0.5:
        sizes[dealer] = rules.hand_size + 1
    room = int(rules.deck.sum()) - rules.seats * rules.hand_size - 1 - rules.turns_indicator
    replacements = rng.integers(5)
    sizes = [*sizes, rng.integers(7) if rng.random() < 0.8 else room - replacements, replacements]
    tiles = rng.permutation(np.repeat(np.arange(len(KIND_NAMES)), rules.deck))
    *hands, draws, back = (format_tiles(part.tolist()) for part in np.split(tiles[: sum(sizes)], np.cumsum(sizes)[:-1]))
    return Deal(
        hands=hands,
        draws=draws,
        replacements=back,
        dealer=dealer,
        dealer_streak=int(rng.integers(9)),
        round_wind=[None, "1z", "2z", "3z", "4z"][rng.integers(5)],
    )
