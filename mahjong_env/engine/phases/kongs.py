"""Kongs that stand: what they pay at once, and their replacement tile."""

from __future__ import annotations

from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import NO_TILE
from mahjong_env.basics.types import Games, Int8Array, Int64Array
from mahjong_env.engine.phases.draw import update_tenpai
from mahjong_env.engine.phases.table import Table
from mahjong_env.state.arrays import MELDED


def complete_added(table: Table, games: Games, seat: Int8Array, kind: Int8Array | Int64Array) -> None:
    """The added tile was not robbed: the kong stands."""
    state = table.state
    chair = state.chairs(games, seat)
    place = _find_pung(table, chair, kind)
    state.raise_pung(chair, place, MeldType.ADDED_KONG)
    state.flat.open_pung[state.places.tile(chair, kind)] = False
    state.flat.public[state.places.public(chair, MELDED, kind)] += 1
    stand(table, games, seat, MeldType.ADDED_KONG, state.by_chair.meld_from[chair, place])


def _find_pung(table: Table, chair: Games, kind: Int8Array | Int64Array) -> Games:
    """[n] the place of the open pung of this kind among the melds of the chair."""
    melds = table.state.by_chair
    is_it = (melds.meld_kind[chair] == kind[:, None]) & (melds.meld_type[chair] == MeldType.PUNG)
    return is_it.argmax(axis=1)


def stand(table: Table, games: Games, seat: Int8Array, meld_type: MeldType, from_seat: int | Int8Array) -> None:
    """A kong has been made for good: it is paid, and its replacement tile drawn."""
    state = table.state
    state.undisturbed[games] = False
    state.kong_draws[games] += 1
    state.drawn[games] = NO_TILE
    state.can_win[games] = False
    amounts = table.rules.kong_payments(state, games, seat, meld_type, from_seat)
    if amounts is not None:
        table.pay(games, amounts)
    update_tenpai(table, games, state.chairs(games, seat))
    table.replacements.put(games, seat)
    table.konged.append((games, seat, meld_type))
