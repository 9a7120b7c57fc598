"""Kongs that stand: tiles join pungs, and what they pay at once."""

from __future__ import annotations

from collections.abc import Sequence

from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import NO_TILE
from mahjong_env.engine.phases.context import Kongs, Offer, StepContext
from mahjong_env.engine.phases.judge import update_tenpai


def add_to_pungs(context: StepContext, parts: Sequence[Offer | None]) -> list[Kongs]:
    """Tiles join the open pungs of their seats: discards that were claimed for it, or tiles that nobody has robbed."""
    return [
        Kongs(seats, MeldType.ADDED_KONG, context.state.add_to_pung(seats, kind))
        for seats, kind in filter(None, parts)
        if len(seats)
    ]


def pay(context: StepContext, made: Kongs) -> None:
    """Kongs have been made for good: they are paid, and their seats wait for a replacement tile."""
    state, (seats, meld_type, from_seat) = context.state, made
    games = seats.game
    state.undisturbed[games] = False
    state.kong_draws[games] += 1
    state.drawn[games] = NO_TILE
    state.can_win[games] = False
    amounts = context.rules.kong_payments(state, seats, meld_type, from_seat)
    if amounts is not None:
        context.pay(games, amounts)
    update_tenpai(context, seats)
