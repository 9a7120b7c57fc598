"""Hints for a person: how far from a win each action leaves the hand, what would help then, what a win is worth now.

All of it follows from what the person sees: the hand, the tiles not seen yet, and for a win the rules.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.actions import (
    ACTIONS,
    ADDED_KONG,
    CHOW_LOW,
    CONCEALED_KONG,
    KONG,
    PUNG,
    WIN,
)
from mahjong_env.basics.tiles import NUM_KINDS
from mahjong_env.basics.types import Int8Array
from mahjong_env.engine.batch import Engine
from mahjong_env.engine.outcome import hand_info
from mahjong_env.environments.agents import Opponent, agent_name, ask
from mahjong_env.hands import (
    distance_to_sets_and_pair,
    distance_to_seven_pairs,
    distance_to_thirteen_orphans,
    encode,
)
from mahjong_env.observation.view import View
from mahjong_env.ruleset.shapes import other_shapes

# For each chow, where the two tiles of the hand stand in relation to the claimed one.
_CHOWS = {CHOW_LOW: (1, 2), CHOW_LOW + 1: (-1, 1), CHOW_LOW + 2: (-2, -1)}


@dataclass(frozen=True)
class Prospect:
    """What an action leads to.

    Attributes:
        action: its name.
        distance: tiles that the hand lacks after it (after a chow or pung: after the best discard that follows).
        helps: (kind, unseen tiles of it) for the kinds whose draw would lower the distance.
        then: the name of that discard, empty where none follows.
    """

    action: str
    distance: int
    helps: tuple[tuple[int, int], ...]
    then: str = ""

    @property
    def tiles(self) -> int:
        """How many tiles would help."""
        return sum(count for _, count in self.helps)


def prospects(view: View) -> list[Prospect]:
    """What each legal action but a win leads to, the best first; ``view`` of one person who is to act.

    Best is the least distance, then the most tiles that help. What a hand is worth, and whether its shape may be won
    in every way, is not asked.
    """
    legal = [int(number) for number in np.flatnonzero(view.action_mask[0]) if number != WIN]
    found = [_prospect(view, action) for action in legal]
    return sorted(found, key=lambda one: (one.distance, -one.tiles))


def _prospect(view: View, action: int) -> Prospect:
    hand, melds = _after(view, action)
    # A claimed chow or pung is followed by a discard.
    if CHOW_LOW <= action <= PUNG:
        kinds = np.flatnonzero(hand)
        hands = np.repeat(hand[None], len(kinds), axis=0)
        hands[np.arange(len(kinds)), kinds] -= 1
        distances = _distances(view, hands, melds)
        helps = [_helps(view, one, melds, int(far)) for one, far in zip(hands, distances, strict=True)]
        count = [sum(tiles for _, tiles in one) for one in helps]
        best = min(range(len(kinds)), key=lambda i: (distances[i], -count[i]))
        return Prospect(ACTIONS[action], int(distances[best]), helps[best], ACTIONS[int(kinds[best])])
    distance = int(_distances(view, hand[None], melds)[0])
    return Prospect(ACTIONS[action], distance, _helps(view, hand, melds, distance))


def _after(view: View, action: int) -> tuple[Int8Array, int]:
    """[34] the concealed tiles after an action, and the number of melds."""
    hand, melds, offered = view.hand[0].copy(), int(view.num_melds[0, 0]), int(view.offered[0])
    kind = action % NUM_KINDS
    if action < CONCEALED_KONG:
        hand[kind] -= 1
    elif action < ADDED_KONG:
        hand[kind] -= 4
        melds += 1
    elif action < CHOW_LOW:
        hand[kind] -= 1
    elif action in _CHOWS:
        for step in _CHOWS[action]:
            hand[offered + step] -= 1
        melds += 1
    elif action == PUNG or (action == KONG and hand[offered] >= 3):
        hand[offered] -= 2 if action == PUNG else 3
        melds += 1
    return hand, melds


def _distances(view: View, hands: NDArray[np.int8], melds: int) -> NDArray[np.int8]:
    """[n] how many tiles hands [n, 34] lack, in the nearest of the shapes that the rules play."""
    wild = int(view.wild[0])
    wilds, natural = np.zeros(len(hands), np.int64), hands.copy()
    if wild >= 0:
        wilds = hands[:, wild].astype(np.int64)
        natural[:, wild] = 0
    near = distance_to_sets_and_pair(encode(natural), view.rules.sets - melds, wilds)
    shapes = other_shapes(view.rules)
    if shapes.seven_pairs and not melds:
        near = np.minimum(near, distance_to_seven_pairs(natural, wilds))
    if shapes.orphans and not melds:
        near = np.minimum(near, distance_to_thirteen_orphans(hands))
    return near


def _helps(view: View, hand: Int8Array, melds: int, distance: int) -> tuple[tuple[int, int], ...]:
    """The kinds whose draw lowers the distance of a hand, with the tiles of them that have not been seen."""
    unseen = view.unseen[0]
    kinds = np.flatnonzero((unseen > 0) & ~view.rules.flower_kinds[:NUM_KINDS])
    hands = np.repeat(hand[None], len(kinds), axis=0)
    hands[np.arange(len(kinds)), kinds] += 1
    nearer = kinds[_distances(view, hands, melds) < distance]
    return tuple((int(kind), int(unseen[kind])) for kind in nearer)


def win_now(engine: Engine) -> dict[str, object] | None:
    """What the win that the seat to act may declare is worth, as `hand_info`; None if it may not win.

    None also where tiles are turned up after a win because they change what it pays: nobody knows them yet.
    """
    if not engine.action_mask[0, WIN] or engine.rules.turned_up_after_win:
        return None
    # In a world of this person's own: what he has not seen is drawn anew, so that nothing hidden can be told.
    world = engine.view().worlds(1, np.random.default_rng(0))
    result = world.step([WIN])
    return hand_info(result.outcome, 0) if result.hand_over[0] else None


def advice(agent: Opponent, engine: Engine) -> tuple[str, str]:
    """What an agent would do in the place of the seat to act: its name and the action's.

    Chance comes from a generator of its own: whether a hint was asked for changes nothing in the game.
    """
    action = int(ask(agent, engine, np.zeros(1, np.intp), np.random.default_rng(0))[0])
    return agent_name(agent), ACTIONS[action]
