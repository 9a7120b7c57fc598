"""What agents are given: observations, masks, and the same facts as named arrays."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mahjong_env.basics.errors import ViewError
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import NO_TILE, NUM_KINDS
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int16Array, Int32Array
from mahjong_env.hands import encode
from mahjong_env.observation import planes as observation
from mahjong_env.observation.planes import EMPTY_SLOT, SLOTS
from mahjong_env.state.arrays import DISCARDED, LATEST, MELDED, Phase, State

if TYPE_CHECKING:
    from mahjong_env.engine.batch import Engine
    from mahjong_env.ruleset.questions import Rules


class Origin(Protocol):
    """The games that a view was taken of (`mahjong_env.engine.worlds.Origin`)."""

    def take(self, which: Any) -> Origin:
        """Some of them."""
        ...

    def worlds(self, count: int, rng: np.random.Generator) -> Any:
        """An engine of games that continue theirs."""
        ...


@dataclass(frozen=True)
class View:
    """What n seats may see. Slots: 0 the seat itself, 1 next, 2 across (empty at tables for three), 3 previous.

    Attributes:
        rules: the rules played.
        observation: [n, C, 34] int8, see `mahjong_env.OBSERVATION_PIECES`.
        action_mask: [n, 109] bool legal actions; all False for seats that are not to act.
        hand: [n, 34] int8 own concealed tiles, wild ones included.
        drawn: [n] int8 kind that the seat has just drawn, -1 for none.
        num_melds: [n, 4] int8 melds of each slot.
        meld_type, meld_kind, meld_from, meld_claimed: [n, 4, 5] int8 `MeldType`, kind (lowest of a chow; -1
            hidden), giving slot, claimed kind (-1 none).
        discards: [n, 4, 34] int8 discards lying before each slot.
        latest: [n, 4, 34] int8 number of each slot's latest discard of the kind (1 = first of the hand), 0 for none.
        melded: [n, 4, 34] int8 tiles in melds that all can see.
        flowers: [n, 4, 42] int8 exposed flowers.
        unseen: [n, 34] int8 tiles of each kind that the seat has not seen.
        wild: [n] int8 wild kind, -1 for none.
        offered: [n] int8 kind that may be claimed or robbed, -1 for none.
        offered_from: [n] int8 slot that offers it, -1 for none.
        phase: [n] int8 `mahjong_env.state.arrays.Phase`.
        left: [n] int16 drawable tiles.
        dealer: [n] int8 slot of the dealer.
        streak: [n] int16 hands for which the dealer has kept the deal.
        round_wind: [n] int8 0 East to 3 North.
        house_wind: [n, 4] int8, -1 for an empty slot.
        marks: [n, 4, K] int16, see `Rules.marks`.
        points: [n, 4] int32 running points.
        origin: where the view was taken, for `worlds`; None in copies.
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
    discards: Int8Array
    latest: Int8Array
    melded: Int8Array
    flowers: Int8Array
    unseen: Int8Array
    wild: Int8Array
    offered: Int8Array
    offered_from: Int8Array
    phase: Int8Array
    left: Int16Array
    dealer: Int8Array
    streak: Int16Array
    round_wind: Int8Array
    house_wind: Int8Array
    marks: Int16Array
    points: Int32Array
    origin: Origin | None = field(default=None, repr=False, compare=False)

    def __len__(self) -> int:
        """The number of seats that look."""
        return len(self.hand)

    def take(self, which: Any) -> View:
        """Some of them: a boolean mask or indices."""
        arrays = {name: getattr(self, name)[which] for name in self.array_names()}
        return View(rules=self.rules, origin=None if self.origin is None else self.origin.take(which), **arrays)

    @classmethod
    def array_names(cls) -> tuple[str, ...]:
        """The names of the arrays, in the order of declaration."""
        return tuple(item.name for item in fields(cls) if item.name not in ("rules", "origin"))

    def worlds(self, count: int, rng: np.random.Generator) -> Engine:
        """Games that continue these positions, with everything that each seat has not seen drawn anew.

        The hands of the others, their hidden kongs and the wall are redrawn uniformly among what is possible, and
        depend on nothing that the seat cannot know. The games belong to the caller and can be played to their end.
        Seats are where they were: ``worlds.seat_to_act`` names the person who acts in this view.

        Args:
            count: worlds for each row.
            rng: where chance comes from.

        Returns:
            An engine of n * count games; those of row i are ``i * count`` to ``(i + 1) * count - 1``. It does not
            deal finished matches anew.

        Raises:
            ViewError: a game has moved on since the view was taken, a seat is not to act, the view is a copy
                that has left its engine (pickled or deep-copied), or an argument is not valid.
        """
        if self.origin is None:
            raise ViewError("this view has left its engine (it was pickled or copied), so that it has no worlds")
        worlds: Engine = self.origin.worlds(count, rng)
        return worlds

    def __getstate__(self) -> dict[str, Any]:
        """Copies and pickles do not take the games along."""
        return {**self.__dict__, "origin": None}

    @property
    def own_wilds(self) -> Int8Array:
        """[n] wild tiles in the own hand."""
        return np.where(self.wild >= 0, self.hand[np.arange(len(self)), self.wild], np.int8(0))

    @property
    def natural_hand(self) -> Int8Array:
        """[n, 34] own concealed tiles without the wild ones."""
        hand = self.hand.copy()
        some = np.flatnonzero(self.wild >= 0)
        hand[some, self.wild[some]] = 0
        return hand

    @property
    def codes(self) -> Int32Array:
        """[n, 4] the same as codes of `mahjong_env.hands.codes`: characters, dots, bamboo, honours."""
        return encode(self.natural_hand)


def look(
    state: State,
    rules: Rules,
    games: Games,
    seat: Games,
    present: BoolArray,
    planes: Int8Array,
    origin: Origin | None = None,
) -> View:
    """Gather a view for one seat in each game; the arguments are those of `observation.observe`."""
    seats = state.num_seats
    at = state.seats(games[:, None], observation.seats_by_slot(seat, seats))
    slot_of_seat = observation.SLOT_OF_SEAT[seats]

    def by_slot(values: Any, empty: int) -> Any:
        """[n, 4, ...]: what stands in the slot that is empty at tables for three."""
        if seats < SLOTS:
            values[:, EMPTY_SLOT] = empty
        return values

    types = by_slot(at.of(state.meld_type), 0)
    kinds = by_slot(at.of(state.meld_kind), -1)
    if rules.hides_concealed_kongs:
        hidden = types == MeldType.CONCEALED_KONG
        hidden[present, 0] = False
        kinds[hidden] = -1
    to_act = (state.actor[games] == seat) & present
    table = by_slot(at.of(state.public), 0)
    flowers = by_slot(at.of(state.flowers), 0)
    hand = state.hands(state.seats(games, seat)) * present[:, None]
    givers = slot_of_seat[seat[:, None, None], at.of(state.meld_from)]
    return View(
        rules=rules,
        observation=planes,
        action_mask=state.mask[games] & to_act[:, None],
        hand=hand,
        drawn=np.where(to_act & (state.turn[games] == seat), state.drawn[games], np.int8(NO_TILE)),
        num_melds=by_slot(at.of(state.num_melds), 0),
        meld_type=types,
        meld_kind=kinds,
        meld_from=by_slot(givers, -1),
        meld_claimed=by_slot(at.of(state.meld_claimed), -1),
        discards=table[:, :, DISCARDED],
        latest=table[:, :, LATEST],
        melded=table[:, :, MELDED],
        flowers=flowers,
        unseen=_unseen(state, rules, games, hand, table, types, kinds, flowers),
        wild=state.wild[games],
        offered=state.offered[games],
        offered_from=np.where(state.offered[games] >= 0, slot_of_seat[seat, state.offered_by[games]], np.int8(-1)),
        phase=state.phase[games],
        left=state.left(games),
        dealer=slot_of_seat[seat, state.dealer[games]],
        streak=state.streak[games],
        round_wind=state.round_wind[games],
        house_wind=by_slot(at.of(state.house_wind), -1),
        marks=by_slot(at.of(state.marks), 0),
        points=by_slot(observation.points_of(state, rules, at), 0),
        origin=origin,
    )


def _unseen(
    state: State,
    rules: Rules,
    games: Games,
    hand: Int8Array,
    table: Int8Array,
    types: Int8Array,
    kinds: Int8Array,
    flowers: Int8Array,
) -> Int8Array:
    """[n, 34] tiles of each kind that the looking seat has not seen."""
    rows = np.arange(len(games))
    unseen = (
        rules.deck[:NUM_KINDS]
        - hand
        - table[:, :, DISCARDED].sum(axis=1, dtype=np.int8)
        - table[:, :, MELDED].sum(axis=1, dtype=np.int8)
    )
    unseen -= flowers[..., :NUM_KINDS].sum(axis=1, dtype=np.int8)
    for seen, where in (
        (state.indicator[games], state.indicator[games] >= 0),
        (state.offered[games], state.phase[games] == Phase.ROB),
    ):
        unseen[rows[where], seen[where]] -= 1
    if rules.hides_concealed_kongs:
        row, place = np.nonzero((types[:, 0] == MeldType.CONCEALED_KONG) & (kinds[:, 0] >= 0))
        unseen[row, kinds[row, 0, place]] -= 4  # no kind twice
    return unseen
