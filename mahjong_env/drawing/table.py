"""One game as plain Python values, from which pictures and text are drawn.

`read_table` shows all hands. `seen_table` is made only from one person's `View`, so that nothing hidden can get into
it. It does not show the tile that another player holds for a moment between a draw or a claim and the discard: that
somebody has drawn is seen together with the player's next move (`mahjong_env.observation.visibility`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import NO_TILE, NUM_ALL_KINDS, NUM_KINDS
from mahjong_env.engine.batch import Engine
from mahjong_env.observation.view import View
from mahjong_env.state.arrays import CLAIMED, NO_SEAT, Phase

WINDS: Final = ("East", "South", "West", "North")
PRIVATE_WALL: Final = "left_in_wall"
"""The name of the counter for the tiles in a seat's private wall."""
HIDDEN: Final = NO_TILE
"""Stands for a tile that is not shown."""


@dataclass(frozen=True)
class ShownMeld:
    """One declared set.

    Attributes:
        type: the type of the set.
        tiles: its three or four kinds, `HIDDEN` for those that lie face down.
        giver: the player whose discard was claimed: 1 for the one after the owner, 2 across, 3 before, 0 for nobody.
        claimed: the kind that was claimed, -1 for none.
    """

    type: MeldType
    tiles: tuple[int, ...]
    giver: int
    claimed: int


class Discard(NamedTuple):
    """A tile in a river.

    Attributes:
        kind: its kind.
        was_drawn: whether its owner had just drawn a tile of this kind; False if the rules do not show that.
        taken: the player who claimed it: 1 for the one after the owner of the river, 2 across, 3 before; 0 for nobody.
    """

    kind: int
    was_drawn: bool
    taken: int


@dataclass(frozen=True)
class Place:
    """One person's side of the table.

    Attributes:
        person: the number of the person.
        name: "player_0" and so on.
        wind: the seat's wind in English.
        points: the person's points in the match so far.
        is_dealer: whether this person deals.
        hand: the concealed kinds in order, without the tile just drawn; `HIDDEN` for tiles that are not shown.
        drawn: the kind of the tile just drawn, `HIDDEN`, or None if there is none.
        melds: the melds in the order in which they were made.
        flowers: the exposed flowers in the order of kinds.
        river: all discards, the oldest first, claimed ones included.
        counters: what the variant counts for the seat, such as ("red_discards", 2), without zeros; and the tiles of its
            private wall, if it has one.
    """

    person: int
    name: str
    wind: str
    points: int
    is_dealer: bool
    hand: tuple[int, ...]
    drawn: int | None
    melds: tuple[ShownMeld, ...]
    flowers: tuple[int, ...]
    river: tuple[Discard, ...]
    counters: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Table:
    """One game at one moment.

    Attributes:
        title: the variant's name in English.
        chinese: the same in Chinese.
        places: the places by slot: the side below, the next player, the player across (None at tables for three), the
            previous player.
        sits_out: (name, points) of those who do not play this hand.
        hand_number: the number of the hand in the match, from 1.
        num_hands: the number of hands of the match; None if something else ends it.
        round_wind: the round wind in English.
        streak: the number of hands for which the dealer has already kept the deal.
        deal_words: the words for that at the table, in English and in Chinese; empty for none.
        dice: what was thrown with the dice for the hand, 0 if they were not thrown.
        tiles_left: the number of tiles that can still be drawn.
        wild: the wild kind, -1 for none.
        wild_words: the variant's name for it, in English and in Chinese.
        indicator: the kind that was turned up, -1 for none.
        turn: the slot that is asked or, if that cannot be seen, whose turn it is; None when the match is over.
        offered: the kind that may be claimed or robbed, -1 for none, and the slot that gives it.
        is_robbed: whether the offered tile is being added to a pung.
    """

    title: str
    chinese: str
    places: tuple[Place | None, ...]
    sits_out: tuple[tuple[str, int], ...]
    hand_number: int
    num_hands: int | None
    round_wind: str
    streak: int
    deal_words: tuple[str, str]
    dice: int
    tiles_left: int
    wild: int
    wild_words: tuple[str, str]
    indicator: int
    turn: int | None
    offered: tuple[int, int | None]
    is_robbed: bool

    def giver_of(self, slot: int, meld: ShownMeld) -> int | None:
        """Return the person whose discard was claimed for a meld of a slot; None for a concealed kong."""
        if not meld.giver:
            return None
        giver = self.places[self.slot_after(slot, meld.giver)]
        assert giver is not None
        return giver.person

    def slot_after(self, slot: int, steps: int) -> int:
        """Return the slot of the next player (1), the one across (2) or the one before (3) in the order of turns.

        Nobody sits across at tables for three.
        """
        taken = [number for number, place in enumerate(self.places) if place is not None]
        return taken[(taken.index(slot) + (-1 if steps == 3 else steps)) % len(taken)]


def person_name(person: int) -> str:
    """Return the name of a person, "player_0" and so on."""
    return f"player_{person}"


def person_of(name: str) -> int:
    """Return the person of a name, 0 for "player_0"."""
    return int(name.rpartition("_")[2])


def read_table(engine: Engine, game: int = 0, *, below: int | None = None) -> Table:
    """Read one game of an engine with all hands open; `seen_table` shows what one person sees.

    Args:
        engine: the games.
        game: the number of the game.
        below: the person whose side is below; None for the one in seat 0.
    """
    state, seats = engine.state, engine.num_seats
    persons, actor = state.person_at[game].tolist(), int(state.actor[game])
    # The person who is asked sees all that lies on the table, and so does everybody when the hand is over.
    seen = seen_table(engine.view([game], seats=persons[max(actor, 0)]))
    places = {place.person: place for place in seen.places if place is not None}
    first = persons.index(below) if below in persons else 0
    order: list[int | None] = [(first + step) % seats for step in range(seats)]
    if seats == 3:
        order.insert(2, None)  # nobody sits across
    offered, giver = int(state.offered[game]), int(state.offered_by[game])
    return replace(
        seen,
        places=tuple(None if seat is None else _opened(places[persons[seat]], engine, game, seat) for seat in order),
        turn=order.index(actor) if actor != NO_SEAT else None,
        offered=(offered, None if giver == NO_SEAT or offered < 0 else order.index(giver)),
    )


def _opened(place: Place, engine: Engine, game: int, seat: int) -> Place:
    """Return a place with its hand and its concealed kongs open."""
    state = engine.state
    counts, kind = state.hand[game, seat].copy(), int(state.drawn[game])
    has_drawn = kind >= 0 and int(state.turn[game]) == seat and state.phase[game] != Phase.OVER
    if has_drawn:
        counts[kind] -= 1
    melds = zip(place.melds, state.meld_kind[game, seat].tolist(), strict=False)
    return replace(
        place,
        hand=tuple(np.repeat(np.arange(NUM_KINDS), counts).tolist()),
        drawn=kind if has_drawn else None,
        melds=tuple(
            replace(meld, tiles=(HIDDEN, held, held, HIDDEN)) if meld.type is MeldType.CONCEALED_KONG else meld
            for meld, held in melds
        ),
    )


def shown_meld(meld_type: MeldType, kind: int, claimed: int, steps: int, seats: int) -> ShownMeld:
    """Return a meld as it lies on the table.

    Args:
        meld_type: the type of the meld.
        kind: its lowest kind, `HIDDEN` if it is not seen.
        claimed: the kind that was claimed, -1 for none.
        steps: how many players after the owner the giver sits, 0 for nobody.
        seats: the number of seats; at tables for three, the second player after the owner is also the one before.
    """
    if kind < 0:
        tiles: tuple[int, ...] = (HIDDEN,) * 4
    elif meld_type is MeldType.CONCEALED_KONG:
        tiles = (HIDDEN, kind, kind, HIDDEN)
    elif meld_type is MeldType.CHOW:
        tiles = (kind, kind + 1, kind + 2)
    else:
        tiles = (kind,) * (3 if meld_type is MeldType.PUNG else 4)
    return ShownMeld(meld_type, tiles, 3 if seats == 3 and steps == 2 else steps, claimed)


def seen_table(view: View, row: int = 0) -> Table:
    """Return the table of one row of a view, with the side of the viewing person below.

    A person who sits out sees the table from seat 0, with all hands hidden.
    """
    rules = view.rules
    offered, giver = int(view.offered[row]), int(view.offered_from[row])
    sitting_out = int(view.sitting_out[row])
    num_hands = int(view.hand_in_match[row]) + int(view.hands_to_come[row]) + 1
    return Table(
        title=rules.title,
        chinese=rules.chinese,
        places=tuple(None if view.person[row, slot] < 0 else _place(view, row, slot) for slot in range(4)),
        sits_out=((person_name(sitting_out), int(view.points_sitting_out[row])),) if sitting_out >= 0 else (),
        hand_number=int(view.hand_in_match[row]) + 1,
        num_hands=num_hands if rules.ends_by_hands else None,
        round_wind=WINDS[int(view.round_wind[row])],
        streak=int(view.streak[row]),
        deal_words=rules.deal_words(int(view.streak[row]), int(view.dice[row])),
        dice=int(view.dice[row]),
        tiles_left=int(view.left[row]),
        wild=int(view.wild[row]),
        wild_words=rules.wild_words,
        indicator=int(view.indicator[row]),
        turn=0 if view.action_mask[row].any() else int(view.turn[row]),
        offered=(offered, None if giver < 0 or offered < 0 else giver),
        is_robbed=int(view.phase[row]) == Phase.ROB,
    )


def _place(view: View, row: int, slot: int) -> Place:
    person = int(view.person[row, slot])
    num_melds = int(view.num_melds[row, slot])
    hand: tuple[int, ...] = (HIDDEN,) * (view.rules.hand_size - 3 * num_melds)
    drawn = None
    if slot == 0 and person == view.own_person[row]:
        counts, kind = view.hand[row].copy(), int(view.drawn[row])
        drawn = kind if kind >= 0 else None
        if drawn is not None:
            counts[drawn] -= 1
        hand = tuple(np.repeat(np.arange(NUM_KINDS), counts).tolist())
    marks = zip(view.rules.marks, view.marks[row, slot].tolist(), strict=False)
    in_wall = [(PRIVATE_WALL, int(view.walls[row, slot]))] if view.rules.has_private_walls else []
    river, was_drawn = view.river[row, slot], view.river_drawn[row, slot]
    kinds = (river[river != 0] - 1) % CLAIMED
    return Place(
        person=person,
        name=person_name(person),
        wind=WINDS[int(view.house_wind[row, slot])],
        points=int(view.points[row, slot]),
        is_dealer=int(view.dealer[row]) == slot,
        hand=hand,
        drawn=drawn,
        melds=tuple(_meld(view, row, slot, number) for number in range(num_melds)),
        flowers=tuple(np.repeat(np.arange(NUM_ALL_KINDS), view.flowers[row, slot]).tolist()),
        river=tuple(map(Discard, kinds.tolist(), was_drawn.tolist(), view.river_claimed[row, slot].tolist())),
        counters=(*((name, value) for name, value in marks if value), *in_wall),
    )


def _meld(view: View, row: int, slot: int, number: int) -> ShownMeld:
    at, giver = (row, slot, number), int(view.meld_from[row, slot, number])
    taken = [other for other in range(4) if view.person[row, other] >= 0]
    steps = 0 if giver < 0 else (taken.index(giver) - taken.index(slot)) % len(taken)
    meld_type, kind, claimed = (int(array[at]) for array in (view.meld_type, view.meld_kind, view.meld_claimed))
    return shown_meld(MeldType(meld_type), kind, claimed, steps, len(taken))
