"""Control variates for the points of a hand: the luck of its draws.

Whenever a seat draws, an observer of all hands knows what each kind would be good for and how probable it is, because
the wall is shuffled and unseen. Take any function of the table and the drawn kind, such as "1 if the tile brings the
hand nearer to a win", and subtract its mean over the tiles that remain. Given everything before the draw, the result
has mean zero, no matter who plays and how: it is an innovation. Luck is the weighted sum of these innovations.
Subtracting it from the points changes no mean, and removes as much of the variance as the weights explain. The weights
were fixed beforehand on other hands.

This is the advantage-sum estimator (Zinkevich, Bowling, Bard, Kan and Billings, 2006) with a linear value function as
in MIVAT (White and Bowling, 2009) and, for chance alone, as in AIVAT (Burch, Schmid, Moravcik, Morrill and Bowling,
2018).

The luck of the deal is left to the seat rotations: luck sums to zero over the seats, and every agent has every seat.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.base import AgentError
from mahjong_env import Engine, Rules
from mahjong_env.hands.codes import NUM_KINDS, POWER, SUIT, split_wilds
from mahjong_env.hands.kind_sets import (
    ALL_KINDS,
    BIT_OF_KIND,
    CountPlanes,
    KindSets,
    count_planes,
    count_tiles,
    members,
    pack,
)
from mahjong_env.hands.shanten import Hands, Melded
from mahjong_env.ruleset.shapes import needs_counts, shanten
from mahjong_env.scoring.wins import Source, Wins, wins_from_state
from mahjong_env.state.arrays import Phase

WEIGHTS_FILE: Final = Path(__file__).with_name("control_variates.json")
"""The file of the shipped weights, which `mahjong_training.fit_control_variates` writes."""
UNIT: Final = 2**20
"""Luck is kept as a whole number of parts of a point, this many to the point, so that sums are exact in any order."""
_DRAWS_AT_ONCE: Final = 2048
"""Draws are evaluated when this many wait: the few hundred of a single step would take nearly as long."""
_MOST_LEFT: Final = 2 / 3
"""Control variates that leave more of the variance than this are not worth their time."""


@cache
def _fitted() -> dict[str, Any]:
    """Return, for each variant, the shipped weights and the share of the variance of points that they leave."""
    return json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))["variants"]


def weights_of(rules: Rules) -> NDArray[np.float64]:
    """Return [F] the weights that are shipped for a variant, whatever its house rules.

    Raises:
        AgentError: no weights are shipped for it.
    """
    fitted = _fitted()
    if rules.name not in fitted:
        raise AgentError(
            f"there are no weights of control variates for {rules.name!r}; there are for "
            f"{', '.join(fitted)}; run mahjong-env fit-control-variates --variant {rules.name} to make them"
        )
    by_name = fitted[rules.name]["weights"]
    return np.array([by_name.get(name, 0.0) for name in FEATURES])


def useful_weights(rules: Rules) -> NDArray[np.float64] | None:
    """Return the weights of the control variates where they explain enough of the variance of points, else None."""
    fitted = _fitted().get(rules.name)
    return weights_of(rules) if fitted is not None and fitted["left"] < _MOST_LEFT else None


class Luck:
    """The luck of B games, collected while they are played. Draws are evaluated later, many at once."""

    def __init__(self, engine: Engine, weights: NDArray[np.float64] | None = None, drawable: int | None = None) -> None:
        """Begin with games in their present state.

        Args:
            engine: the games.
            weights: [F] weights of the innovations, in the order of `FEATURES`; None sums the innovations themselves.
            drawable: the number of tiles that could be drawn after the deal; None for as many as now, as in games that
                have just been dealt.
        """
        self._engine, self._state, self._weights = engine, engine.state, weights
        state, rules = engine.state, engine.rules
        games, seats = state.hand.shape[:2]
        self._stays = ~np.asarray(rules.flower_kinds, np.bool_)[:NUM_KINDS]
        self._code = np.full((games, seats, 4), -1, np.int32)
        self._helps, self._distance = np.zeros((games, seats), np.uint64), np.zeros((games, seats), np.int8)
        self._front, self._back = state.front.copy(), state.back.copy()
        self._person_at = state.person_at.astype(np.intp)
        left = state.left(np.arange(games)).astype(np.float64)
        self._drawable = left if drawable is None else np.full(games, float(drawable))
        shape = (games, seats, len(FEATURES)) if weights is None else (games, seats)
        self._sums: NDArray[np.float64] = np.zeros(shape)
        self._waiting: list[_Draws | tuple[NDArray[np.intp], NDArray[np.intp]]] = []  # draws and notes, in order
        self._draws_waiting = 0
        self._noted: list[NDArray[np.int64]] = []
        self._look(np.arange(games))

    def add(self, games: NDArray[np.intp]) -> None:
        """Record what has been drawn in games [n], each of which has just made one step."""
        state = self._state
        moved = (state.front[games] != self._front[games]) | (state.back[games] != self._back[games])
        self._front[games], self._back[games] = state.front[games], state.back[games]
        self._look(games[state.phase[games] != Phase.OVER])
        drew = games[moved]
        # A flower that cannot be replaced leaves no tile to evaluate; any other draw ends with a tile in the hand.
        drew = drew[(state.phase[drew] == Phase.TURN) & (state.drawn[drew] >= 0)]
        if drew.size:
            self._waiting.append(_Draws(self, drew))
            self._draws_waiting += len(drew)
            if self._draws_waiting >= _DRAWS_AT_ONCE:
                self._settle()

    @property
    def sums(self) -> NDArray[np.float64]:
        """[B, S, F] the sums of the innovations if there are no weights; [B, S] the luck in points if there are."""
        self._settle()
        return self._sums

    def by_person(self) -> NDArray[np.int64]:
        """Return [B, P] int64 the luck of each person, in `UNIT` parts of a point."""
        luck = np.zeros((len(self.sums), self._engine.num_people), np.int64)
        np.put_along_axis(luck, self._person_at, _in_units(self._sums), axis=1)
        return luck

    def note(self, games: NDArray[np.intp], persons: NDArray[np.intp]) -> None:
        """Note the present luck of persons [n] in games [n]; `noted` returns it."""
        self._waiting.append((games, (self._person_at[games] == persons[:, None]).argmax(axis=1)))

    def noted(self) -> NDArray[np.int64]:
        """Return [m] int64 all luck that was noted, in order, in `UNIT` parts of a point."""
        self._settle()
        return np.concatenate([np.zeros(0, np.int64), *self._noted])

    def _settle(self) -> None:
        """Evaluate the draws that wait, and go through them and the notes in order."""
        parts = [part for part in self._waiting if isinstance(part, _Draws)]
        found = innovations(_Draws.joined(parts), self._weights) if parts else self._sums
        first = 0
        for part in self._waiting:
            if isinstance(part, _Draws):
                self._sums[part.games] += found[first : first + len(part.games)]
                first += len(part.games)
            else:
                self._noted.append(_in_units(self._sums[part]))
        self._waiting, self._draws_waiting = [], 0

    def _look(self, games: NDArray[np.intp]) -> None:
        """Update what helps the hands that have changed; for a seat that has just drawn, its hand before the draw."""
        state = self._state
        code = state.code[games]
        row = np.flatnonzero(state.phase[games] == Phase.TURN)
        seat, kind = state.turn[games[row]], state.drawn[games[row]].astype(np.intp)
        is_natural = (kind >= 0) & (kind != state.wild[games[row]])
        at = row[is_natural], seat[is_natural], SUIT[kind[is_natural]]
        code[at] -= POWER[kind[is_natural]]
        changed = (code != self._code[games]).any(axis=2)
        has_claimed = kind < 0
        changed[row[has_claimed], seat[has_claimed]] = False  # the seat holds one tile too many until it discards
        drawn = np.full(code.shape[:2], -1)
        drawn[row, seat] = kind
        where, who = np.nonzero(changed)
        if not where.size:
            return
        game, code, drawn = games[where], code[where, who], drawn[where, who]
        hand, wild = state.hand[game, who], state.wild[game].astype(np.intp)
        has = np.flatnonzero(drawn >= 0)
        hand[has, drawn[has]] -= 1
        hand, wilds = split_wilds(hand, wild)
        melds = state.num_melds[game, who].astype(np.intp)
        rules = self._engine.rules
        counts = count_planes(hand) if needs_counts(rules) else None
        laid = None
        if rules.aims is not None:
            every_kind_left = np.zeros(len(game), np.uint64)
            laid = Melded.of(state.meld_type[game, who], state.meld_kind[game, who], every_kind_left)
        codes = code.T.astype(np.intp, order="C")
        found = shanten(Hands(codes, wilds, rules.sets - melds, melds == 0, counts, laid), rules)
        helps = found.kinds_that_help(found.distance)
        some = np.flatnonzero(wild >= 0)
        helps[some] |= BIT_OF_KIND[wild[some]]
        self._code[game, who] = code
        self._helps[game, who] = helps & pack(self._stays[None])
        self._distance[game, who] = found.distance


def _in_units(points: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.rint(points * UNIT).astype(np.int64)


# --- Innovations ----------------------------------------------------------------------------------------------

FAR: Final = 5
"""Hands that are at least this many tiles from a win are not distinguished."""
PARTS: Final = 3
"""The number of parts into which a hand of play is divided, by the tiles that can still be drawn."""
_HONOURS: Final = ALL_KINDS ^ np.uint64(2**27 - 1)
_MANY_PAIRS: Final = 4
_NO_KIND: Final = np.uint64(0)

# Innovations by which the drawer gains what the others lose in equal shares, and the number of each: one per distance
# from a win (FAR), per part of the hand (PARTS), or per pair of both.
_OWN: Final = {
    "nearer": FAR * PARTS,
    "nearer, tiles that help": FAR,
    "nearer, dealer": FAR,
    "nearer, no melds": FAR,
    "nearer, wild tiles": FAR,
    "nearer, others wait": FAR,
    "nearer, one suit": FAR,
    "nearer, pairs": FAR,
    "nearer, melds": FAR,
    "wild tile": FAR,
    "wild tile, others held": 1,
    "fourth tile": PARTS,
    "fourth tile of a pung": 1,
    "third tile": FAR,
    "second tile": 1,
    "honour": 1,
}
# Innovations at the cost of some of the others more than of the rest.
_COST: Final = {"nearer, cost of who waits": FAR, "nearer, cost of the dealer": FAR}
# Innovations if another seat could use the tile.
_WANTED: Final = {"wanted by the next": FAR - 1, "wanted by another": FAR - 1}
_RISK: Final = {"risk": 2, "lost": 2}
# What the variant pays for the wins that the tile makes possible: wins of the drawer, of others who wait for a tile
# that the drawer cannot use, and of others who wait for one that it can use.
_PAY: Final = {"own win": PARTS, "win with a useless tile": PARTS, "win with a useful tile": PARTS}
_SIZES: Final = {**_OWN, **_COST, **_WANTED, **_RISK, **_PAY}
FEATURES: Final = tuple(f"{name} {number}" for name, size in _SIZES.items() for number in range(size))
_FIRST: Final = dict(zip(_SIZES, np.cumsum([0, *_SIZES.values()]).tolist(), strict=False))


class _Draws:
    """Draws of one tile in each of n games, with everything else as it was before the draw.

    The games may go on afterwards.

    Attributes:
        engine: the games, after the draw.
        games: [n] their numbers.
        seat: [n] the seat that drew.
        kind: [n] the kind of the tile.
        hand: [n, 34] the drawer's concealed tiles.
        wall: [n, 34] the tiles that might have been drawn, except flowers.
        helps: [n, S] the kinds that bring each hand nearer to a win.
        distance: [n, S] how far each hand is from a win; ``far`` [n] is the drawer's, where 0 is one tile.
        waits: [n, S] bool whether the seat is one tile from a win; False for the drawer.
        part: [n] the part of the hand.
        wild: [n] the wild kind, -1 for none.
        dealer: [n] the dealer's seat.
        melds: [n] the number of the drawer's melds; ``pungs`` [n, 34] bool marks the open pungs among them.
        wins: the wins that tiles of the wall would make possible; ``won_in`` [k] are their rows, ``won_by`` [k] the
            kinds, ``won_how`` [k] the first of their features (`_PAY`).
    """

    def __init__(self, luck: Luck, games: NDArray[np.intp]) -> None:
        """Record what the seats whose turn it is in games [n] have just drawn."""
        self.engine, self.games, state = luck._engine, games, luck._state
        rows = self.rows
        self.seat, self.kind = state.turn[games].astype(np.intp), state.drawn[games].astype(np.intp)
        # With private walls too, every tile left is equally likely: nobody knows in which wall a tile lies.
        self.wall = state.wall_counts(games)[:, :NUM_KINDS] * luck._stays
        self.wall[rows, self.kind] += 1
        self.hand = state.hand[games, self.seat]
        self.hand[rows, self.kind] -= 1
        self.helps, self.distance = luck._helps[games], luck._distance[games]
        self.far = np.clip(self.distance[rows, self.seat], 1, FAR).astype(np.intp) - 1
        left = state.left(games) / luck._drawable[games]
        self.part = np.clip((PARTS * (1 - left)).astype(np.intp), 0, PARTS - 1)
        self.waits = self.distance <= 1
        self.waits[rows, self.seat] = False
        self.wild, self.dealer = state.wild[games].astype(np.intp), state.dealer[games]
        self.melds, self.pungs = state.num_melds[games, self.seat], state.open_pung[games, self.seat]
        self._find_wins()

    @property
    def rows(self) -> NDArray[np.intp]:
        """[n] 0, 1, 2, ..."""
        return np.arange(len(self.games))

    @classmethod
    def joined(cls, parts: Sequence[_Draws]) -> _Draws:
        """Return the draws of several parts as one."""
        draws = cls.__new__(cls)
        draws.engine = parts[0].engine
        for name, array in vars(parts[0]).items():
            if isinstance(array, np.ndarray):
                setattr(draws, name, np.concatenate([getattr(part, name) for part in parts]))
        first = np.cumsum([0, *(len(part.games) for part in parts)])
        draws.won_in = np.concatenate([part.won_in + start for part, start in zip(parts, first, strict=False)])
        wins = [part.wins for part in parts if part.wins is not None]
        draws.wins = Wins.join(wins) if wins else None
        return draws

    def _find_wins(self) -> None:
        rules, state, seats = self.engine.rules, self.engine.state, self.helps.shape[1]
        helps = self.helps[self.rows, self.seat]
        # [k] draws, winners, kinds as sets, and names
        found = [(np.flatnonzero(self.far == 0), self.seat, helps, "own win")]
        for ahead in range(1, seats):
            seat = (self.seat + ahead) % seats
            at, wants = np.flatnonzero(self.waits[self.rows, seat]), self.helps[self.rows, seat]
            found += [
                (at, seat, wants & ~helps, "win with a useless tile"),
                (at, seat, wants & helps, "win with a useful tile"),
            ]
        listed = []
        for at, seat, kinds, name in found:
            which, kind = members(kinds[at])
            row = at[which]
            possible = self.wall[row, kind] > 0
            row, kind = row[possible], kind[possible]
            listed.append((row, kind, seat[row], np.full(len(row), _FIRST[name])))
        own = len(listed[0][0])
        self.won_in, self.won_by, winner, self.won_how = (
            np.concatenate(arrays) for arrays in zip(*listed, strict=True)
        )
        tile, winners = self.won_by.astype(np.int8), state.seats(self.games[self.won_in], winner)
        wins = []
        if own:
            some, rows = slice(own), self.won_in[:own]
            by_draw = wins_from_state(rules, state, winners.take(np.arange(own)), tile[some], Source.DRAW, -1)
            # The hand in the state holds the tile that was really drawn: replace it.
            by_draw.counts[np.arange(own), self.kind[rows]] -= 1
            by_draw.counts[np.arange(own), self.won_by[some]] += 1
            wins.append(by_draw)
        if len(tile) > own:
            others, giver = winners.take(np.arange(own, len(tile))), self.seat[self.won_in[own:]]
            wins.append(wins_from_state(rules, state, others, tile[own:], Source.DISCARD, giver))
        self.wins: Wins | None = Wins.join(wins) if wins else None

    @cached_property
    def _planes(self) -> CountPlanes:
        return count_planes(self.wall)

    @cached_property
    def total(self) -> NDArray[np.int64]:
        """[n] the number of tiles that might have been drawn."""
        return self.wall.sum(axis=1)

    def shares(self, kinds: KindSets) -> NDArray[np.float64]:
        """Return [..., n] the share of sets of kinds [..., n] among the tiles that might have been drawn."""
        return np.asarray(count_tiles(kinds, self._planes) / self.total)

    def innovations(self, *kinds: KindSets) -> NDArray[np.float64]:
        """Return [q, n], for q sets of kinds [n]: 1 if the tile was in the set, else 0, less its probability."""
        stacked = np.stack(kinds)
        return (stacked & BIT_OF_KIND[self.kind] != _NO_KIND) - self.shares(stacked)

    def gain(self, seat: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return [n, S] 1 for the given seat [n], and minus the equal shares that the others pay for it."""
        seats = self.helps.shape[1]
        gain = np.full((len(seat), seats), -1 / (seats - 1))
        gain[self.rows, seat] = 1
        return gain


_Innovation = tuple[str, NDArray[np.float64], Any]
"""A feature's name in `_SIZES`, its values [k, S] of draws [k] for the seats, and its number, one for all or [k]."""


def innovations(draws: _Draws, weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Return what draws were worth to every seat, which sums to zero over the seats.

    Args:
        draws: n draws.
        weights: [F] weights of the innovations, if there are any.

    Returns:
        [n, S, F] the innovations in the order of `FEATURES`; with weights, [n, S] their weighted sums.
    """
    shape = draws.helps.shape
    found = np.zeros(shape if weights is not None else (*shape, len(FEATURES)))
    for rows, parts in ((draws.rows, chain(_own(draws), _others(draws))), (draws.won_in, _payments(draws))):
        for name, values, number in parts:
            feature = _FIRST[name] + np.asarray(number)[..., None]
            if weights is None:
                np.add.at(found, (rows[:, None], np.arange(shape[1]), feature), values)
            elif rows is draws.won_in:  # a draw may make several wins possible, or none
                np.add.at(found, rows, values * weights[feature])
            else:
                found += values * weights[feature]
    return found


def _own(draws: _Draws) -> Iterator[_Innovation]:
    """Yield what the tile does for the drawer, and which others lose more or less if the drawer comes nearer."""
    rows, hand, wild = draws.rows, draws.hand, draws.wild
    helps = draws.helps[rows, draws.seat]
    has_wild = wild >= 0
    held = np.where(has_wild, hand[rows, wild], 0)
    natural = hand * (np.arange(NUM_KINDS) != wild[:, None])
    suits = natural[:, :27].reshape(-1, 3, 9).sum(axis=2)
    is_one_suit = suits.max(axis=1) >= suits.sum(axis=1) - 1
    has_pairs = (natural // 2).sum(axis=1) >= _MANY_PAIRS
    nearer, wild_tile, fourth, of_pung, third, second, honour = draws.innovations(
        helps,
        np.where(has_wild, BIT_OF_KIND[wild], _NO_KIND),
        pack(hand == 3),
        pack(draws.pungs),
        pack(hand == 2),
        pack(hand == 1),
        np.full(len(rows), _HONOURS),
    )
    far, part, gain = draws.far, draws.part, draws.gain(draws.seat)
    for name, number, value in (
        ("nearer", far * PARTS + part, nearer),
        ("nearer, tiles that help", far, nearer * (10 * draws.shares(helps))),
        ("nearer, dealer", far, nearer * (draws.dealer == draws.seat)),
        ("nearer, no melds", far, nearer * (draws.melds == 0)),
        ("nearer, wild tiles", far, nearer * held),
        ("nearer, others wait", far, nearer * draws.waits.sum(axis=1)),
        ("nearer, one suit", far, nearer * is_one_suit),
        ("nearer, pairs", far, nearer * has_pairs),
        ("nearer, melds", far, nearer * draws.melds),
        ("wild tile", far, wild_tile),
        ("wild tile, others held", 0, wild_tile * held),
        ("fourth tile", part, fourth),
        ("fourth tile of a pung", 0, of_pung),
        ("third tile", far, third),
        ("second tile", 0, second),
        ("honour", 0, honour),
    ):
        yield name, gain * value[:, None], number
    seats = gain.shape[1]
    is_dealer = np.arange(seats) == draws.dealer[:, None]
    is_dealer[rows, draws.seat] = False
    for name, who in (("nearer, cost of who waits", draws.waits), ("nearer, cost of the dealer", is_dealer)):
        more = who - who.sum(axis=1, keepdims=True) / (seats - 1)
        more[rows, draws.seat] = 0
        yield name, -more * nearer[:, None], far


def _others(draws: _Draws) -> Iterator[_Innovation]:
    """Yield what the tile does for others who could use it."""
    rows, seats = draws.rows, draws.helps.shape[1]
    helps = draws.helps[rows, draws.seat]
    for ahead in range(1, seats):
        seat = (draws.seat + ahead) % seats
        waits, wants = draws.waits[rows, seat], draws.helps[rows, seat]
        useless, useful = draws.innovations(wants & ~helps, wants & helps)
        gain = draws.gain(seat)
        far = np.clip(draws.distance[rows, seat], 2, FAR) - 2
        name = "wanted by the next" if ahead == 1 else "wanted by another"
        yield name, gain * (useless * ~waits)[:, None], far
        given = np.zeros_like(gain)
        given[rows, seat], given[rows, draws.seat] = 1, -1
        for name, who in (("risk", given), ("lost", gain)):
            for number, innovation in enumerate((useless, useful)):
                yield name, who * (innovation * waits)[:, None], number


def _payments(draws: _Draws) -> Iterator[_Innovation]:
    """Yield what the wins that the tile makes possible pay, less the expected value of that."""
    if draws.wins is None:
        return
    scores = draws.engine.rules.score(draws.wins)
    paid, row, kind = np.where(scores.legal[:, None], scores.payments, 0), draws.won_in, draws.won_by
    innovation = (kind == draws.kind[row]) - draws.wall[row, kind] / draws.total[row]
    yield "own win", paid * innovation[:, None], draws.won_how - _FIRST["own win"] + draws.part[row]
