"""Plays the games of a shard again, all at once, to see what the seats saw."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahjong_env import Engine, IllegalActionError, View
from mahjong_training.datasets.layout import Settings
from mahjong_training.datasets.playing import deal_shard
from mahjong_training.errors import DatasetError

Moment = tuple[Engine, NDArray[np.intp], NDArray[np.int64]]
"""Games that are waiting for their next decision: the engine, the numbers of those games in it, and the rows of these
decisions in the shard's table."""


def replay(settings: Settings, hands: NDArray[Any], decisions: NDArray[Any], games: range) -> Iterator[Moment]:
    """Play some games of a shard again, up to each decision and past it.

    Args:
        settings: of the dataset.
        hands: the shard's table of hands.
        decisions: its table of decisions.
        games: the games, by their numbers in the dataset.

    Yields:
        Every decision, before it is made; those of several games at once.

    Raises:
        DatasetError: a game cannot be played as it was, or ends with other points: the tables are damaged, or were made
            by other rules.
    """
    first_hand = (games.start - int(hands["game"][0])) * settings.num_hands
    own = hands[first_hand : first_hand + len(games) * settings.num_hands].reshape(len(games), settings.num_hands)
    first = own["first"][:, 0].astype(np.int64)
    length = own["decisions"].sum(axis=1)
    engine = deal_shard(settings, games)
    for step in range(int(length.max(initial=0))):
        live = np.flatnonzero(length > step)
        rows = first[live] + step
        yield engine, live, rows
        try:
            engine.step(decisions["action"][rows].astype(np.int64), games=live)
        except IllegalActionError as error:
            raise DatasetError(f"a shard of the dataset cannot be played as it was: {error}") from error
    points = settings.rules.starting_points + own["points"].sum(axis=1)
    wrong = np.flatnonzero((engine.seat_to_act >= 0) | (engine.points != points).any(axis=1))
    if wrong.size:
        raise DatasetError(
            f"game {games[int(wrong[0])]} of the dataset ends otherwise than it did: the tables are damaged, or "
            "were made by other rules"
        )


def rebuild(
    settings: Settings,
    hands: NDArray[Any],
    decisions: NDArray[Any],
    games: range,
    wanted: NDArray[np.bool_],
    inputs: Callable[[View], NDArray[Any]],
) -> NDArray[Any]:
    """Return [k, ...] what ``inputs`` makes of what the seats saw, for the wanted ones of the decisions of these games.

    Args:
        settings: of the dataset.
        hands: the shard's table of hands.
        decisions: its table of decisions.
        games: the games, by their numbers in the dataset; their decisions are n rows, one after another.
        wanted: [n] which of these are wanted, k of them.
        inputs: a function of a view of m seats that returns [m, ...].

    Raises:
        DatasetError: see `replay`; or ``inputs`` returns something else.
    """
    if not wanted.any():
        return np.zeros(0)
    place = wanted.cumsum() - 1
    begin: int | None = None
    out: NDArray[Any] | None = None
    for engine, live, rows in replay(settings, hands, decisions, games):
        begin = int(rows[0]) if begin is None else begin  # the first decision of the first game that has any
        chosen = np.flatnonzero(wanted[rows - begin])
        if not chosen.size:
            continue
        made = np.asarray(inputs(engine.view(games=live[chosen])))
        if made.shape[:1] != chosen.shape:
            raise DatasetError(f"inputs of {chosen.size} seats are [{chosen.size}, ...], not of shape {made.shape}")
        if out is None:
            out = np.empty((int(wanted.sum()), *made.shape[1:]), made.dtype)
        out[place[rows[chosen] - begin]] = made
    assert out is not None  # at least one decision was wanted
    return out
