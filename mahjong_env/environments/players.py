"""Who decides at a seat: what an agent is, how agents are asked and checked, and the agent that plays at random."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from mahjong_env.basics.actions import ACTIONS, NUM_ACTIONS
from mahjong_env.basics.errors import ActionError, AnswerError
from mahjong_env.basics.types import BoolArray, Games, Int64Array
from mahjong_env.engine.batch import Engine
from mahjong_env.observation.view import View

Note = Mapping[str, Any]
"""What an agent thought of one choice: "probabilities", "values" and "value" of `GameRecord.notes`."""


@runtime_checkable
class Opponent(Protocol):
    """Anything that can sit at a table; an attribute ``name`` says what messages and tables call it."""

    def act(self, view: View, rng: np.random.Generator) -> Any:
        """Choose [n] legal actions for the n seats of a view."""
        ...


@runtime_checkable
class Thinker(Opponent, Protocol):
    """An opponent that can also tell what it thought of each choice."""

    def think(self, view: View, rng: np.random.Generator) -> tuple[Any, Sequence[Note | None]]:
        """Choose as `act` does, with the same chance, and tell why.

        Returns:
            [n] legal actions; and for each what is to be written in a record (`GameRecord.notes`), or None.
        """
        ...


class RandomAgent:
    """Plays any legal action, all of them equally likely; wins and passes included."""

    name = "random"

    def act(self, view: View, rng: np.random.Generator) -> Int64Array:
        """Choose [n] actions."""
        return choose_at_random(view.action_mask, rng)


def choose_at_random(mask: BoolArray, rng: np.random.Generator) -> Int64Array:
    """Choose one True in every row, all of them equally likely.

    Args:
        mask: [n, A] bool, such as the legal actions; every row has one.
        rng: where chance comes from; n numbers are drawn, whatever the masks.

    Returns:
        [n] int64.

    Raises:
        ActionError: a row without a True.
    """
    n, width = mask.shape
    legal = np.flatnonzero(mask)
    count = np.bincount(legal // width, minlength=n)
    if not count.all():
        raise ActionError(f"row {int(count.argmin())} of the mask allows no action: nobody is to act there")
    first = count.cumsum() - count
    chosen: Int64Array = legal[first + (rng.random(n) * count).astype(np.int64)] % width
    return chosen


def agent_name(agent: Any) -> str:
    """What messages call an agent: its ``name``, or that of its class."""
    name = getattr(agent, "name", None)
    return name if isinstance(name, str) else type(agent).__name__


def choose_actions(
    engine: Engine,
    games: Games,
    agents: Sequence[Opponent],
    who: Games,
    rng: np.random.Generator,
    thoughts: MutableMapping[int, Note] | None = None,
) -> Int64Array:
    """Let the seats to act be played by their agents, one call for each agent.

    Args:
        engine: the tables.
        games: [n] games that wait for an action.
        agents: who plays.
        who: [n] the number of the agent that plays in each game.
        rng: where chance comes from.
        thoughts: is given, by number of the game, what agents thought who can tell (`Thinker`); None: they are not
            asked.

    Returns:
        [n] legal actions.

    Raises:
        AnswerError: an answer of another shape or type, or an illegal action; the message names the agent, the game
            and the seat.
    """
    if len(agents) == 1:
        return ask(agents[0], engine, games, rng, thoughts)
    actions = np.zeros(len(games), np.int64)
    for number, agent in enumerate(agents):
        rows = np.flatnonzero(who == number)
        if rows.size:
            # Each agent is shown its own games only: one view of all would be made, and then copied in parts.
            actions[rows] = ask(agent, engine, games[rows], rng, thoughts)
    return actions


def ask(
    agent: Opponent,
    engine: Engine,
    games: Games,
    rng: np.random.Generator,
    thoughts: MutableMapping[int, Note] | None = None,
) -> Int64Array:
    """[n] the legal actions that one agent chooses for the seats to act; the arguments are those of `choose_actions`.

    Raises:
        AnswerError: as for `choose_actions`.
    """
    if type(agent) is RandomAgent:
        # What it would do with a view, without making one.
        return choose_at_random(engine.state.mask.take(games, axis=0), rng)
    if thoughts is not None and isinstance(agent, Thinker):
        answers, notes = agent.think(engine.view(games), rng)
        told = zip(games.tolist(), notes, strict=True)
        thoughts.update((game, note) for game, note in told if note)
    else:
        answers = agent.act(engine.view(games), rng)
    actions = _checked_answers(agent, answers, engine, games)
    inside = (actions >= 0) & (actions < NUM_ACTIONS)
    legal = inside & engine.state.mask[games, np.where(inside, actions, 0)]
    if not legal.all():
        raise _illegal_answer(agent, engine, games, actions, int(legal.argmin()))
    return actions


def _checked_answers(agent: Any, answers: Any, engine: Engine, games: Games) -> Int64Array:
    """An agent's answers for the seats to act in [n] games as [n] integers.

    Raises:
        AnswerError: they are something else; the message names the agent, the game and the seat.
    """
    try:
        actions = np.asarray(answers)
    except ValueError:  # lists of unequal lengths
        actions = np.asarray(None)
    is_masked = isinstance(answers, np.ma.MaskedArray)  # what it hides would be played
    if actions.shape == (len(games),) and actions.dtype.kind in "iu" and not is_masked:
        return actions.astype(np.int64, copy=False)
    form = "a masked array of " if is_masked else ""
    row, what = 0, f"{form}{actions.dtype} of shape {actions.shape} for {len(games)} seats, the first of them"
    if actions.shape == (len(games),) and actions.dtype.kind == "f":
        is_whole = np.isfinite(actions) & (actions == np.rint(actions))
        if not is_whole.all():
            row = int(is_whole.argmin())
            what = f"{actions[row]}"
    raise AnswerError(
        f"the agent {agent_name(agent)!r} answered {what} in game {games[row]}, seat "
        f"{engine.seat_to_act[games[row]]}; act(view, rng) answers one integer action for each seat",
        int(games[row]),
    )


def _illegal_answer(agent: Any, engine: Engine, games: Games, actions: Int64Array, row: int) -> AnswerError:
    game, number = int(games[row]), int(actions[row])
    called = f"{ACTIONS[number]!r} ({number})" if 0 <= number < NUM_ACTIONS else str(number)
    valid = ", ".join(repr(ACTIONS[legal]) for legal in np.flatnonzero(engine.action_mask[game]))
    return AnswerError(
        f"the agent {agent_name(agent)!r} answered {called} in game {game}, seat {engine.seat_to_act[game]}, "
        f"which is not legal there; legal are {valid}",
        game,
    )
