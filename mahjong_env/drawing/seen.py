"""A table as one person sees it, made of that person's `View` alone: nothing hidden can get into it.

The tile that another player holds for a moment, between a draw or a claim and the discard, is not shown: that somebody
has drawn is seen together with what he does next (`mahjong_env.observation.visibility`).
"""

from __future__ import annotations

import numpy as np

from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import NUM_ALL_KINDS, NUM_KINDS
from mahjong_env.drawing.table import HIDDEN, WINDS, Place, ShownMeld, Table, person_name
from mahjong_env.observation.view import View
from mahjong_env.state.arrays import Phase


def seen_table(view: View, row: int = 0) -> Table:
    """The table of one row of a view, with the person who looks below.

    Somebody who sits out sees it from seat 0, with all hands hidden.
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
        indicator=int(view.indicator[row]),
        turn=int(view.turn[row]),
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
    counters = zip(view.rules.marks, view.marks[row, slot].tolist(), strict=False)
    river = view.river[row, slot]
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
        river=tuple((river[(river > 0) & (river <= NUM_KINDS)] - 1).tolist()),
        counters=tuple((name, value) for name, value in counters if value),
    )


def _meld(view: View, row: int, slot: int, number: int) -> ShownMeld:
    at = row, slot, number
    meld_type, kind = MeldType(int(view.meld_type[at])), int(view.meld_kind[at])
    if kind < 0:
        tiles: tuple[int, ...] = (HIDDEN,) * 4
    elif meld_type is MeldType.CONCEALED_KONG:
        tiles = (HIDDEN, kind, kind, HIDDEN)
    elif meld_type is MeldType.CHOW:
        tiles = (kind, kind + 1, kind + 2)
    else:
        tiles = (kind,) * (3 if meld_type is MeldType.PUNG else 4)
    giver = int(view.meld_from[at])
    taken = [other for other in range(4) if view.person[row, other] >= 0]
    steps = 0 if giver < 0 else (taken.index(giver) - taken.index(slot)) % len(taken)
    # At tables for three the second player after the owner is the one before him.
    return ShownMeld(meld_type, tiles, 3 if len(taken) == 3 and steps == 2 else steps, int(view.meld_claimed[at]))
