"""What has moved on the tables since somebody has last looked: so that what still stands is not read again."""

from __future__ import annotations

from typing import Final

import numpy as np

from mahjong_env.basics.types import BoolArray, Games

DISCARDS: Final = 0
"""A seat's discards."""
EXPOSED: Final = 1
"""A seat's melds and flowers."""


class Changes:
    """Flags that are raised where something moves, and that whoever looks takes down.

    Attributes:
        seats: two times [B * S] seats whose `DISCARDS`, or what they have `EXPOSED`, have changed.
        games: [B] games in which a hand was dealt, somebody was paid, or a kong was declared.
    """

    def __init__(self, games: int, seats: int) -> None:
        """Nobody has looked yet."""
        self.seats: tuple[BoolArray, BoolArray] = (np.ones(games * seats, np.bool_), np.ones(games * seats, np.bool_))
        self.games: BoolArray = np.ones(games, np.bool_)
        self._num_seats = seats

    def note_all(self, games: Games | slice) -> None:
        """Everything about these games is new."""
        self.games[games] = True
        for flags in self.seats:
            flags.reshape(-1, self._num_seats)[games] = True

    @staticmethod
    def take(flags: BoolArray) -> Games:
        """[m] the places of the flags that are raised; they are taken down."""
        raised = flags.nonzero()[0]
        if raised.size:
            flags[raised] = False
        return raised
