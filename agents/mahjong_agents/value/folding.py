"""An agent that gives up a hand whose discards cost more than it promises, by a measured model of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.greedy import reference_agent
from mahjong_agents.value.afterstates import Numbers, one_hot
from mahjong_env import VARIANTS, AgentError, Rules, View
from mahjong_env.basics.actions import CONCEALED_KONG
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import FIRST_HONOUR
from mahjong_env.hands.kind_sets import members
from mahjong_env.observation.acceptance import Discards

NUMBERS_PATH: Final = Path(__file__).with_name("folding.npz")
"""The models of the variants, which ``python -m tools.fit folding`` writes."""
_ROWS: Final = 512
"""Rows that are evaluated together, few enough for their numbers to fit into the cache."""
_FAR: Final = 6
_HONOURS: Final = 4
_CLASS: Final = np.array([*[0, 1, 2, 3, 3, 3, 2, 1, 0] * 3, *[_HONOURS] * 7])
"""The class of each of the 34 kinds: terminals, twos and eights, threes and sevens, the middle, honours."""


class FoldingAgent:
    """Plays as the reference agent, but chooses discards by what the hand still promises less what they may cost.

    Its model gives the probability that a hand of a certain distance, acceptance and time is won, and the probability
    that each other seat waits for a kind, given what everybody can see of that seat. If the hand is far from a win and
    others are near to one, the safest discard is worth most: the agent gives the hand up. It always wins when it may,
    and claims as the reference agent does. Where nothing was measured for the rules, or a deal-in costs no more than
    others' wins cost anyway, it plays exactly as that agent.

    Attributes:
        name: "folding".
    """

    name = "folding"

    def __init__(self, *, caution: float = 2.0) -> None:
        """Choose how much the agent minds dealing in.

        Args:
            caution: the factor by which the cost of a deal-in is multiplied: 1 for what this discard costs, 0 for
                nothing. A hand that goes on has more such discards to come, which the model does not count. Of the
                values that cost no points, 2 deals in least (docs/research/agents.md).

        Raises:
            AgentError: ``caution`` is not a number from 0 to 1000.
        """
        if isinstance(caution, bool) or not isinstance(caution, int | float) or not 0 <= caution <= 1000:
            raise AgentError(f"folding: caution is a number from 0 to 1000, not {caution!r}")
        self._caution = caution

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        """Choose the discard that is worth most; see `mahjong_agents.Agent.act`."""
        actions: NDArray[np.int64] = reference_agent(view.rules).act(view, rng)
        model = shipped_model(view.rules)
        if model is None or model.loss == 0:
            return actions
        rows = np.flatnonzero((actions < CONCEALED_KONG) & (view.num_discards > 0))
        for start in range(0, len(rows), _ROWS):
            part = rows[start : start + _ROWS]
            seen = view.take(part)
            row, kind, chance = model.chances(seen)
            worth = chance * model.gain - self._caution * model.loss * model.danger(seen, row, kind)
            worth += 1e-6 * (kind == actions[part[row]])
            best = np.full(len(part), -np.inf)
            np.maximum.at(best, row, worth)
            at = np.flatnonzero(worth == best[row])
            actions[part[row[at]]] = kind[at]
        return actions


@dataclass(frozen=True)
class FoldingModel:
    """The measured model of one variant.

    Attributes:
        win: [W] weights of `hand_facts`, which give the log odds that the hand is won.
        waits: [F] weights of `danger_facts`, which give the log odds that a seat waits for a kind.
        scale: the share of awaited discards that are won on; some seats have passed, or may not win.
        gain, loss: what a win brings and what a deal-in costs compared with a hand that is neither, in sigma; at
            least 0.
    """

    win: Numbers
    waits: Numbers
    scale: float
    gain: float
    loss: float

    def chances(self, view: View) -> tuple[NDArray[np.intp], NDArray[np.intp], Numbers]:
        """Return rows [m] and kinds [m] of all legal discards, and [m] the probabilities that the hand is then won.

        Each of the n seats of the view must have a legal discard. Discards that leave the hand farther from a win than
        necessary are taken to have the usual acceptance at that distance.
        """
        discards = Discards.of(view, np.arange(len(view)))
        _, _, near_help = discards.help()
        seat, kind = members(discards.legal)
        is_near = discards.nearest[seat] >> kind.astype(np.uint64) & np.uint64(1) == 1
        help_ = np.full(len(seat), np.nan, np.float32)
        help_[is_near] = near_help
        facts = hand_facts(view, seat, discards.distance[seat] + ~is_near, help_)
        return seat, kind, _odds(facts @ self.win)

    def danger(self, view: View, row: NDArray[np.intp], kind: NDArray[np.intp]) -> Numbers:
        """Return [m] the probabilities that somebody wins on discards of kinds [m] by the seats of rows [m]."""
        safe = np.ones(len(row), np.float32)
        for slot in range(1, 4):
            there = view.house_wind[row, slot] >= 0
            safe *= 1 - there * _odds(danger_facts(view, row, slot, kind) @ self.waits)
        return self.scale * (1 - safe)

    def arrays(self, variant: str) -> dict[str, NDArray[Any]]:
        """Return the arrays of the model by the names under which `read` finds them."""
        scalars = np.array([self.scale, self.gain, self.loss], np.float32)
        return {f"{variant}_win": self.win, f"{variant}_waits": self.waits, f"{variant}_scale": scalars}

    @classmethod
    def read(cls, arrays: Mapping[str, NDArray[Any]], variant: str) -> FoldingModel:
        """Make the model of a variant from arrays by name."""
        scale, gain, loss = arrays[f"{variant}_scale"].tolist()
        return cls(arrays[f"{variant}_win"], arrays[f"{variant}_waits"], scale, gain, loss)


@cache
def shipped_model(rules: Rules) -> FoldingModel | None:
    """Return the model that was measured under exactly these rules, None if there is none."""
    if not VARIANTS.without_house_rules(rules):
        return None
    with np.load(NUMBERS_PATH) as arrays:
        return FoldingModel.read(arrays, rules.name) if f"{rules.name}_scale" in arrays else None


def hand_facts(view: View, row: NDArray[np.intp], distance: NDArray[Any], help_: Numbers) -> Numbers:
    """Return [m, W] float32 facts of hands after discards: distance, acceptance, time and melds.

    Args:
        view: the views of the seats.
        row: [m] rows of the view.
        distance: [m] tiles that the hands lack.
        help_: [m] unseen tiles that bring the hand nearer; NaN for the usual number.
    """
    stage = _stage(view)[row]
    near = one_hot(np.clip(distance, 1, _FAR) - 1, _FAR)
    # An unknown acceptance has a weight of its own at each distance: the fit finds what a usual one is worth.
    unknown = np.isnan(help_)
    width = np.where(unknown, 0, np.log1p(np.nan_to_num(help_)))
    melds = view.num_melds[row]
    rest = [stage, stage**2, melds[:, 0] / 3, melds[:, 1:].max(axis=1) / 3, stage * melds[:, 1:].max(axis=1) / 3]
    return np.concatenate(
        [near, near * stage[:, None], near * width[:, None], near * unknown[:, None], np.stack(rest, axis=1)],
        axis=1,
        dtype=np.float32,
    )


def danger_facts(view: View, row: NDArray[np.intp], slot: int, kind: NDArray[np.intp]) -> Numbers:
    """Return [m, F] float32 facts that all can see of a slot of rows [m] and of the kinds [m] that it may wait for."""
    every, stage = np.arange(len(row)), _stage(view)[row]
    lies = np.zeros((len(row), 3, 15), np.float32)
    unseen = np.zeros((len(row), 3, 13), np.float32)
    lies[:, :, 3:12] = (view.discards[row, slot, :FIRST_HONOUR] > 0).reshape(-1, 3, 9)
    unseen[:, :, 2:11] = view.unseen[row, :FIRST_HONOUR].reshape(-1, 3, 9)
    suit, rank, is_suit = np.minimum(kind // 9, 2), kind % 9, kind < FIRST_HONOUR
    below, under, over, above = (unseen[every, suit, rank + 2 + step] for step in (-2, -1, 1, 2))
    beside = [
        np.maximum(lies[every, suit, rank + 3 - step], lies[every, suit, rank + 3 + step]) * is_suit
        for step in (1, 2, 3)
    ]
    melds = view.num_melds[row, slot].astype(np.float32)
    of_suit = _groups_of(view)[row, slot, np.where(is_suit, suit, 3)]
    river = view.discards[row, slot].astype(np.float32)
    in_suit = np.stack([river[:, 9 * part : 9 * part + 9].sum(axis=1) for part in range(3)], axis=1)[every, suit]
    share = in_suit * is_suit / np.maximum(river.sum(axis=1), 1)
    own = river[every, kind] > 0
    others = (view.discards[row][every, :, kind] > 0).sum(axis=1) - own
    latest = view.latest[row][every, :, kind].max(axis=1)
    recent = (latest > 0) & (latest > view.num_discards[row] - view.rules.seats)
    outside, inside = below * under + over * above, under * over
    left = one_hot(np.clip(view.unseen[row, kind], 0, 3), 4)
    columns = [
        *(np.ones(len(row)), stage, stage**2, melds / 3, stage * melds / 3),
        *(own, own * stage, others, others * stage, recent),
        *beside,
        *(np.log1p(outside) * is_suit, np.log1p(inside) * is_suit, stage * np.log1p(outside) * is_suit),
        *(of_suit, melds - of_suit, share, share * stage, share * melds / 3),
        view.wild[row] == kind,
        (view.hand[row, kind] > 1),
    ]
    by_class = one_hot(_CLASS[kind], _HONOURS + 1)[:, 1:]
    numbers = np.stack(columns, axis=1, dtype=np.float32, casting="unsafe")
    return np.concatenate(
        [numbers, left[:, 1:], left[:, 1:] * stage[:, None], by_class, by_class * stage[:, None]], axis=1
    )


def _groups_of(view: View) -> Numbers:
    """Return [n, 4, 4] the number of melds of each slot by suit, honours last."""
    kinds = np.minimum(np.maximum(view.meld_kind, 0) // 9, 3)
    is_there = (view.meld_type > MeldType.NONE) & (view.meld_kind >= 0)
    return ((kinds[..., None] == np.arange(4)) & is_there[..., None]).sum(axis=2).astype(np.float32)


def _stage(view: View) -> Numbers:
    """Return [n] the share of the drawable tiles that have been drawn."""
    stage: Numbers = np.clip(1 - view.left / view.rules.drawable, 0, 1).astype(np.float32)
    return stage


def _odds(logits: NDArray[Any]) -> Numbers:
    """Return [m] the probabilities of log odds [m]."""
    odds: Numbers = 1 / (1 + np.exp(-logits))
    return odds
