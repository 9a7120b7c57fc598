"""How lucky the draws of a hand were: control variates for what it brought.

Whenever a seat draws, whoever sees all hands knows what each kind would be good for, and how likely it is: the wall is
shuffled, and nobody has looked into it. So any number that can be told from the table and the drawn kind, say "1 if the
tile brings the hand nearer to a win", has mean zero once its mean over the tiles that remain is taken off, given
everything that happened before, whoever plays and however. Sums of such surprises, weighted, are what is called luck
here. To take luck off the points changes no mean, and takes away as much of the spread as the weights explain, which
were fixed beforehand on other hands. It is the advantage-sum estimator (Zinkevich, Bowling, Bard, Kan and Billings,
2006), with a linear value function as in MIVAT (White and Bowling, 2009) and, for chance alone, as in AIVAT (Burch,
Schmid, Moravcik, Morrill and Bowling, 2018).

What the deal brings is left to the seatings: luck sums to zero over the seats, and every agent has every seat.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.base import AgentError
from mahjong_agents.draw_features import FEATURES, Draws, surprises
from mahjong_agents.outlook import Concealed, Outlook, other_shapes
from mahjong_env import Engine, Rules
from mahjong_env.basics.tiles import NUM_ALL_KINDS
from mahjong_env.hands.codes import NUM_KINDS, POWER, SUIT
from mahjong_env.hands.kind_sets import BIT_OF_KIND, count_planes, pack
from mahjong_env.state.arrays import Phase

WEIGHTS_FILE: Final = Path(__file__).with_name("control_variates.json")
"""The weights that are shipped; `mahjong_training.fitting.control_variates` writes it."""
UNIT: Final = 2**20
"""Luck is kept in whole parts of a point, so many to one: sums are then exact in any order."""
_MOST_LEFT: Final = 2 / 3
"""Control variates that leave more of the spread than this are not worth their time."""


@cache
def weights_of(rules: Rules) -> NDArray[np.float64]:
    """Return the [F] weights that are shipped for a variant, with whatever knobs.

    Raises:
        AgentError: there are none.
    """
    try:
        known = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))["variants"]
    except FileNotFoundError:
        known = {}
    if rules.name not in known:
        raise AgentError(
            f"there are no weights of control variates for {rules.name!r}; there are for {', '.join(known) or 'none'}. "
            f"mahjong-env fit-control-variates --variant {rules.name} makes them"
        )
    by_name = known[rules.name]["weights"]
    return np.array([by_name.get(name, 0.0) for name in FEATURES])


def share_left(rules: Rules) -> float | None:
    """Return the share of the spread of points that the shipped weights leave to a variant; None if there are none."""
    try:
        known = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))["variants"]
    except FileNotFoundError:
        return None
    return float(known[rules.name]["left"]) if rules.name in known else None


def worthwhile_weights(rules: Rules) -> NDArray[np.float64] | None:
    """Return the weights of the control variates where they explain enough of the spread of points to be worth it."""
    known = share_left(rules)
    return weights_of(rules) if known is not None and known < _MOST_LEFT else None


class Luck:
    """The luck of B games, while they are played on.

    Attributes:
        sums: [B, S, F] sums of surprises, if there are no weights; else [B, S] luck in points.
    """

    def __init__(self, engine: Engine, weights: NDArray[np.float64] | None = None, drawable: int | None = None) -> None:
        """Begin with games as they are.

        Args:
            engine: the games.
            weights: [F] of the surprises, in the order of `FEATURES`; None: the surprises themselves are kept.
            drawable: tiles that could be drawn at the deal; None: as many as now, as in freshly dealt games.
        """
        self._engine, self._state, self._weights = engine, engine.state, weights
        state, rules = engine.state, engine.rules
        games, seats = state.hand.shape[:2]
        self._shapes = other_shapes(rules)
        self._stays = ~np.asarray(rules.flower_kinds, np.bool_)[:NUM_KINDS]
        self._code = np.full((games, seats, 4), -1, np.int32)
        self._helps, self._far = np.zeros((games, seats), np.uint64), np.zeros((games, seats), np.int8)
        self._front, self._back = state.front.copy(), state.back.copy()
        self._wall_size = state.wall.shape[1]
        place = np.arange(self._wall_size)
        lies = (place >= state.front[:, None]) & (place < self._wall_size - state.back[:, None])
        row = np.nonzero(lies)[0]
        kinds = np.bincount(row * NUM_ALL_KINDS + state.wall[lies], minlength=games * NUM_ALL_KINDS)
        self._in_wall = kinds.reshape(games, NUM_ALL_KINDS).astype(np.int8)
        self._person_at = state.person_at.astype(np.intp)
        left = state.left(np.arange(games)).astype(np.float64)
        self._drawable = left if drawable is None else np.full(games, float(drawable))
        shape = (games, seats, len(FEATURES)) if weights is None else (games, seats)
        self.sums: NDArray[np.float64] = np.zeros(shape)
        self._look(np.arange(games))

    def add(self, games: NDArray[np.intp]) -> None:
        """Look at [n] games after each of them was stepped."""
        state = self._state
        moved = (state.front[games] != self._front[games]) | (state.back[games] != self._back[games])
        self._take_from_walls(games[moved])
        self._look(games[state.phase[games] != Phase.OVER])
        drew = games[moved]
        # A flower that cannot be replaced leaves nothing to look at; any other draw ends with a tile in the hand.
        drew = drew[(state.phase[drew] == Phase.TURN) & (state.drawn[drew] >= 0)]
        if drew.size:
            found = surprises(self._draws(drew))
            self.sums[drew] += found if self._weights is None else found @ self._weights

    def by_person(self) -> NDArray[np.int64]:
        """Return [B, P] luck in `UNIT` parts of a point."""
        luck = np.zeros((len(self.sums), self._engine.num_people), np.int64)
        np.put_along_axis(luck, self._person_at, np.rint(self.sums * UNIT).astype(np.int64), axis=1)
        return luck

    def _take_from_walls(self, games: NDArray[np.intp]) -> None:
        state, last = self._state, self._wall_size - 1
        for now, before, is_front in ((state.front, self._front, True), (state.back, self._back, False)):
            while True:
                games_left = games[before[games] < now[games]]
                if not games_left.size:
                    break
                taken = before[games_left]
                tile = state.wall[games_left, taken if is_front else last - taken]
                self._in_wall[games_left, tile] -= 1
                before[games_left] += 1

    def _look(self, games: NDArray[np.intp]) -> None:
        """Bring up to date what helps the hands that have changed; of a seat that has drawn, its hand before that."""
        state = self._state
        code = state.code[games]
        row = np.flatnonzero(state.phase[games] == Phase.TURN)
        seat, kind = state.turn[games[row]], state.drawn[games[row]].astype(np.intp)
        is_natural = (kind >= 0) & (kind != state.wild[games[row]])
        at = row[is_natural], seat[is_natural], SUIT[kind[is_natural]]
        code[at] -= POWER[kind[is_natural]]
        changed = (code != self._code[games]).any(axis=2)
        has_claimed = kind < 0
        changed[row[has_claimed], seat[has_claimed]] = False  # it holds a tile too many until it discards
        drawn = np.full(code.shape[:2], -1)
        drawn[row, seat] = kind
        where, who = np.nonzero(changed)
        if where.size:
            self._look_at(games[where], who, code[where, who], drawn[where, who])

    def _look_at(
        self, game: NDArray[np.intp], seat: NDArray[np.intp], code: NDArray[np.int32], drawn: NDArray[np.intp]
    ) -> None:
        state = self._state
        hand, wild = state.hand[game, seat], state.wild[game].astype(np.intp)
        has = np.flatnonzero(drawn >= 0)
        hand[has, drawn[has]] -= 1
        wilds = np.zeros(len(game), np.int8)
        some = np.flatnonzero(wild >= 0)
        wilds[some] = hand[some, wild[some]]
        hand[some, wild[some]] = 0
        melds = state.num_melds[game, seat].astype(np.intp)
        counts = count_planes(hand) if any(self._shapes) else None
        codes = code.T.astype(np.intp, order="C")
        sets = self._engine.rules.sets - melds
        outlook = Outlook(Concealed(codes, wilds, sets, melds == 0, counts), self._shapes)
        helps = outlook.kinds_that_help(outlook.distance)
        helps[some] |= BIT_OF_KIND[wild[some]]
        self._code[game, seat] = code
        self._helps[game, seat] = helps & pack(self._stays[None])
        self._far[game, seat] = outlook.distance

    def _draws(self, games: NDArray[np.intp]) -> Draws:
        state = self._state
        seat, kind = state.turn[games].astype(np.intp), state.drawn[games].astype(np.intp)
        rows: Any = np.arange(len(games))
        wall = self._in_wall[games, :NUM_KINDS] * self._stays
        wall[rows, kind] += 1
        hand = state.hand[games, seat]
        hand[rows, kind] -= 1
        left = state.left(games) / self._drawable[games]
        return Draws(self._engine, games, seat, kind, hand, wall, left, self._helps[games], self._far[games])
