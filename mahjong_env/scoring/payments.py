"""Payments for a win: the ways to pay that variants choose from, and the arithmetic that they share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from mahjong_env.basics.types import BoolArray, Int8Array, Int32Array, Int64Array
from mahjong_env.ruleset.questions import Rules
from mahjong_env.scoring.rows import ByKnob
from mahjong_env.scoring.wins import Wins


class Payer(Enum):
    """The ways to pay the winner.

    The giver discarded the winning tile, or was robbed of it. A share is what each other player owes if all pay.
    """

    ALL_PAY = "every other player pays a share"
    GIVER_PAYS = "the player who gave the tile pays a share, the others nothing"
    GIVER_PAYS_FOR_ALL = "the player who gave the tile pays the shares of all"


@dataclass(frozen=True)
class Payment:
    """The way to pay for a win, by the source of the winning tile."""

    draw: Payer | ByKnob = Payer.ALL_PAY
    discard: Payer | ByKnob = Payer.GIVER_PAYS
    robbed_kong: Payer | ByKnob = Payer.GIVER_PAYS
    flowers: Payer | ByKnob = Payer.ALL_PAY

    def by_source(self, rules: Rules) -> Payers:
        """Return the payers under these rules."""
        said = (self.draw, self.discard, self.robbed_kong, self.flowers)  # in the order of `Source`
        chosen = [payer.of(rules) if isinstance(payer, ByKnob) else payer for payer in said]
        return Payers(
            all_pay=np.array([payer is Payer.ALL_PAY for payer in chosen]),
            for_all=np.array([payer is Payer.GIVER_PAYS_FOR_ALL for payer in chosen]),
        )


class Payers(NamedTuple):
    """The payers, by `Source`."""

    all_pay: BoolArray  # [4] every other player pays a share
    for_all: BoolArray  # [4] one player pays the shares of all


def owed(payers: Payers, wins: Wins, shares: Any, liable: Int8Array | None = None) -> Int64Array:
    """Return [n, S] the amount that each seat owes the winner.

    Args:
        payers: the result of `Payment.by_source`.
        wins: the n wins.
        shares: [n] or [n, S] the share of each player if all pay.
        liable: [n] the seat that pays the shares of all whatever the source (full responsibility, 包 bāo), -1 for
            nobody.
    """
    shares = np.asarray(shares, np.int64)
    shares = everyone(wins) * (shares[:, None] if shares.ndim == 1 else shares)
    all_pay, for_all = payers.all_pay.take(wins.source), payers.for_all.take(wins.source)
    payer = wins.from_seat
    if liable is not None:
        is_liable = liable >= 0
        payer, all_pay, for_all = np.where(is_liable, liable, payer), all_pay & ~is_liable, for_all | is_liable
    by_one = np.where(for_all[:, None], shares.sum(axis=1, keepdims=True), shares) * only(wins, payer)
    return np.where(all_pay[:, None], shares, by_one)


def paid_by(payers: BoolArray, amount: Any, winner: Any) -> Int32Array:
    """Return [n, S] int32 payments that sum to zero: each of the ``payers`` [n, S] pays ``amount`` to the winner.

    ``amount`` is [n] or [n, S], ``winner`` [n] the table seat, which never pays.
    """
    amount = np.asarray(amount)
    payments = payers * (-amount[:, None] if amount.ndim == 1 else -amount).astype(np.int32)
    rows = np.arange(len(winner))
    payments[rows, winner] = 0
    payments[rows, winner] = -payments.sum(axis=1)
    return payments


def everyone(wins: Wins) -> BoolArray:
    """Return [n, S] True for all seats but the winner's."""
    return np.arange(wins.num_melds.shape[1]) != wins.seat[:, None]


def only(wins: Wins, seat: Any) -> BoolArray:
    """Return [n, S] True for one seat in each win, and for nobody where the seat is -1."""
    return np.arange(wins.num_melds.shape[1]) == np.asarray(seat)[:, None]
