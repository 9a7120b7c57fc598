"""What the fuzz tests draw: texts, values of the wrong kind, tiles of a set, hands that can exist, deals."""

from __future__ import annotations

import os
from collections import Counter
from itertools import count

import numpy as np
from hypothesis import Phase, settings
from hypothesis import strategies as st

from mahjong_env import Deal
from mahjong_env.basics.notation import Meld, MeldType, format_tiles, parse_meld, parse_tiles
from mahjong_env.basics.tiles import KIND_NAMES, NUM_KINDS

TIMES = int(os.environ.get("FUZZ", "0"))


def examples(number):
    """So many examples, the same ones each time unless FUZZ asks for more."""
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

# What stands in files.
JSONS = st.recursive(
    st.one_of(st.none(), st.booleans(), INTEGERS, st.floats(), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)
JSON_TEXTS = st.text('[]{}":,0123456789.eE+-truefalsn\\ \n', max_size=40)
DAMAGES = st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=4), st.integers(0, 8)), min_size=1, max_size=4)
"""Where (as a share of the length), what is put there, and how many bytes it takes the place of."""


def damaged(data, damages):
    """Bytes with some of them replaced, more or fewer than before."""
    for where, put, cut in damages:
        place = int(where * len(data))
        data = data[:place] + put + data[place + cut :]
    return data


# Seeds of what is made by a generator: possible hands and deals, far quicker than drawn tile by tile.
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


def counted(kinds):
    """How many tiles of each kind."""
    return Counter(int(kind) for kind in kinds)


# --- Hands -------------------------------------------------------------------------------------------------------


def possible_win(rules, seed):
    """A described win that can exist, whether or not it is legal: arguments of `score`."""
    rng = np.random.default_rng(seed)
    for number in count():
        if number % 50 == 0:
            kinds = _theme(np.flatnonzero(~(rules.never_melded | rules.flower_kinds)[:NUM_KINDS]), rng)
            runs = [start for start in _RUN_STARTS if {start, start + 1, start + 2} <= {*kinds.tolist()}]
            few_runs = rng.random() < 0.4 or not runs
        told = _try_win(rules, kinds, [] if few_runs and rng.random() < 0.6 else runs, rng)
        tiles = parse_tiles(told["hand"] + told["winning_tile"] + told.get("flowers", ""))
        tiles += [kind for meld in told["melds"] for kind in parse_meld(meld).tiles]
        supply = counted(tiles)
        won_with = parse_tiles(told["winning_tile"])[0]
        no_pung = rules.never_melded[won_with] or told["winning_tile"] == told.get("wild")
        if told["source"] == "kong" and (supply[won_with] > 1 or no_pung):
            continue  # the robbed player has a pung of the three others
        if all(number <= rules.deck[kind] for kind, number in supply.items()):
            return told
    raise AssertionError


def _try_win(rules, kinds, runs, rng):
    """Sets and a pair, seven pairs or thirteen orphans; some sets melded, some tiles replaced by wild ones."""
    winner = int(rng.integers(rules.seats))
    wild = int(rng.choice(_wild_kinds(rules)))
    shape = rng.random()
    melds, concealed = [], []
    if shape < 0.7 or rules.hand_size != 13:
        for _ in range(rules.sets):
            meld = _meld(rules, winner, kinds, runs, rng)
            if rng.random() < 0.5 or wild in meld.tiles:
                concealed += meld.tiles[:3]
            else:
                melds.append(meld)
        concealed += [rng.choice(kinds)] * 2
    elif shape < 0.9:
        concealed = [*np.repeat(rng.choice(kinds, 7), 2)]
    else:
        concealed = [0, 8, 9, 17, 18, 26, *range(27, 34), rng.choice([0, 17, 30])]
    if wild >= 0:
        for place in rng.integers(0, len(concealed), rng.integers(5)):
            concealed[place] = wild
    if rng.random() < 0.1:
        concealed[rng.integers(len(concealed))] = rng.choice(kinds)
    tile = concealed.pop(rng.integers(len(concealed)))
    told = {
        "hand": format_tiles(concealed),
        "winning_tile": format_tiles([tile]),
        "melds": [str(meld) for meld in melds],
        "seat": winner,
    }
    if wild >= 0:
        told["wild"] = format_tiles([wild])
    return told | _situation(rules, winner, melds, rng)


def _theme(kinds, rng):
    """The kinds of a hand: often few, so that many rows are scored and hands can be read in several ways."""
    suit, low = 9 * int(rng.integers(3)), int(rng.integers(5))
    honours = [*range(27, NUM_KINDS)]
    themes = [
        *([*range(suit, suit + 9)], [*range(suit, suit + 9), *honours], [*range(suit, suit + 5 + low)]),
        *([kind for kind in range(27) if kind % 9 in (0, 8)], [*honours, *range(suit + low, suit + low + 3)]),
        *([*range(suit, suit + 5 + low), 31, 32, 33], [*range(NUM_KINDS)], [*range(NUM_KINDS)]),
    ]
    chosen = np.intersect1d(kinds, themes[rng.integers(len(themes))])
    return chosen if len(chosen) >= 5 else kinds


def _meld(rules, owner, kinds, runs, rng):
    """A meld that this seat can have made: mostly a run, if there are any to choose from."""
    if runs and rng.random() < 0.7:
        return Meld(MeldType.CHOW, runs[rng.integers(len(runs))], (owner - 1) % rules.seats)
    meld_type = MeldType(int(rng.choice([2, 2, 3, 4, 5])))
    giver = (owner + int(rng.integers(1, rules.seats))) % rules.seats
    return Meld(meld_type, int(rng.choice(kinds)), -1 if meld_type is MeldType.CONCEALED_KONG else giver)


def _wild_kinds(rules):
    if not rules.has_wild:
        return [-1]
    if rules.fixed_wild is not None:
        return [rules.fixed_wild]
    candidates = np.flatnonzero(~rules.flower_kinds[:NUM_KINDS]).astype(np.int8)
    return [-1, *np.unique(rules.wild_kinds(candidates)).tolist()]


def _situation(rules, winner, melds, rng):
    """The arguments about where the tile came from, and about the table."""
    source = str(rng.choice(["draw", "draw", "discard", "kong"]))
    told = {
        "source": source,
        "dealer": int(rng.integers(rules.seats)),
        "dealer_streak": int(rng.integers(5)),
        "round_wind": str(rng.choice(["1z", "2z", "3z", "4z"])),
        "last_tile": bool(rng.integers(2)),
    }
    if rules.uses_flowers:
        flowers = [name for name, is_flower in zip(KIND_NAMES, rules.flower_kinds, strict=True) if is_flower]
        told["flowers"] = " ".join(rng.choice(flowers, rng.integers(9), replace=False))
    if source != "draw":
        told["from_seat"] = (winner + int(rng.integers(1, rules.seats))) % rules.seats
    else:
        kongs = sum(meld.type >= MeldType.EXPOSED_KONG for meld in melds)
        told["kong_draws"] = int(rng.integers(kongs + 1))
        told["first_draw"] = not melds and bool(rng.integers(2))
        told["flower_draw"] = bool(told.get("flowers")) and bool(rng.integers(2))
    for mark in rules.marks:
        number = int(rng.choice([0, 0, 0, 1, 2]))
        told[mark] = number > 0 if mark == "discarded_wild" else number
    if rng.random() < 0.5:
        told["running_points"] = rng.integers(-50, 500, rules.seats).tolist()
    return told


# --- Deals -------------------------------------------------------------------------------------------------------


def possible_deal(rules, seed):
    """A deal that can be dealt, and what it names: hands, draws and replacements as kinds."""
    rng = np.random.default_rng(seed)
    dealer = int(rng.integers(rules.seats))
    sizes = rng.integers(0, rules.hand_size + 1, rules.seats)
    if rng.random() < 0.5:
        sizes[dealer] = rules.hand_size + 1
    room = int(rules.deck.sum()) - rules.seats * rules.hand_size - 1 - rules.turns_indicator
    replacements = rng.integers(5)
    sizes = [*sizes, rng.integers(7) if rng.random() < 0.8 else room - replacements, replacements]
    tiles = rng.permutation(np.repeat(np.arange(len(KIND_NAMES)), rules.deck))
    parts = [part.tolist() for part in np.split(tiles[: sum(sizes)], np.cumsum(sizes)[:-1])]
    named = {"hands": parts[:-2], "draws": parts[-2], "replacements": parts[-1]}
    deal = Deal(
        hands=[format_tiles(hand) for hand in named["hands"]],
        draws=format_tiles(named["draws"]),
        replacements=format_tiles(named["replacements"]),
        dealer=dealer,
        dealer_streak=int(rng.integers(9)),
        round_wind=[None, "1z", "2z", "3z", "4z"][rng.integers(5)],
    )
    return deal, named
