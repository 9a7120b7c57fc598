"""Why somebody pays or is paid: one word for each person, which pages put into sentences in their language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mahjong_env.drawing.table import Table

Reason = tuple[str, bool]
"""The word, and whether the share differs because somebody is the dealer; ("", False) for those who pay nothing."""

NOTHING: Reason = ("", False)


def reasons_of_a_win(payments: Sequence[int], winner: int, source: str, giver: int, table: Table) -> list[Reason]:
    """Why each person pays for a win.

    Args:
        payments: [P] what the win moved.
        winner: the person who won; -1 after a draw.
        source: "draw", "discard", "kong" (robbed) or "flowers".
        giver: the person who gave the winning tile, -1 for nobody.
        table: the table as the hand ended.

    Returns:
        For each person one of "winner", "draw", "flowers", "gave", "robbed", "everyone" and "responsible".
    """
    if winner < 0:
        return [NOTHING] * len(payments)
    places = [place for place in table.places if place is not None]
    others = [place.person for place in places if place.person != winner]
    payers = [person for person in others if payments[person] < 0]
    # Where points may not fall below zero, others may have had nothing to pay with.
    could_pay = [place for place in places if place.person in others and place.points != 0]
    is_alone = len(payers) == 1 and (len(could_pay) > 1 or not any(place.points for place in places))
    shares_differ = len({payments[person] for person in payers}) > 1
    dealer = next((place.person for place in places if place.is_dealer), -1)
    by_giver = "robbed" if source == "kong" else "gave"
    everyone = source if source in ("draw", "flowers") else "everyone"

    def reason(person: int) -> Reason:
        if person == winner and payments[person]:
            return "winner", False
        if person not in payers:
            return NOTHING
        word = by_giver if person == giver else "responsible" if is_alone else everyone
        return word, shares_differ and person == dealer

    return [reason(person) for person in range(len(payments))]


def reasons_of_a_kong(payments: Sequence[int], event: Mapping[str, Any]) -> list[Reason]:
    """Why each person pays for a kong that is paid at once: "kong", "for kong" or "gave kong".

    Args:
        payments: [P] what was paid.
        event: what has just happened.
    """
    is_claimed = event.get("type") in ("kong", "claimed kong")
    payers = sum(paid < 0 for paid in payments)

    def reason(paid: int) -> Reason:
        if not paid:
            return NOTHING
        return ("kong" if paid > 0 else "gave kong" if is_claimed and payers == 1 else "for kong"), False

    return [reason(paid) for paid in payments]
