"""Kongs that stand: what they pay at once, and their replacement tile."""

from __future__ import annotations

from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import NO_TILE
from mahjong_env.basics.types import Games, Int8Array, Int64Array
from mahjong_env.engine.phases.draw import update_tenpai
from mahjong_env.engine.phases.table import Table


def complete_added(table: Table, games: Games, seat: Int8Array, kind: Int8Array | Int64Array) -> None:
    """The added tile was not robbed: the kong stands."""
    state = table.state
    from_seat = state.add_to_pung(state.seats(games, seat), kind)
    stand(table, games, seat, MeldType.ADDED_KONG, from_seat)


def stand(table: Table, games: Games, seat: Int8Array, meld_type: MeldType, from_seat: int | Int8Array) -> None:
    """A kong has been made for good: it is paid, and its replacement tile drawn."""
    state = table.state
    state.undisturbed[games] = False
    state.kong_draws[games] += 1
    state.drawn[games] = NO_TILE
    state.can_win[games] = False
    amounts = table.rules.kong_payments(state, state.seats(games, seat), meld_type, from_seat)
    if amounts is not None:
        table.pay(games, amounts)
    update_tenpai(table, games, state.chairs(games, seat))
    table.replacements.put(games, seat)
    table.konged.append((games, seat, meld_type))
