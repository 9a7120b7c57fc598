"""Counters of how hands are played, and the report columns computed from them.

To add a column, add a line to `THEMES` and the counter that it names to `HandStatistics`; all tables and files follow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal, NamedTuple

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


class Column(NamedTuple):
    """A column of the report: a total over hands, divided by the number of hands or by another total."""

    name: str  # the name in files; the page shows it with spaces
    total: str  # the counter that is summed, or several joined by "*", whose product in each hand is summed
    per: str = ""  # the counter that the sum is divided by; "" is the number of hands
    heading: str = ""  # on the terminal; "" hides the column there. Columns of `MAIN` have the same heading on the page
    unit: Literal["points", "share", "number"] = "number"  # points are also shown in sigma, shares in per cent


MAIN: Final = "Points and wins"
"""The theme whose columns every report shows; columns of other themes appear with --details and in files."""
_OF_PROGRAMS: Final = "Programs"
"""The theme of what is counted only where an agent is a program (`mahjong_agents.bots`), by the code that asks it."""
THEMES: Final[Mapping[str, tuple[Column, ...]]] = {
    MAIN: (
        Column("points", "points", heading="points", unit="points"),
        Column("wins", "wins", heading="wins", unit="share"),
        Column("self_draws", "self_draws", heading="by draw", unit="share"),
        Column("deal_ins", "deal_ins", heading="deals in", unit="share"),
        Column("draws", "drawn", heading="drawn", unit="share"),
    ),
    "Wins and deal-ins": (
        Column("turn_of_win", "win_turns", "wins", "win in"),
        Column("points_of_win", "win_points", "wins", "worth"),
        Column("points_of_self_draw", "won_by_draw", "self_draws"),
        Column("points_of_discard_win", "won_by_discard", "discard_wins"),
        Column("cost_of_deal_in", "deal_in_points", "deal_ins", "deal in at"),
        Column("robbed_a_kong", "robberies", unit="share"),
        Column("kong_was_robbed", "robbed", unit="share"),
        Column("win_as_dealer", "dealt*wins", "dealt", unit="share"),
        Column("points_as_dealer", "dealt*points", "dealt"),
        Column("discards", "discards"),
    ),
    "Points by reason": (
        Column("won_by_draw", "won_by_draw"),
        Column("won_by_discard", "won_by_discard"),
        Column("won_by_kongs", "won_by_kongs"),
        Column("lost_to_draws", "lost_to_draws"),
        Column("lost_by_deal_in", "lost_by_deal_in"),
        Column("lost_to_discards_of_others", "lost_to_discards_of_others"),
        Column("lost_to_kongs", "lost_to_kongs"),
    ),
    "Tenpai": (
        Column("tenpai", "tenpais", unit="share"),
        Column("turn_of_tenpai", "tenpai_turns", "tenpais", "tenpai in"),
        Column("win_when_tenpai", "wins", "tenpais", unit="share"),
        Column("tenpai_of_drawn_hands", "drawn*tenpais", "drawn", unit="share"),
        Column("tenpai_of_deal_ins", "deal_ins*tenpais", "deal_ins", unit="share"),
    ),
    "Melds": tuple(Column(name, name, heading=name if name in ("chows", "pungs") else "") for name in MELDS),
    "Claims and what came of them": (
        Column("claimed", "claimed", unit="share"),
        Column("turn_of_first_claim", "claim_turns", "claimed"),
        Column("win_after_claim", "claimed*wins", "claimed", unit="share"),
        Column("deal_in_after_claim", "claimed*deal_ins", "claimed", unit="share"),
        Column("points_after_claim", "claimed*points", "claimed"),
        Column("win_without_claim", "closed*wins", "closed", unit="share"),
        Column("deal_in_without_claim", "closed*deal_ins", "closed", unit="share"),
        Column("points_without_claim", "closed*points", "closed"),
        Column("win_after_chow", "with_chow*wins", "with_chow", unit="share"),
        Column("win_after_pung", "with_pung*wins", "with_pung", unit="share"),
        Column("win_after_kong", "with_kong*wins", "with_kong", unit="share"),
    ),
    _OF_PROGRAMS: (Column("failed_decisions", "failures"),),
}
_OF_SEATS: Final = ("Tenpai", "Melds", "Claims and what came of them")
"""The themes that are counted only where seats and persons are the same."""
_COUNTS: Final = "counts."


@dataclass(frozen=True)
class Played:
    """The outcome of B games with P persons each.

    Attributes:
        hands, draws: [B] the number of hands played, and of drawn hands among them.
        points: [B, P] points won by each person.
        wins, self_draws: [B, P] hands won, and hands won by self-draw.
        deal_ins: [B, P] hands in which the person gave the winning tile.
        counts: arrays [B, P] by name; see `HandStatistics`.
        rows: [B, R] how often a winning hand scored each of the R rows of the variant.
        records: the records of the games as bytes (lines of `mahjong_env.records`, in the order in which the games
            ended); empty where nothing was recorded.
    """

    hands: NDArray[np.int64]
    points: NDArray[np.int64]
    wins: NDArray[np.int64]
    self_draws: NDArray[np.int64]
    deal_ins: NDArray[np.int64]
    draws: NDArray[np.int64]
    counts: dict[str, NDArray[np.int64]]
    rows: NDArray[np.int64]
    records: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all fields as arrays by name, for storing in a file."""
        own = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "counts"}
        return own | {_COUNTS + name: array for name, array in self.counts.items()}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Played:
        """Rebuild the outcome from `arrays`; a KeyError if one is missing."""
        counts = {name.removeprefix(_COUNTS): array for name, array in arrays.items() if name.startswith(_COUNTS)}
        return cls(**{item.name: arrays[item.name] for item in fields(cls) if item.name != "counts"}, counts=counts)

    @classmethod
    def joined(cls, parts: Sequence[Played]) -> Played:
        """Return several parts joined into one, in order."""
        arrays = [part.arrays() for part in parts]
        return cls.of_arrays({name: np.concatenate([one[name] for one in arrays]) for name in arrays[0]})


class HandStatistics:
    """Counters that are updated while B games of one hand each are played.

    Turns are numbered by a person's discards. A person wins in turn t after t - 1 discards, and is tenpai from turn t
    if it first was so after its t-th discard (or earlier, after a claim that needed no discard).

    Where people take turns sitting out, seats and persons differ, and tenpai, melds and claims are not counted.

    Attributes:
        counts: arrays [B, P] by the names that `THEMES` uses. ``tenpais`` is 1 if the person was ever one tile away
            from a complete shape, ``claimed`` if it has claimed a tile for a meld.
        rows: [B, R] how often the winning hand scored each row of the variant, in the order of `Rules.rows`.
    """

    def __init__(self, engine: Engine) -> None:
        """Set all counters to 0 for freshly dealt games."""
        self._engine = engine
        self._seats_are_people = engine.rules.people == engine.rules.seats
        shape = (engine.num_games, engine.num_people)
        self.counts: dict[str, NDArray[np.int64]] = {
            name: np.zeros(shape, np.int64)
            for theme, columns in THEMES.items()
            if (self._seats_are_people or theme not in _OF_SEATS) and theme != _OF_PROGRAMS
            for column in columns
            for name in (*column.total.split("*"), column.per)
            if name not in ("points", "")
        }
        self.counts["dealt"][np.arange(engine.num_games), engine.dealer] = 1
        self._melds = engine.state.num_melds.copy()
        self._row_numbers = {row.name: number for number, row in enumerate(engine.rules.rows)}
        self.rows = np.zeros((engine.num_games, len(self._row_numbers)), np.int64)

    def add(
        self, games: NDArray[np.intp], seats: NDArray[np.int8], actions: NDArray[np.int64], step: StepResult
    ) -> None:
        """Count the result of a step of the games [n], in which the seats [n] chose the actions [n]."""
        discards = actions < _NUM_DISCARDS
        self.counts["discards"][games[discards], seats[discards]] += 1
        if self._seats_are_people:
            self._add_tenpai_and_claims(games)
        self._add_kongs(games, step)
        self._add_ends(step)

    def _add_tenpai_and_claims(self, games: NDArray[np.intp]) -> None:
        state, counts = self._engine.state, self.counts
        rows, people = (state.is_tenpai[games] & (counts["tenpais"][games] == 0)).nonzero()
        counts["tenpais"][games[rows], people] = 1
        counts["tenpai_turns"][games[rows], people] = counts["discards"][games[rows], people]
        rows, people = np.nonzero(state.num_melds[games] > self._melds[games])
        if not rows.size:
            return
        game = games[rows]
        self._melds[game, people] += 1
        from_others = state.meld_from[game, people, self._melds[game, people] - 1] >= 0
        first = from_others & (counts["claimed"][game, people] == 0)
        counts["claimed"][game[first], people[first]] = 1
        counts["claim_turns"][game[first], people[first]] = counts["discards"][game[first], people[first]] + 1

    def _add_kongs(self, games: NDArray[np.intp], step: StepResult) -> None:
        """Count payments outside wins: those for kongs, and for anything else that the variant pays in the same way."""
        paid = step.rewards.astype(np.int64)
        ended = step.outcome
        if len(ended):
            paid[np.searchsorted(games, ended.game)] -= ended.payments
        rows = np.flatnonzero(paid.any(axis=1))
        self.counts["won_by_kongs"][games[rows]] += np.maximum(paid[rows], 0)
        self.counts["lost_to_kongs"][games[rows]] += np.maximum(-paid[rows], 0)

    def _add_ends(self, step: StepResult) -> None:
        ended, counts = step.outcome, self.counts
        for number in np.flatnonzero(ended.winner >= 0):
            for name, _ in ended.rows[int(number)]:
                self.rows[ended.game[number], self._row_numbers[name]] += 1
        counts["drawn"][ended.game[ended.winner < 0]] = 1
        won, given = ended.winner >= 0, ended.from_seat >= 0
        game, winner = ended.game[won], ended.winner[won]
        worth = ended.payments[won, winner]
        by_draw = ended.from_seat[won] < 0
        counts["wins"][game, winner] += 1
        counts["self_draws"][game, winner] += by_draw
        counts["discard_wins"][game, winner] += ~by_draw
        counts["win_turns"][game, winner] += counts["discards"][game, winner] + 1
        counts["win_points"][game, winner] += worth
        counts["won_by_draw"][game, winner] += worth * by_draw
        counts["won_by_discard"][game, winner] += worth * ~by_draw
        giver, at = ended.from_seat[given], ended.game[given]
        counts["deal_ins"][at, giver] += 1
        counts["deal_in_points"][at, giver] -= ended.payments[given, giver]
        counts["lost_by_deal_in"][at, giver] -= ended.payments[given, giver]
        robbed = ended.source == "kong"
        counts["robberies"][ended.game[robbed], ended.winner[robbed]] += 1
        counts["robbed"][ended.game[robbed], ended.from_seat[robbed]] += 1
        others = -ended.payments.astype(np.int64)
        others[won, winner] = 0
        counts["lost_to_draws"][ended.game[~given]] += others[~given]
        others[given, giver] = 0
        counts["lost_to_discards_of_others"][at] += others[given]

    def end(self) -> None:
        """Count what is known only once every game is over."""
        counts = self.counts
        if not self._seats_are_people:
            return
        for person in range(self._engine.num_people):
            melds = self._engine.view(seats=np.full(self._engine.num_games, person)).meld_type[:, 0]
            for name, kind in MELDS.items():
                counts[name][:, person] = (melds == kind).sum(axis=1)
        counts["closed"][:] = 1 - counts["claimed"]
        kongs = counts["exposed_kongs"] + counts["added_kongs"] + counts["concealed_kongs"]
        for name, number in (("chow", counts["chows"]), ("pung", counts["pungs"]), ("kong", kongs)):
            counts[f"with_{name}"][:] = number > 0
