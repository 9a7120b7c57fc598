"""Which rules of payment a win exercises, by variant: names with a condition on the referee's situation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from oracle.referee.situation import Situation, Verdict

Condition = Callable[["Win"], bool]


class Win:
    """One win as the conditions below read it."""

    def __init__(self, table: Any, situation: Situation, verdict: Verdict) -> None:
        self.table, self.situation, self.verdict = table, situation, verdict
        self.knobs: dict[str, Any] = table.variant.knobs
        self.variant = table.variant
        self.rows = [name for name, _ in verdict.rows]
        self.source = situation.source
        self.payers = {seat: -paid for seat, paid in enumerate(verdict.payments) if paid < 0}

    @property
    def by_dealer(self) -> bool:
        return self.situation.seat == self.situation.dealer

    @property
    def on_dealer(self) -> bool:
        return self.situation.from_seat == self.situation.dealer

    @property
    def one_pays(self) -> bool:
        return len(self.payers) == 1

    def uncapped(self) -> int:
        """The product of the rows before a cap."""
        product = 1
        for _, value in self.verdict.rows:
            product *= value
        return product

    # --- Wuhan ------------------------------------------------------------------------------------------------
    def third_feeder(self) -> int | None:
        """The seat of the third claimed meld of a Pure One Suit."""
        claimed = [meld for meld in self.situation.melds if meld.from_seat is not None]
        return claimed[2].from_seat if "Pure One Suit" in self.rows and len(claimed) >= 3 else None

    # --- Hangzhou -----------------------------------------------------------------------------------------------
    def lao(self) -> int:
        return self.variant.lao(self.situation)

    def gave(self) -> set[int]:
        """Seats from which the winner claimed three melds."""
        counts = Counter(meld.from_seat for meld in self.situation.melds if meld.from_seat is not None)
        return {seat for seat, count in counts.items() if count >= 3}

    def took(self) -> set[int]:
        """Seats that claimed three melds from the winner."""
        return {
            seat
            for seat, melds in self.situation.other_melds.items()
            if sum(meld.from_seat == self.situation.seat for meld in melds) >= 3
        }

    def floor_cuts(self) -> bool:
        """Whether running points cut what somebody pays."""
        if self.situation.running_points is None or not self.knobs["points_floor"]:
            return False
        kept, self.situation.running_points = self.situation.running_points, None
        in_full = self.variant.payments(self.situation, self.verdict.points)
        self.situation.running_points = kept
        return list(in_full) != list(self.verdict.payments)

    def cap_cuts(self) -> bool:
        """Whether the cap cuts somebody's share."""
        cap = self.knobs["cap"]
        if cap is None:
            return False
        self.knobs["cap"] = None
        shares = self.variant.shares(self.situation, self.verdict.points)
        self.knobs["cap"] = cap
        return any(share > cap for share in shares.values())


def drawn(win: Win) -> bool:
    return win.source == "draw"


def discarded(win: Win) -> bool:
    return win.source == "discard"


def robbed(win: Win) -> bool:
    return win.source == "kong"


WUHAN: dict[str, Condition] = {
    "self-draw: all three pay": lambda w: drawn(w) and len(w.payers) == 3,
    "discard: all three pay": lambda w: discarded(w) and len(w.payers) == 3,
    "discard: the discarder pays": lambda w: (
        discarded(w)
        and w.one_pays
        and w.knobs["discard_payers"] == "discarder"
        and max(w.payers.values()) == w.verdict.points
    ),
    "Full Demand: the discarder pays for all": lambda w: (
        discarded(w) and "Full Demand" in w.rows and w.third_feeder() is None and w.one_pays
    ),
    "self-drawn Full Demand: all three pay": lambda w: drawn(w) and "Full Demand" in w.rows and len(w.payers) == 3,
    "Robbing: the konger pays for all": lambda w: robbed(w) and w.third_feeder() is None and w.one_pays,
    "Pure One Suit: third feeder pays, self-draw": lambda w: drawn(w) and w.third_feeder() is not None,
    "Pure One Suit: third feeder pays, his discard": lambda w: (
        discarded(w) and w.third_feeder() == w.situation.from_seat
    ),
    "Pure One Suit: third feeder pays, another's discard": lambda w: (
        discarded(w) and w.third_feeder() not in (None, w.situation.from_seat)
    ),
    "Pure One Suit before Robbing": lambda w: robbed(w) and w.third_feeder() not in (None, w.situation.from_seat),
    "Pure One Suit before Full Demand": lambda w: (
        discarded(w) and "Full Demand" in w.rows and w.third_feeder() not in (None, w.situation.from_seat)
    ),
    "cap": lambda w: w.knobs["cap"] is not None and w.verdict.points == w.knobs["cap"],
}

HANGZHOU: dict[str, Condition] = {
    **{
        f"dealer draws at {lao} Lao": (lambda w, lao=lao: drawn(w) and w.by_dealer and w.lao() == lao)
        for lao in (1, 2, 3)
    },
    "another draws, the dealer pays double": lambda w: (
        drawn(w) and not w.by_dealer and w.knobs["dealer_loss"] == "double"
    ),
    "another draws, the dealer pays by Lao": lambda w: (
        drawn(w) and not w.by_dealer and w.knobs["dealer_loss"] == "lao" and w.lao() > 1
    ),
    "dealer on a discard": lambda w: discarded(w) and w.by_dealer,
    "another on the dealer's discard": lambda w: discarded(w) and w.on_dealer,
    "discarder pays all shares": lambda w: discarded(w) and w.knobs["discard_payment"] == "all_shares",
    "captured kong: three shares": lambda w: robbed(w),
    "captured kong by the dealer, from 3 Lao": lambda w: robbed(w) and w.by_dealer and w.lao() == 3,
    "captured kong of the dealer, from 3 Lao": lambda w: robbed(w) and w.on_dealer and w.lao() == 3,
    "captured kong below 3 Lao or between others": lambda w: (
        robbed(w) and (w.lao() < 3 or not (w.by_dealer or w.on_dealer))
    ),
    "three melds: who gave them pays": lambda w: bool(w.gave()) and not w.took(),
    "three melds: who took them pays": lambda w: bool(w.took()) and not w.gave(),
    "three melds: two pay": lambda w: len(w.gave() | w.took()) > 1,
    "three melds between the same two": lambda w: bool(w.gave() & w.took()),
    "three melds replace a captured kong": lambda w: (
        robbed(w) and bool(w.gave() | w.took()) and w.situation.from_seat not in w.gave() | w.took()
    ),
    "three melds of the captured konger himself": lambda w: robbed(w) and w.situation.from_seat in w.gave() | w.took(),
    "three melds on a discard": lambda w: discarded(w) and bool(w.gave() | w.took()),
    "cap cuts a share": lambda w: w.cap_cuts(),
    "cap cuts a share before a penalty doubles it": lambda w: w.cap_cuts() and bool(w.gave() | w.took()),
    "points floor": lambda w: w.floor_cuts(),
    "points floor under a penalty": lambda w: w.floor_cuts() and bool(w.gave() | w.took()),
    "a payer at zero pays nothing": lambda w: (
        w.floor_cuts()
        and any(points <= 0 for seat, points in enumerate(w.situation.running_points) if seat != w.situation.seat)
    ),
}

HEBEI: dict[str, Condition] = {
    "self-draw: every other pays": lambda w: drawn(w) and len(w.payers) == w.situation.seats - 1,
    "discard: the discarder pays": lambda w: discarded(w) and w.one_pays,
    "discard: every other pays": lambda w: discarded(w) and len(w.payers) > 1,
    "robbed kong: the konger pays": lambda w: robbed(w) and w.one_pays,
    "robbed kong: the konger alone also with discard_payers=all": lambda w: (
        robbed(w) and w.knobs["discard_payers"] == "all"
    ),
    "cap": lambda w: w.knobs["cap"] is not None and w.uncapped() > w.knobs["cap"],
    "rotation: four people": lambda w: w.table.people > w.situation.seats,
}

TAIWAN: dict[str, Condition] = {
    "self-touch: every other pays": lambda w: drawn(w),
    "discard: the discarder pays": discarded,
    "robbed gang: the ganger pays": robbed,
    "Eight Flowers: every other pays": lambda w: w.source == "flowers",
    "dealer wins: his tai from everybody": lambda w: w.by_dealer and w.knobs["dealer_bonus"],
    "dealer wins after continuations": lambda w: (
        w.by_dealer and w.knobs["dealer_bonus"] and w.situation.dealer_streak > 0
    ),
    "dealer pays his tai, others do not": lambda w: (
        w.source in ("draw", "flowers")
        and not w.by_dealer
        and w.knobs["dealer_bonus"]
        and len(set(w.payers.values())) == 2
    ),
    "dealer discards: his tai": lambda w: discarded(w) and w.on_dealer and w.knobs["dealer_bonus"],
    "no dealer tai between others": lambda w: discarded(w) and not w.by_dealer and not w.on_dealer,
    "dealer_bonus=False": lambda w: w.by_dealer and not w.knobs["dealer_bonus"],
}

FUZHOU: dict[str, Condition] = {
    "self-draw: every other pays": lambda w: drawn(w) and not w.situation.robbing_gold,
    "discard: the discarder pays": lambda w: discarded(w) and w.one_pays,
    "discard: every other pays": lambda w: discarded(w) and len(w.payers) == 3,
    "robbing the gold: every other pays": lambda w: w.situation.robbing_gold and not w.by_dealer,
    "the dealer's swap for the gold": lambda w: w.situation.robbing_gold and w.by_dealer,
    "robbed kong: the konger pays": lambda w: robbed(w) and w.one_pays,
    "robbed kong: every other pays": lambda w: robbed(w) and len(w.payers) == 3,
    "a starred row instead of a sum": lambda w: bool(
        {"Golden Pair", "Three Gold Knockdown", "Golden Dragon"} & set(w.rows)
    ),
}

RULES: dict[str, dict[str, Condition]] = {
    "wuhan": WUHAN,
    "hangzhou": HANGZHOU,
    "hebei": HEBEI,
    "taiwan": TAIWAN,
    "fuzhou": FUZHOU,
}


def payment_rules(table: Any, situation: Situation, verdict: Verdict) -> Iterator[str]:
    """The names of the rules that this win exercises."""
    win = Win(table, situation, verdict)
    for name, holds in RULES[table.variant.name].items():
        if holds(win):
            yield name
