"""Why somebody pays or is paid: a word for each person, and what it means in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

Reason = tuple[str, bool]
"""A word of `REASONS`, and whether the share differs because this person is the dealer; ("", False) for nothing."""

NOTHING: Reason = ("", False)
REASONS: Final[Mapping[str, tuple[str, str]]] = {
    "winner": ("won the hand", "胡牌"),
    "draw": ("everybody pays for a self-draw", "自摸 各家都付"),
    "flowers": ("everybody pays for a win by flowers", "花胡 各家都付"),
    "gave": ("gave the winning tile", "点炮"),
    "robbed": ("the winning tile was robbed from this player's kong", "被抢杠"),
    "everyone": ("everybody pays a share", "各家都付"),
    "responsible": ("is responsible for the win and pays for all", "包牌 一家全付"),
    "kong": ("made the kong", "开杠"),
    "for kong": ("pays for the kong", "付杠钱"),
    "gave kong": ("gave the fourth tile", "放杠"),
}
DEALERS_SHARE: Final = ("; the dealer's share differs", " (庄家的份不同)")


def reason_in_words(reason: Reason, language: int = 0) -> str:
    """A reason in English (0) or Chinese (1)."""
    word, is_dealers = reason
    return f"{REASONS[word][language]}{DEALERS_SHARE[language] if is_dealers else ''}" if word else ""


def reasons_of_a_win(
    payments: Sequence[int], winner: int, source: str, giver: int, dealer: int, held: Mapping[int, int]
) -> list[Reason]:
    """Why each person pays for a win.

    Args:
        payments: [P] what the win moved.
        winner: the person who won; -1 after a draw.
        source: "draw", "discard", "kong" (robbed) or "flowers".
        giver: the person who gave the winning tile, -1 for nobody.
        dealer: the person who dealt.
        held: the points of those at the table before the win.

    Returns:
        [P] one of "winner", "draw", "flowers", "gave", "robbed", "everyone" and "responsible".
    """
    if winner < 0:
        return [NOTHING] * len(payments)
    payers = [person for person in held if person != winner and payments[person] < 0]
    # Where points may not fall below zero, others may have had nothing to pay with.
    could_pay = [person for person, points in held.items() if person != winner and points]
    is_alone = len(payers) == 1 and (len(could_pay) > 1 or not any(held.values()))
    shares_differ = len({payments[person] for person in payers}) > 1
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
