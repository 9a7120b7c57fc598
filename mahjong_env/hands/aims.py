"""Aims: families of hands that are worth enough to win, and how far hands are from the nearest of them.

Where a win needs points, the nearest complete hand is seldom one that may win. Rules then declare families of hands
with their points (`Aim`), and the distance of a hand is that from the nearest aim which is worth enough, given its
melds. Most aims ask for tiles that are put aside, such as three runs or a knitted straight, and for sets and a pair
beside them.

Distances are exact for what an aim asks for, except that a kind of which no tile is left is noticed only among the
tiles put aside. Only the score says whether a complete hand is worth enough: an aim knows the points of its own row,
and those that come with a hand without melds or of runs alone. A few aims (`Aim.opens`) assume that small rows add the
rest. No tile is wild.

The tables take about 45 MB. They are worked out when they are first needed, in about a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from itertools import permutations
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahjong_env.hands.codes import BASE, NUM_HONOURS, NUM_KINDS, POWER, RANKS, SUIT_CODES
from mahjong_env.hands.kind_sets import ALL_KINDS, BIT_OF_KIND, count_members, pack
from mahjong_env.hands.knitted import STRAIGHTS

SUITS: Final = 3
STARTS: Final = RANKS - 2
"""The number of ranks with which a run can begin."""
WINDS: Final = 4
MOST_TILES: Final = 14
FAR: Final = np.int8(90)
"""The distance from an aim that cannot be reached."""
_POWER: Final = POWER.astype(np.intp)
_ASIDE: Final = ("runs", "knitted straight")


class Aim(NamedTuple):
    """A family of hands.

    Attributes:
        name: the name of the scoring row.
        points: what the row is worth by itself.
        shape: "runs": three runs, a set and a pair; "knitted straight", "knitted tiles", "sets" (and a pair), "pungs",
            "pairs", "orphans", "all groups": a set or the pair of each suit, of winds and of dragons.
        steps: for runs, the ways in which their ranks may follow each other.
        one_suit: for runs, whether all are of one suit; otherwise each is of another.
        kinds: for sets, the kinds that the hand may have, which are neighbours in each group.
        opens: whether hands with melds aim at it although ``points`` are too few, because other rows mostly add to it.
    """

    name: str
    points: int
    shape: str
    steps: tuple[tuple[int, ...], ...] = ()
    one_suit: bool = False
    kinds: np.uint64 = ALL_KINDS
    opens: bool = False


class _Pattern(NamedTuple):
    """A pattern of tiles that are put aside."""

    points: int
    want: NDArray[np.int8]  # [34]
    runs: tuple[tuple[int, ...], ...]  # the lowest ranks of the runs in each suit; none for a knitted straight


def _patterns(aim: Aim) -> list[_Pattern]:
    if aim.shape == "knitted straight":
        return [_Pattern(aim.points, straight, ((), (), ())) for straight in STRAIGHTS]
    found: dict[Any, _Pattern] = {}
    for steps in aim.steps:
        ranks = [np.cumsum([start, *steps]).tolist() for start in range(STARTS - sum(steps))]
        for one, two, three in ranks:
            ways: list[tuple[tuple[int, ...], ...]]
            if aim.one_suit:
                ways = [((one, two, three), (), ()), ((), (one, two, three), ()), ((), (), (one, two, three))]
            else:
                ways = [((first,), (second,), (third,)) for first, second, third in permutations((one, two, three))]
            for way in ways:
                want = np.zeros(NUM_KINDS, np.int8)
                for suit, runs in enumerate(way):
                    for run in runs:
                        want[RANKS * suit + run : RANKS * suit + run + 3] += 1
                found[way] = _Pattern(aim.points, want, way)
    return list(found.values())


# --- Tables -----------------------------------------------------------------------------------------------------------

# What a suit lacks, in a few bits each: for the tiles put aside and, in the rest of the suit, for a set, a pair, both,
# a run, a run and a pair.
_FIELDS: Final = {"aside": (0, 15), "set": (4, 3), "pair": (6, 3), "both": (8, 7), "run": (11, 3), "run_pair": (13, 7)}


def _packed(**numbers: Any) -> NDArray[np.uint16]:
    word = np.zeros((), np.uint16)
    for name, number in numbers.items():
        word = word | (np.asarray(number).astype(np.uint16) << np.uint16(_FIELDS[name][0]))
    return word


def _lacks(digits: NDArray[np.int8], *, runs: bool) -> NDArray[np.uint16]:
    """Return [k] what groups [k, ranks] lack for sets and pairs; ``runs`` says whether the group can have runs."""
    ranks = digits.shape[1]
    want = np.arange(4)[:, None, None].astype(np.int8)
    one, two, three = np.maximum(want[1:, 0] - digits.T[:, None], 0).transpose(1, 0, 2)  # [ranks, k] each
    far = np.full(len(digits), 9, np.int8)
    run, run_pair, both = far.copy(), far.copy(), far.copy()
    for rank in range(ranks):
        for pair in range(ranks):
            if pair != rank:
                np.minimum(both, three[rank] + two[pair], out=both)
    for start in range(STARTS if runs else 0):
        lacking = one[start] + one[start + 1] + one[start + 2]
        np.minimum(run, lacking, out=run)
        for pair in range(ranks):
            extra = three[pair] - one[pair] if start <= pair < start + 3 else two[pair]
            np.minimum(run_pair, lacking + extra, out=run_pair)
    fields = {"set": np.minimum(three.min(axis=0), run), "pair": two.min(axis=0), "both": np.minimum(both, run_pair)}
    if runs:
        fields |= {"run": run, "run_pair": run_pair}
    return _packed(**fields)


def _digits(codes: NDArray[Any], ranks: int) -> NDArray[np.int8]:
    return (codes[:, None] // _POWER[:ranks] % BASE).astype(np.int8)


@cache
def suit_codes() -> tuple[NDArray[np.intp], NDArray[np.int32], NDArray[np.int8], NDArray[np.uint16]]:
    """Return [k] codes of up to 14 tiles, [5**9] each code's place there, [k, 9] their digits, [k] what they lack."""
    tiles = np.zeros(1, np.int8)
    for _ in range(RANKS):
        tiles = np.add.outer(np.arange(BASE, dtype=np.int8), tiles).reshape(-1)
    codes = np.flatnonzero(tiles <= MOST_TILES)
    place = np.zeros(SUIT_CODES, np.int32)
    place[codes] = np.arange(len(codes))
    digits = _digits(codes, RANKS)
    return codes, place, digits, _lacks(digits, runs=True)


@cache
def honours() -> tuple[NDArray[np.uint16], NDArray[np.uint16], NDArray[np.uint16]]:
    """Return [5**7] each: what the honours of each code lack, what winds alone lack, and what dragons alone lack."""
    digits = _digits(np.arange(BASE**NUM_HONOURS), NUM_HONOURS)
    return (
        _lacks(digits, runs=False),
        _lacks(digits[:, :WINDS], runs=False),
        _lacks(digits[:, WINDS:], runs=False),
    )


class Options:
    """The options of a suit: the tiles that it may have to put aside, and what each code then lacks."""

    def __init__(self, patterns: Sequence[_Pattern]) -> None:
        number: dict[tuple[bytes, tuple[int, ...]], int] = {(bytes(RANKS), ()): 0}
        self.of_pattern = np.zeros((len(patterns), SUITS), np.intp)
        """[P, 3] the option of each suit in each pattern."""
        for place, pattern in enumerate(patterns):
            for suit in range(SUITS):
                option = pattern.want[RANKS * suit : RANKS * (suit + 1)].tobytes(), pattern.runs[suit]
                self.of_pattern[place, suit] = number.setdefault(option, len(number))
        self.runs = np.array([sum(1 << run for run in set(runs)) for _, runs in number])
        """[O] the runs of each option, with a bit for each start."""
        codes, self.place, digits, lacks = suit_codes()
        self.lacks = np.empty((len(codes), len(number)), np.uint16)
        """[k, O] what each code lacks with each option."""
        for column, (text, _) in zip(self.lacks.T, number, strict=True):
            want = np.frombuffer(text, np.int8)
            used = np.minimum(digits, want)
            rest = codes - (used.astype(np.float32) @ POWER[:RANKS].astype(np.float32)).astype(np.intp)
            aside = want.sum() - used.sum(axis=1)
            column[:] = lacks.take(self.place.take(rest)) | aside.astype(np.uint16)
        self.laid = np.zeros(1 << STARTS, np.intp)
        """[128] the code of the tiles of some runs, which are given with a bit for each start."""
        for start in range(STARTS):
            self.laid[np.arange(1 << STARTS) >> start & 1 == 1] += _POWER[start : start + 3].sum()

    def of(self, codes: NDArray[np.intp], laid: NDArray[np.intp]) -> tuple[NDArray[np.uint16], NDArray[np.int8] | None]:
        """Return [O, m] what suits lack with each option, and how many of its runs are melded (None for nowhere)."""
        lacks = self.lacks.take(self.place.take(codes), axis=0)
        some = np.flatnonzero(laid)
        if not some.size:
            return np.ascontiguousarray(lacks.T), None
        matched = np.zeros(lacks.shape, np.int8)
        fitting = self.runs & laid[some, None]
        option = np.arange(len(self.runs))
        lacks[some] = self.lacks[self.place.take(codes[some, None] + self.laid.take(fitting)), option]
        matched[some] = count_members(fitting.astype(np.uint64))
        return np.ascontiguousarray(lacks.T), np.ascontiguousarray(matched.T)


def field(words: NDArray[np.uint16], name: str) -> NDArray[np.int8]:
    """Return what suits lack for one of `_FIELDS`."""
    shift, mask = _FIELDS[name]
    return (words >> np.uint16(shift) & np.uint16(mask)).astype(np.int8)


class Rest(NamedTuple):
    """What m hands lack for each of k patterns: [k, m] each."""

    aside: NDArray[np.int8]
    pair: NDArray[np.int8]  # beside the tiles put aside
    both: NDArray[np.int8]  # a set and a pair beside them


def join(
    words: Sequence[NDArray[np.uint16]],
    options: NDArray[np.intp],
    of_honours: NDArray[np.uint16] | None,
    names: tuple[str, str, str],
) -> Rest:
    """Join what the suits of hands lack to what the hands lack.

    Args:
        words: for each suit [O, m], what it lacks with each option.
        options: [3, k] the options of the suits.
        of_honours: [m] what the honours lack; None if no honours are used.
        names: the names of the fields for a set, a pair, and both.
    """
    shape = options.shape[1], words[0].shape[1]
    if of_honours is None:
        one, pair, both = (np.full(shape, 9, np.int8) for _ in names)
    else:
        one, pair, both = (np.broadcast_to(field(of_honours, name), shape) for name in names)
    aside = np.zeros(shape, np.int8)
    for word, option in zip(words, options, strict=True):
        of_aside, of_one, of_pair, of_both = (field(word, name).take(option, axis=0) for name in ("aside", *names))
        aside += of_aside
        both = np.minimum(np.minimum(both, of_both), np.minimum(one + of_pair, pair + of_one))
        one, pair = np.minimum(one, of_one), np.minimum(pair, of_pair)
    return Rest(aside, pair, both)


def total_short(rest: Rest, beside: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return [k, m] tiles short; ``beside`` [k or 1, m] is the number of melds that belong to no run of the pattern."""
    beside_it = np.where(beside == 0, rest.both, np.where(beside == 1, rest.pair, FAR))
    return rest.aside + beside_it


# --- Aims -------------------------------------------------------------------------------------------------------------


class Aims:
    """The aims of some rules.

    Attributes:
        patterns: the patterns of tiles put aside; those that are worth enough whatever is beside them come first.
        others: all other aims that can be worth enough.
    """

    def __init__(self, aims: Sequence[Aim], minimum: int, *, concealed: int, all_runs: int) -> None:
        """Sort the aims into `patterns` and `others`.

        Args:
            aims: all aims of the rules.
            minimum: the points that a win needs.
            concealed: the points that a hand without melds has in addition.
            all_runs: the points that a hand of runs and a pair of a suit has in addition.
        """
        self.minimum, self.concealed, self.all_runs = minimum, concealed, all_runs
        useful = [aim for aim in aims if aim.points + max(concealed, all_runs * (aim.shape == "runs")) >= minimum]
        patterns = [pattern for aim in useful if aim.shape in _ASIDE for pattern in _patterns(aim)]
        self.patterns = sorted(patterns, key=lambda pattern: pattern.points < minimum)
        self.enough = sum(pattern.points >= minimum for pattern in patterns)
        """The number of patterns that are worth enough with anything beside them."""
        self.others = [aim for aim in useful if aim.shape not in _ASIDE]
        self.want = np.array([pattern.want for pattern in self.patterns], np.int8).reshape(-1, NUM_KINDS)
        self.wanted_kinds = pack(self.want > 0)
        self.run_kinds = np.zeros(len(self.patterns), np.uint64)
        """[P] the lowest kinds of each pattern's runs."""
        for place, pattern in enumerate(self.patterns):
            for suit in range(SUITS):
                for run in pattern.runs[suit]:
                    self.run_kinds[place] |= BIT_OF_KIND[RANKS * suit + run]

    @cached_property
    def options(self) -> Options:
        """The tiles that suits may have to put aside, as `Options`."""
        return Options(self.patterns)
