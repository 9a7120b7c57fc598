"""Views, which agents are given: observations, action masks, and the same facts as named arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mahjong_env.basics.errors import ViewError
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int16Array, Int32Array, Int64Array, is_integer
from mahjong_env.hands.codes import encode, split_wilds
from mahjong_env.observation.events import events_of
from mahjong_env.observation.planes import LAYOUT
from mahjong_env.observation.visibility import VisibleState

if TYPE_CHECKING:
    from mahjong_env.engine.batch import Engine
    from mahjong_env.engine.opponent_hands import OpponentHands
    from mahjong_env.engine.worlds import Origin
    from mahjong_env.ruleset.questions import Rules


@dataclass(frozen=True)
class View:
    """The view of n seats. Slots: 0 the seat itself, 1 next, 2 across (empty at tables for three), 3 previous.

    No attribute of a view leads to the games that it was taken of; `worlds` draws what the seat has not seen anew.

    A seat that is not asked sees the table as the last action that all could see left it; see
    `observation.visibility`.

    Attributes:
        rules: the rules played.
        observation: [n, C, 34] int8, see `mahjong_env.OBSERVATION_PIECES`.
        action_mask: [n, 109] bool legal actions; all False for seats that are not to act.
        hand: [n, 34] int8 own concealed tiles, wild ones included.
        drawn: [n] int8 kind that the seat has just drawn, -1 for none.
        num_melds: [n, 4] int8 melds of each slot.
        meld_type, meld_kind, meld_from, meld_claimed: [n, 4, 5] int8 `MeldType`, kind (lowest of a chow; -1 if
            hidden), slot that gave the claimed tile, claimed kind (-1 for none).
        meld_discard: [n, 4, 5] int8 number (from 1) of the claimed discard in the river of its giver, 0 for none.
        discards: [n, 4, 34] int8 discards lying before each slot.
        latest: [n, 4, 34] int8 number of each slot's latest discard of the kind (1 = first of the hand), 0 for none.
        melded: [n, 4, 34] int8 tiles in melds that all can see.
        river: [n, 4, R] int8 each slot's discards in order, claimed ones included: kind + 1, and 34 more if the
            discard was claimed; 0 after the last.
        river_number: [n, 4, R] int8 number of that discard among all of the hand (1 = the first); 0 after the last.
        river_drawn: [n, 4, R] bool whether the slot had just drawn such a tile; all False if ``shows_drawn`` is False.
        river_claimed: [n, 4, R] int8 who claimed that discard: 1 the player after its owner, 2 across, 3 before; 0
            nobody.
        exposed: [n, E] int32 what was laid open since the deal without a claim, in order, each as one number; 0 after
            the last. E is the length of the longest list. `events` has the same in readable form.
        flowers: [n, 4, 42] int8 exposed flowers.
        unseen: [n, 34] int8 tiles of each kind that the seat has not seen.
        wild: [n] int8 wild kind, -1 for none.
        indicator: [n] int8 kind turned up, -1 for none.
        phase: [n] int8 what the seat is asked, as in `mahjong_env.state.arrays.Phase`; 0 for nothing.
        offered: [n] int8 kind that the seat is asked about, -1 for none.
        offered_from: [n] int8 slot that gave it, -1 for none.
        opening: [n] int8 number of the question before the first turn that the seat is asked, 0 for none.
        given_up: [n] int8 kind that it would give up there for the one offered, -1 for none.
        turn: [n] int8 slot whose turn it is, or will be if the last discard is not claimed.
        left: [n] int16 drawable tiles, those of all private walls together.
        walls: [n, 4] int16 tiles that each slot can draw, from its private wall or from the common one.
        num_discards: [n] int8 discards of the hand so far, claimed ones included.
        kong_draws: [n] int8 kongs in a row before the seat's drawn tile.
        flower_draw: [n] bool whether the seat's drawn tile replaced a flower.
        closing: [n] bool whether the hand ends after the seat's discard, or after the one that it is asked about.
        dealer: [n] int8 slot of the dealer.
        streak: [n] int16 hands for which the dealer has kept the deal.
        round_wind: [n] int8 0 East to 3 North.
        deals_passed_on: [n] int16 times that the deal has passed on, counted anew after each seat has had it. That is
            a round where the round wind changes then; in Wuhan it changes every four hands.
        house_wind: [n, 4] int8 0 East to 3 North, -1 for an empty slot.
        dice: [n] int8 dice of the hand, 0 for none.
        hand_in_match: [n] int16 hands of the match before this one.
        hands_to_come: [n] int16 hands of the match after this one; 0 where a match does not end by hands.
        marks: [n, 4, K] int16, see `Rules.marks`.
        points: [n, 4] int32 running points.
        person: [n, 4] int8 person who sits there, -1 for an empty slot.
        own_person: [n] int8 the person who looks.
        sitting_out: [n] int8 the person who sits out, -1 for nobody.
        points_sitting_out: [n] int32 the running points of that person, 0 for nobody.
    """

    rules: Rules
    observation: Int8Array
    action_mask: BoolArray
    hand: Int8Array
    drawn: Int8Array
    num_melds: Int8Array
    meld_type: Int8Array
    meld_kind: Int8Array
    meld_from: Int8Array
    meld_claimed: Int8Array
    meld_discard: Int8Array
    discards: Int8Array
    latest: Int8Array
    melded: Int8Array
    river: Int8Array
    river_number: Int8Array
    river_drawn: BoolArray
    river_claimed: Int8Array
    exposed: Int32Array
    flowers: Int8Array
    unseen: Int8Array
    wild: Int8Array
    indicator: Int8Array
    phase: Int8Array
    offered: Int8Array
    offered_from: Int8Array
    opening: Int8Array
    given_up: Int8Array
    turn: Int8Array
    left: Int16Array
    walls: Int16Array
    num_discards: Int8Array
    kong_draws: Int8Array
    flower_draw: BoolArray
    closing: BoolArray
    dealer: Int8Array
    streak: Int16Array
    round_wind: Int8Array
    deals_passed_on: Int16Array
    house_wind: Int8Array
    dice: Int8Array
    hand_in_match: Int16Array
    hands_to_come: Int16Array
    marks: Int16Array
    points: Int32Array
    person: Int8Array
    own_person: Int8Array
    sitting_out: Int8Array
    points_sitting_out: Int32Array

    @classmethod
    def of(cls, seen: VisibleState, origin: Origin) -> View:
        """Make the view of what is seen; arrays are worked out when asked for, and stay when the games move on."""
        view = cls._asking(seen, origin)
        origin.engine.watch(view)
        return view

    @classmethod
    def _asking(cls, seen: VisibleState, origin: Origin, *, is_kept: bool = False) -> View:
        view = object.__new__(cls)
        view.__dict__.update(rules=seen.rules, _ask=_sealed(seen, origin, is_kept=is_kept))
        return view

    def __getattr__(self, name: str) -> Any:
        """Work out an array that is asked for the first time."""
        ask = self.__dict__.get("_ask")
        if ask is None or name not in _ARRAYS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        array = self.__dict__[name] = ask(name)
        return array

    def keep(self) -> None:
        """Read from a copy of the games from now on; engines call this before their games move on."""
        ask = self.__dict__.get("_ask")
        if ask is not None:
            self.__dict__["_ask"] = ask("kept") or ask

    def __len__(self) -> int:
        """Return the number of seats that look."""
        return len(self.action_mask)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_NAMES]

    def __repr__(self) -> str:
        shown = ", ".join(map(str, self.own_person[:8].tolist()))
        more = ", ..." if len(self) > 8 else ""
        return f"<View of {self.rules.name}: {len(self)} rows, seen by the persons {shown}{more}; dir() has the arrays>"

    def take(self, which: Any) -> View:
        """Return the view of some of the seats, by a boolean mask or indices.

        Raises:
            ViewError: there are no such rows.
        """
        if (ask := self.__dict__.get("_ask")) is not None:
            part: View = ask("view", which)
            return part
        rows = _rows(which, len(self))
        return View(rules=self.rules, **{name: getattr(self, name)[rows] for name in _NAMES})

    @classmethod
    def array_names(cls) -> tuple[str, ...]:
        """Return the names of the arrays whose rows have the same shape in every view, in order of declaration."""
        return tuple(item.name for item in fields(cls) if item.name not in ("rules", "exposed"))

    def worlds(self, count: int, rng: np.random.Generator, opponent_hands: OpponentHands | None = None) -> Engine:
        """Return determinizations: games that continue these positions, with everything unseen drawn anew.

        The hands of the others, their hidden kongs and the wall are redrawn uniformly among what is possible, and
        depend on nothing that the seat cannot know. The games belong to the caller and can be played to their end.
        Persons keep their seats: ``worlds.seat_to_act`` names the person who acts in this view.

        Args:
            count: worlds for each row.
            rng: the source of randomness.
            opponent_hands: a prior of how far the others' hands are from a win, by turns and melds. Without it they
                are as far away as right after the deal, however late it is.

        Returns:
            An engine of n * count games; those of row i are ``i * count`` to ``(i + 1) * count - 1``. It does not
            deal finished matches anew.

        Raises:
            ViewError: a game has moved on since the view was taken, a seat is not to act, the view is a copy
                that has left its engine (pickled or deep-copied), or an argument is not valid.
        """
        worlds: Engine = self._asked("worlds", count, rng, opponent_hands)
        return worlds

    def games_in(self, engine: Engine) -> tuple[Games, Int64Array]:
        """See `Engine.games_of`."""
        games: tuple[Games, Int64Array] = self._asked("games", engine)
        return games

    def _asked(self, what: str, *rest: Any) -> Any:
        ask = self.__dict__.get("_ask")
        if ask is None:
            raise ViewError("this view has lost its engine (it was pickled or copied), with its worlds and games")
        return ask(what, *rest)

    def __getstate__(self) -> dict[str, Any]:
        """Return every array without the games, for copies and pickles."""
        arrays = {name: getattr(self, name) for name in _NAMES}
        return {name: value for name, value in self.__dict__.items() if name != "_ask"} | arrays

    @property
    def events(self) -> Int8Array:
        """The hand as a sequence of what all could see: [n, T, 5] int8; see `mahjong_env.EVENTS`.

        Each event consists of its code, the slot, and up to three more numbers (-1 where there is none). After the
        last event the code is 0. T is the length of the longest sequence.
        """
        return events_of(self)

    def recent_events(self, length: int) -> Int8Array:
        """Return the last ``length`` of `events`, for models that need sequences of one length: [n, length, 5] int8.

        Raises:
            ViewError: ``length`` is not an integer from 0.
        """
        if not is_integer(length) or length < 0:
            raise ViewError(f"length is an integer from 0, not {length!r}")
        length = int(length)  # numpy's uint64 and int64 make floats together
        events = self.events
        number = np.count_nonzero(events[..., 0], axis=1)
        place = np.maximum(number - length, 0)[:, None] + np.arange(length)
        recent = np.full((len(events), length, events.shape[2]), -1, np.int8)
        recent[..., 0] = 0
        row, column = np.nonzero(place < number[:, None])
        recent[row, column] = events[row, place[row, column]]
        return recent

    @property
    def own_wilds(self) -> Int8Array:
        """The number of wild tiles in the own hand: [n]."""
        return split_wilds(self.hand, self.wild)[1]

    @property
    def natural_hand(self) -> Int8Array:
        """The own concealed tiles without the wild ones: [n, 34]."""
        return split_wilds(self.hand, self.wild)[0]

    @property
    def codes(self) -> Int32Array:
        """The natural hand as codes of `mahjong_env.hands.codes`: [n, 4] characters, dots, bamboo, honours."""
        ask = self.__dict__.get("_ask")
        known = None if ask is None else ask("codes")
        return encode(self.natural_hand) if known is None else known


_NAMES: Final = (*View.array_names(), "exposed")
_ARRAYS: Final = frozenset(_NAMES)


def _look(seen: VisibleState, name: str) -> Any:
    return LAYOUT.write(seen, len(seen)) if name == "observation" else getattr(seen, name)


def _rows(which: Any, number: int) -> Games:
    """Return [m] the rows of ``number`` that a boolean mask or indices name; raise `ViewError` for any other."""
    try:
        rows = np.atleast_1d(np.asarray(which))
    except (ValueError, OverflowError) as error:  # lists of unequal lengths
        raise ViewError(f"rows of a view are a boolean mask or indices: {error}") from error
    if rows.dtype == np.bool_:
        if rows.shape != (number,):
            raise ViewError(f"a mask of the rows of a view has shape ({number},), not {rows.shape}")
        return np.flatnonzero(rows)
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):  # numpy makes an empty list an array of floats
        raise ViewError(f"rows of a view are a boolean mask or indices, not {rows.dtype} of shape {rows.shape}")
    wrong = rows[(rows < 0) | (rows >= number)] if rows.size else rows
    if wrong.size:
        raise ViewError(f"there is no row {int(wrong[0])}; the view has {number}")
    return rows.astype(np.intp)


def _sealed(seen: VisibleState, origin: Origin, *, is_kept: bool = False) -> Callable[..., Any]:
    """Return the function by which a view asks for arrays, worlds or a part of itself (``is_kept``: of a copy).

    It is a function because no attribute of a function leads to what it works with. If a view held the games
    themselves, an agent that looks around would find all tiles. docs/evaluation.md says what Python opens nevertheless.
    """

    def ask(what: str, *rest: Any) -> Any:
        if what in _ARRAYS or what == "codes":
            return _look(seen, what)
        if what == "worlds":
            return origin.worlds(*rest)
        if what == "view":
            rows = _rows(rest[0], len(seen))
            part = seen.take(rows), origin.take(rows)
            return View._asking(*part, is_kept=True) if is_kept else View.of(*part)
        if what == "kept":
            # Not itself: a function that leads to itself would keep the games in memory until garbage is collected.
            return None if is_kept else _sealed(seen.copy(), origin, is_kept=True)
        if what == "games":
            return origin.games_in(*rest)
        raise ViewError(f"a view does not tell its {what!r}")

    return ask
