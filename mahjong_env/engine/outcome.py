"""The results of a step, and the hands that ended in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int32Array, Int64Array
from mahjong_env.engine.phases.context import Ended
from mahjong_env.ruleset.questions import Rules
from mahjong_env.scoring.receipt import Receipt, receipt
from mahjong_env.scoring.wins import Source
from mahjong_env.state.arrays import NO_SEAT

if TYPE_CHECKING:
    from mahjong_env.state.arrays import State


Entries: TypeAlias = list[tuple[str, int | float]]
"""The scoring rows of one hand: names and values."""

# Indexed by Source; -1, the last entry, is a drawn hand.
_WORDS = np.array([*(source.word for source in Source), ""])


@dataclass(frozen=True)
class Outcome:
    """The hands that ended in a step, one in each row, in the order of their games.

    Attributes:
        game: [n] number of the game.
        winner: [n] int8 person, -1 after a draw.
        source: [n] text: "draw", "discard", "kong" (robbed), "flowers", or "" after a draw.
        from_seat: [n] int8 person who gave the winning tile, -1 if nobody did.
        tile: [n] int8 kind of the winning tile, -1 if there is none.
        value: [n] int64 value of the winning hand (`HandScore.points`), 0 after a draw.
        payments: [n, P] int32 payments for the win, by person; kongs that were paid at once are not included.
        points: [n, P] int32 running points after the hand.
        rows: [n] the scoring rows of each hand, a list of (name, value) pairs.
        receipts: [n] how the points of each hand add up, with `shares` and `for_others` by person; None after a draw.
    """

    game: Games
    winner: Int8Array
    source: NDArray[np.str_]
    from_seat: Int8Array
    tile: Int8Array
    value: Int64Array
    payments: Int32Array
    points: Int32Array
    rows: Sequence[Entries] = field(repr=False)
    receipts: Sequence[Receipt | None] = field(default=(), repr=False)

    def __len__(self) -> int:
        """The number of hands that ended."""
        return len(self.game)

    @staticmethod
    def empty(people: int) -> Outcome:
        """Return an outcome in which no hand ended."""
        return _nothing(people)

    @classmethod
    def collect(cls, ended: list[Ended], rules: Rules, state: State) -> Outcome:
        """Collect the hands that ended in a step; seats become persons, and points are read before the next deal."""
        if not ended:
            return cls.empty(rules.people)
        games = np.concatenate([end.games for end in ended])
        order = games.argsort(kind="stable")
        person_at = np.concatenate([end.person_at for end in ended])
        payments = np.zeros((len(games), rules.people), np.int32)
        value = np.zeros(len(games), np.int64)
        start = 0
        for end in ended:
            stop = start + len(end.games)
            if end.scores is not None:
                payments[np.arange(start, stop)[:, None], end.person_at] = end.scores.payments
                value[start:stop] = end.scores.points
            start = stop
        parts = [(end, hand) for end in ended for hand in range(len(end.games))]
        hands = [parts[place] for place in order.tolist()]
        return cls(
            game=games.take(order),
            winner=persons_at(rules, person_at, np.concatenate([end.winner for end in ended])).take(order),
            source=_WORDS.take(np.concatenate([end.source for end in ended]).take(order)),
            from_seat=persons_at(rules, person_at, np.concatenate([end.from_seat for end in ended])).take(order),
            tile=np.concatenate([end.tile for end in ended]).take(order),
            value=value.take(order),
            payments=payments.take(order, axis=0),
            points=state.points.take(games.take(order), axis=0),
            rows=_OfHands(partial(_rows, rules), hands),
            receipts=_OfHands(partial(_receipt, rules), hands),
        )


def persons_at(rules: Rules, person_at: Int8Array, seat: Int8Array) -> Int8Array:
    """Return [n] int8 the persons on seats [n], -1 for no seat, where ``person_at`` [n, S] sit; a fresh array."""
    if not rules.people_move:  # everybody's seat has the person's number
        return seat.copy()
    place = np.arange(0, person_at.size, person_at.shape[1]) + np.maximum(seat, 0)
    return np.where(seat >= 0, person_at.reshape(-1).take(place), np.int8(NO_SEAT))


def _rows(rules: Rules, end: Ended, hand: int) -> Entries:
    return [] if end.scores is None else end.scores.rows_of(hand, rules.rows)


def _receipt(rules: Rules, end: Ended, hand: int) -> Receipt | None:
    told = None if end.scores is None else receipt(end.scores, hand)
    if told is None:
        return None
    shares, for_others = [("", "")] * rules.people, [False] * rules.people
    for person, share, is_for_others in zip(end.person_at[hand].tolist(), told.shares, told.for_others, strict=False):
        shares[person], for_others[person] = share, is_for_others
    return replace(told, shares=tuple(shares), for_others=tuple(for_others) if told.for_others else ())


class _OfHands(Sequence[Any]):
    """Something about each hand that is worked out when it is looked at, which most callers never do."""

    def __init__(self, say: Callable[[Ended, int], Any], hands: Sequence[tuple[Ended, int]]) -> None:
        """Keep the function that works it out, and the hands, each named by its part and its place in it."""
        self._say, self._hands = say, hands

    def __len__(self) -> int:
        return len(self._hands)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return tuple(self._say(*hand) for hand in self._hands[place])
        return self._say(*self._hands[place])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # as for the lists that it holds

    def __repr__(self) -> str:
        return repr(tuple(self))


@cache
def _nothing(people: int) -> Outcome:
    nobody = np.zeros(0, np.int8)
    nothing = np.zeros((0, people), np.int32)
    return Outcome(
        np.zeros(0, np.intp),
        nobody,
        np.zeros(0, _WORDS.dtype),
        nobody,
        nobody,
        np.zeros(0, np.int64),
        nothing,
        nothing,
        (),
    )


@dataclass(slots=True)
class StepResult:
    """The result of a step, with one row for each game stepped.

    Attributes:
        rewards: [n, P] int32 points that changed hands, by person; each row sums to zero.
        hand_over: [n] bool, whether a hand ended (if the match goes on, the next one has been dealt).
        done: [n] bool, whether the match ended.
        truncated: [n] bool, whether it was cut short, which happens only to matches that end by points.
        outcome: the hands that ended.
    """

    rewards: Int32Array
    hand_over: BoolArray
    done: BoolArray
    truncated: BoolArray
    outcome: Outcome


def hand_info(outcome: Outcome, place: int) -> dict[str, Any]:
    """Describe the hand in one row of an outcome.

    Args:
        outcome: the hands that ended in a step.
        place: the row.

    Returns:
        A dictionary: ``winner`` (person, -1 after a draw), ``source`` ("draw", "discard", "kong", "flowers" or ""),
        ``from_seat`` (person, -1 if nobody gave the winning tile), ``tile`` (kind, -1 for none), ``value``,
        ``payments`` and ``points`` (one integer for each person), ``rows`` (a tuple of (name, value) pairs).
    """
    return {
        "winner": int(outcome.winner[place]),
        "source": str(outcome.source[place]),
        "from_seat": int(outcome.from_seat[place]),
        "tile": int(outcome.tile[place]),
        "value": int(outcome.value[place]),
        "payments": outcome.payments[place].tolist(),
        "points": outcome.points[place].tolist(),
        "rows": tuple(outcome.rows[place]),
    }
