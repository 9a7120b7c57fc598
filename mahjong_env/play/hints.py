"""Hints for a person: what hand each action leaves, what a win is worth now, and why an action is refused.

All of it follows from what the person sees: the hand, the unseen tiles, and for a win the rules.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.actions import ACTIONS, ADDED_KONG, CHOW_LOW, CHOW_STEPS, CONCEALED_KONG, PASS, PUNG, WIN
from mahjong_env.basics.tiles import KIND_NAMES
from mahjong_env.drawing.table import person_name
from mahjong_env.engine.batch import Engine
from mahjong_env.engine.outcome import hand_info
from mahjong_env.environments.agents import Opponent, agent_name, ask_alone
from mahjong_env.hands.kind_sets import unpack
from mahjong_env.hands.shanten import Hands
from mahjong_env.observation.acceptance import concealed, hands_after, kinds_wanted, tiles_after
from mahjong_env.observation.view import View
from mahjong_env.ruleset.shapes import shanten
from mahjong_env.scoring.wins import Source, wins_from_state
from mahjong_env.state.arrays import Phase


@dataclass(frozen=True)
class Prospect:
    """The hand after an action.

    Attributes:
        action: the name of the action.
        distance: the tiles that the hand lacks after the action; for a chow or pung, after the best discard that
            follows it.
        helps: (kind, number of its unseen tiles) for each kind whose draw would lower the distance.
        then: the name of that discard, empty if none follows.
    """

    action: str
    distance: int
    helps: tuple[tuple[int, int], ...]
    then: str = ""

    @property
    def tiles(self) -> int:
        """The number of tiles that would help: the acceptance."""
        return sum(count for _, count in self.helps)


def prospects(view: View) -> list[Prospect]:
    """Return the prospects of all legal actions except a win, the best first.

    The best has the least distance, and among equals the most tiles that help. The value of the hand, and whether its
    shape may win in every way, are not considered.

    Args:
        view: the view of one person who is to act.
    """
    legal = np.flatnonzero(view.action_mask[0])
    discards, others = legal[legal < CONCEALED_KONG], legal[(legal >= CONCEALED_KONG) & (legal != WIN)]
    found = _after_discards(view, concealed(view, discards * 0), discards)
    for number, action in enumerate(others):
        hand = hands_after(view, others * 0, others).take(np.array([number]))
        if CHOW_LOW <= action <= PUNG:
            held = np.flatnonzero(tiles_after(view, others[[number]] * 0, others[[number]])[0])
            best = min(_after_discards(view, hand.take(held * 0), held), key=_rank)
            found.append(Prospect(ACTIONS[action], best.distance, best.helps, best.action))
        else:
            found += _prospects(view, hand, [action])
    return sorted(found, key=_rank)


def _rank(prospect: Prospect) -> tuple[int, int]:
    return prospect.distance, -prospect.tiles


def _after_discards(view: View, hands: Hands, kinds: NDArray[np.intp]) -> list[Prospect]:
    """Return the prospects of [m] hands that discard one tile each, of kinds [m]."""
    return _prospects(view, hands.without(kinds, kinds == view.wild[0]), kinds)


def _prospects(view: View, hands: Hands, actions: Iterable[int]) -> list[Prospect]:
    """Return the prospects of the hands [m] that actions [m] leave."""
    found = shanten(hands, view.rules)
    wild = np.repeat(view.wild, len(hands.sets)) if view.rules.has_wild else None
    wanted = unpack(kinds_wanted(found, found.distance, wild, view.rules)) & (view.unseen > 0)
    return [
        Prospect(
            ACTIONS[action],
            int(distance),
            tuple((int(kind), int(view.unseen[0, kind])) for kind in np.flatnonzero(kinds)),
        )
        for action, distance, kinds in zip(actions, found.distance, wanted, strict=True)
    ]


def win_now(engine: Engine) -> dict[str, Any] | None:
    """Return what a win would be worth now, as `hand_info` and its ``receipt``; None if no win may be declared.

    It is also None under rules that turn up tiles after a win, as nobody knows yet how these change what it pays.
    """
    if not engine.action_mask[0, WIN] or engine.rules.turned_up_after_win:
        return None
    # Use a world in which everything that the person has not seen is drawn anew, so that nothing hidden is told.
    world = engine.view().worlds(1, np.random.default_rng(0))
    result = world.step([WIN])
    outcome = result.outcome
    return hand_info(outcome, 0) | {"receipt": outcome.receipts[0]} if result.hand_over[0] else None


def advice(agent: Opponent, engine: Engine) -> tuple[str, str]:
    """Return the name of an agent, and the name of the action that it would choose for the seat to act.

    Its random numbers come from a generator of their own, so that asking for a hint changes nothing in the game.
    """
    return agent_name(agent), ACTIONS[ask_alone(agent, engine, np.random.default_rng(0))]


# --- Why not ---------------------------------------------------------------------------------------------------------

_NOT_REPLACED = "no tile is left to replace the fourth one of a kong"


def why_not(engine: Engine, action: int) -> str:
    """Return the reason why the seat to act in an engine's only game may not play an action.

    Args:
        engine: the game; a seat is to act.
        action: an action that the mask refuses.
    """
    in_turn = engine.state.phase[0] == Phase.TURN
    if action == WIN:
        return _why_no_win(engine)
    if action < CHOW_LOW:
        return _why_not_in_turn(engine, action) if in_turn else f"it is not your turn: {_question(engine)}"
    if in_turn:
        what = "pass" if action == PASS else "claim"
        return f"it is your turn: there is nothing to {what}, a tile has to be discarded"
    return _why_no_claim(engine, ACTIONS[action])


def _question(engine: Engine) -> str:
    offered = int(engine.state.offered[0])
    if engine.state.phase[0] == Phase.STRANDED:
        return "you are asked because the last flower cannot be replaced"
    return f"you are asked about {KIND_NAMES[offered]}" if offered >= 0 else "you are asked before the first turn"


def _held(engine: Engine) -> np.ndarray:
    return engine.state.hand[0, int(engine.state.actor[0])]


def _is_replaced(engine: Engine) -> bool:
    """Return whether the seat to act can draw a tile for a kong."""
    state, games = engine.state, np.zeros(1, np.intp)
    return bool(state.left_to(state.seats_to_act(games))[0] > 0)


def _why_not_in_turn(engine: Engine, action: int) -> str:
    state, kind = engine.state, action % len(_held(engine))
    name, held = KIND_NAMES[kind], int(_held(engine)[kind])
    if action < CONCEALED_KONG:
        if not held:
            return f"you hold no {name}"
        return f"you hold {name}, but the rules do not let you discard it now: {_hint(engine)}"
    if action < ADDED_KONG and held < 4:
        return f"a concealed kong takes four tiles, and you hold {held} of {name}"
    if action >= ADDED_KONG and not (held and state.open_pung[0, int(state.actor[0]), kind]):
        return f"you have no pung of {name} on the table" if held else f"you hold no {name}"
    if state.drawn[0] < 0:
        return "a kong is declared after a draw, not after a claim"
    if not _is_replaced(engine):
        return _NOT_REPLACED
    return f"the rules do not allow this kong now: {_hint(engine)}"


def _why_no_claim(engine: Engine, name: str) -> str:
    state, held = engine.state, _held(engine)
    kind, giver = int(state.offered[0]), int(state.offered_by[0])
    if kind < 0 or state.phase[0] != Phase.CLAIM:
        return f"you can only win or pass: {_question(engine)}"
    tile = KIND_NAMES[kind]
    if name == "pung" or name == "kong":
        needed = 2 if name == "pung" else 3
        if held[kind] < needed:
            return f"a {name} with {tile} takes {needed} more, and you hold {int(held[kind])}"
        if name == "kong" and not _is_replaced(engine):
            return _NOT_REPLACED
    else:
        if giver != (int(state.actor[0]) - 1) % engine.num_seats:
            who = person_name(int(state.person_at[0, giver]))
            return f"a chow is claimed from the player before you, and {tile} is {who}'s"
        lacking = [kind + step for step in CHOW_STEPS[ACTIONS.index(name) - CHOW_LOW]]
        if kind >= 27 or any(other // 9 != kind // 9 or other < 0 for other in lacking):
            return f"{tile} cannot stand there in a run"
        wanted = " and ".join(KIND_NAMES[other] for other in lacking)
        absent = " nor ".join(KIND_NAMES[other] for other in lacking if not held[other])
        if absent:
            return f"{name} with {tile} takes {wanted}, and you hold no {absent}"
    return f"the rules do not allow this claim now: {_hint(engine)}"


def _why_no_win(engine: Engine) -> str:
    """Return the reason that the scoring gives against a win with the tile that was drawn or is offered."""
    state, games = engine.state, np.zeros(1, np.intp)
    seats = state.seats(games, state.actor[games])
    if state.phase[0] == Phase.TURN:
        if state.drawn[0] < 0:
            return "a win by self-draw takes a tile that you have drawn; you have claimed one"
        wins = wins_from_state(engine.rules, state, seats, state.drawn[games], Source.DRAW, -1)
    elif state.offered[0] >= 0:
        source = Source.ROBBED_KONG if state.phase[0] == Phase.ROB else Source.DISCARD
        wins = wins_from_state(engine.rules, state, seats, state.offered[games], source, state.offered_by[games])
    else:
        return f"the rules do not allow it now: {_hint(engine)}"
    reason = engine.rules.reasons[int(engine.rules.score(wins).reason[0])]
    return reason or f"the rules do not allow it now: {_hint(engine)}"


def _hint(engine: Engine) -> str:
    return f"see `python -m mahjong_env rules --variant {engine.rules.name}`"
