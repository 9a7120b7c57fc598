"""How hands were played, person by person: turns, values, melds and the rows that were scored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env import ACTIONS, Engine, StepResult
from mahjong_env.basics.notation import MeldType

_NUM_DISCARDS: Final = sum(name.startswith("discard") for name in ACTIONS)

MELDS: Final[Mapping[str, MeldType]] = {
    "chows": MeldType.CHOW,
    "pungs": MeldType.PUNG,
    "exposed_kongs": MeldType.EXPOSED_KONG,
    "added_kongs": MeldType.ADDED_KONG,
    "concealed_kongs": MeldType.CONCEALED_KONG,
}

# What is estimated: its name, what is added up, and what it is divided by ("" for hands).
RATIOS: Final[tuple[tuple[str, str, str], ...]] = (
    ("turn_of_win", "win_turns", "wins"),
    ("points_of_win", "win_points", "wins"),
    ("cost_of_deal_in", "deal_in_points", "deal_ins"),
    ("tenpai", "tenpais", ""),
    ("turn_of_tenpai", "tenpai_turns", "tenpais"),
    *((name, name, "") for name in MELDS),
)


class HandStatistics:
    """Counts while B games of one hand each are played.

    A person's turn is the number of its discards: it wins in turn t if it has discarded t - 1 tiles, and is tenpai from
    turn t if it was so for the first time after its t-th discard (or earlier, after a claim that needed none).

    Attributes:
        counts: [B, P] arrays: ``wins``, ``deal_ins``, ``win_turns``, ``win_points`` (what the win paid),
            ``deal_in_points`` (what it cost), ``tenpais`` (whether it was ever one tile away from a complete shape),
            ``tenpai_turns``, and melds at the end by kind (`MELDS`).
        rows: [B, R] how often the hand that won scored each row of the variant, in the order of `Rules.rows`.
    """

    def __init__(self, engine: Engine) -> None:
        """Begin with freshly dealt games."""
        self._engine = engine
        # Where people take turns in sitting out, seats are not persons: then neither tenpai nor melds are counted.
        self._seats_are_people = engine.rules.people == engine.rules.seats
        shape = (engine.num_games, engine.num_people)
        names = ["wins", "deal_ins", "win_turns", "win_points", "deal_in_points"]
        names += ["tenpais", "tenpai_turns", *MELDS] if self._seats_are_people else []
        self.counts: dict[str, NDArray[np.int64]] = {name: np.zeros(shape, np.int64) for name in names}
        self._discards = np.zeros(shape, np.int64)
        self._row_numbers = {row.name: number for number, row in enumerate(engine.rules.rows)}
        self.rows = np.zeros((engine.num_games, len(self._row_numbers)), np.int64)

    def add(
        self, games: NDArray[np.intp], seats: NDArray[np.int8], actions: NDArray[np.int64], step: StepResult
    ) -> None:
        """Count what a step brought.

        Args:
            games: [n] the games that were stepped.
            seats: [n] who acted.
            actions: [n] what they did.
            step: what came of it.
        """
        discards = actions < _NUM_DISCARDS
        self._discards[games[discards], seats[discards]] += 1
        if self._seats_are_people:
            new = self._engine.state.is_tenpai[games] & (self.counts["tenpais"][games] == 0)
            rows, people = new.nonzero()
            self.counts["tenpais"][games[rows], people] = 1
            self.counts["tenpai_turns"][games[rows], people] = self._discards[games[rows], people]
        self._add_ends(step)

    def _add_ends(self, step: StepResult) -> None:
        ended = step.outcome
        for number in np.flatnonzero(ended.winner >= 0):
            for name, _ in ended.rows[int(number)]:
                self.rows[ended.game[number], self._row_numbers[name]] += 1
        won, given = ended.winner >= 0, ended.from_seat >= 0
        game, winner = ended.game[won], ended.winner[won]
        self.counts["wins"][game, winner] += 1
        self.counts["win_turns"][game, winner] += self._discards[game, winner] + 1
        self.counts["win_points"][game, winner] += ended.payments[won, winner]
        giver = ended.from_seat[given]
        self.counts["deal_ins"][ended.game[given], giver] += 1
        self.counts["deal_in_points"][ended.game[given], giver] -= ended.payments[given, giver]
        self._discards[ended.game] = 0

    def end(self) -> None:
        """Count the melds, once every game is over."""
        if not self._seats_are_people:
            return
        for person in range(self._engine.num_people):
            melds = self._engine.view(seats=np.full(self._engine.num_games, person)).meld_type[:, 0]
            for name, kind in MELDS.items():
                self.counts[name][:, person] = (melds == kind).sum(axis=1)
