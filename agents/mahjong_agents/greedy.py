"""Agents that come nearer to a win with every action, whatever the win is worth; the reference agent is one of them."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env import ACTIONS, Rules, View, score
from mahjong_env.basics.actions import CHOW_LOW, CONCEALED_KONG, KONG, PUNG, WIN
from mahjong_env.hands.kind_sets import ALL_KINDS, count_members, members, pack_words
from mahjong_env.observation.acceptance import FAR, Discards, Options

RANK: Final = np.full(len(ACTIONS), 1, np.int16)
"""The rank of each action at the same distance, lowest first: kongs, then discards and passes, then claims.

A kong brings a tile more."""
RANK[CONCEALED_KONG:CHOW_LOW] = RANK[KONG] = 0
RANK[CHOW_LOW : PUNG + 1] = 2
_RANKS: Final = np.int16(3)
_NEVER: Final = (FAR + 1) * 3
_WIN_BIT = np.uint64(1) << np.uint64(WIN - 64)
# All actions except discards and a win, in the two numbers that a packed mask fills.
_OTHERS = np.array([~ALL_KINDS, ~_WIN_BIT])


class GreedyAgent:
    """Plays for the fewest tiles from a win, then for the most unseen tiles that help; ties are broken at random.

    It always wins when it may, claims a chow or pung only if that lowers the distance, and declares a kong unless that
    raises it. Beyond what a win needs, it considers neither the value of a hand nor what the others may be waiting for.
    See `mahjong_env.observation.acceptance` for how it measures the distance from a win.

    Attributes:
        name: "greedy", or "closed-greedy" if it claims nothing but a win.
    """

    def __init__(self, *, claims: bool = True) -> None:
        """Make a player that claims tiles, or (``claims=False``) one that claims nothing but a win."""
        self.name = "greedy" if claims else "closed-greedy"
        self._claims = claims

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        """Choose an action that leaves the hand nearest to a win; see `mahjong_agents.Agent.act`."""
        mask = view.action_mask
        lots = rng.random(mask.shape, np.float32)
        row, action = best_actions(view, claims=self._claims)
        actions = np.full(len(view), WIN, np.int64)
        drawn = lots.reshape(-1).take(row * len(ACTIONS) + action)
        greatest = np.zeros(len(view), np.float32)
        np.maximum.at(greatest, row, drawn)
        best = np.flatnonzero(drawn == greatest.take(row))
        # Of equal random numbers the first counts; of several values for one place, numpy keeps the last.
        actions[row[best][::-1]] = action[best][::-1]
        idle = np.flatnonzero(~mask.any(axis=1))
        actions[idle] = lots[idle].argmax(axis=1)
        return actions


class ClosedGreedyAgent(GreedyAgent):
    """A `GreedyAgent` that keeps its hand closed: it claims nothing but a win."""

    def __init__(self) -> None:
        """Make the player."""
        super().__init__(claims=False)


class ReferenceAgent:
    """Plays as the `reference_agent` of the rules that are played."""

    name = "reference"

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        """Choose as `reference_agent` does; see `mahjong_agents.Agent.act`."""
        return reference_agent(view.rules).act(view, rng)


@cache
def reference_agent(rules: Rules) -> GreedyAgent:
    """Return `GreedyAgent` or `ClosedGreedyAgent`, the one that should be stronger, judged by the rules alone.

    It is the closed one where a closed hand is paid 1.8 times what the same hand is paid with one set claimed, or more.
    In the shipped variants, played matches agree with this choice.
    """
    sets = ["123m", "456p", "789s", "234p", "678m"][: rules.sets]

    def paid(concealed: list[str], melds: list[str]) -> float:
        hand = "".join(concealed) + "55s" + "12m"
        by_draw = score(rules, hand=hand, melds=melds, winning_tile="3m", source="draw")
        by_discard = score(rules, hand=hand, melds=melds, winning_tile="3m", source="discard", from_seat=1)
        return by_draw.payments[0] + 2 * by_discard.payments[0]

    stays_closed = paid(sets[1:], []) > 1.8 * paid(sets[2:], [f"chow {sets[1]}@{rules.seats - 1}"])
    return ClosedGreedyAgent() if stays_closed else GreedyAgent()


def best_actions(view: View, *, claims: bool = True) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the best actions for `GreedyAgent`, which makes no difference between them, in rows where it cannot win.

    Returns:
        [m] rows of the view, in no order, and [m] actions, ascending within a row.
    """
    legal = pack_words(view.action_mask)
    undecided = legal[:, 1] & _WIN_BIT == 0
    discards = Discards.of(view, np.flatnonzero(undecided & (legal[:, 0] & ALL_KINDS != 0)))
    rows = np.flatnonzero(undecided & (legal & _OTHERS != 0).any(axis=1))
    considered = view.action_mask[rows, CONCEALED_KONG:]
    if not claims:
        considered[:, CHOW_LOW - CONCEALED_KONG : KONG + 1 - CONCEALED_KONG] = False
    which, chosen = np.nonzero(considered)
    options = Options.of(view, rows.take(which), chosen + CONCEALED_KONG)

    # How many actions are equally good so far, in each row? Where there is only one, its help need not be known.
    # (`ufunc.at` is fast only if nothing has to be cast.)
    cost = np.full(len(view), _NEVER, np.int16)
    of_discards = discards.distance.astype(np.int16) * _RANKS + RANK[0]
    of_options = options.distance.astype(np.int16) * _RANKS + RANK.take(options.action)
    cost[discards.row] = of_discards
    np.minimum.at(cost, options.row, of_options)
    discards = discards.take(np.flatnonzero(of_discards == cost.take(discards.row)))
    best = np.flatnonzero(of_options == cost.take(options.row))
    number = np.bincount(options.row.take(best), minlength=len(view))
    number[discards.row] += count_members(discards.nearest)
    is_alone = number.take(discards.row) == 1
    alone = discards.take(np.flatnonzero(is_alone))
    is_alone_too = number.take(options.row.take(best)) == 1
    alone_too, best = best[is_alone_too], best[~is_alone_too]

    row, kind, tiles = discards.take(np.flatnonzero(~is_alone)).help()
    most = np.zeros(len(view), tiles.dtype)
    tiles_of_options = options.help(best)
    np.maximum.at(most, row, tiles)
    np.maximum.at(most, options.row.take(best), tiles_of_options)
    helps_most = np.flatnonzero(tiles == most.take(row))
    best = best[tiles_of_options == most.take(options.row.take(best))]
    best = np.concatenate([alone_too, best])
    found = (alone.row, row.take(helps_most), options.row.take(best))
    actions = (members(alone.nearest)[1], kind.take(helps_most), options.action.take(best))
    return np.concatenate(found), np.concatenate(actions)
