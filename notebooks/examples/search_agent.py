"""A search agent in twenty lines: `python notebooks/examples/search_agent.py`.

It tries every legal action in worlds that look the same from its seat, plays each world to the end of the hand at
random, and takes the action that paid most. `view.worlds` redraws everything that the seat has not seen, so the agent
plans with what it may know and nothing else.
"""

from __future__ import annotations

import numpy as np

import mahjong_env


class SearchAgent:
    """Plays the action that pays most in random continuations of the hand."""

    name = "search"

    def __init__(self, worlds: int = 8) -> None:
        """Search this number of worlds for each action."""
        self.worlds = worlds

    def act(self, view: mahjong_env.View, rng: np.random.Generator) -> np.ndarray:
        """Choose [n] actions."""
        row, tried = np.nonzero(view.action_mask)  # every legal action is one row of its own
        games = view.take(row).worlds(self.worlds, rng)
        persons = games.seat_to_act.copy()
        paid = np.zeros(games.num_games)
        playing, actions = np.arange(games.num_games), np.repeat(tried, self.worlds)
        while playing.size:
            result = games.step(actions, playing)
            paid[playing] += result.rewards[np.arange(len(playing)), persons[playing]]
            playing = playing[~result.hand_over]
            chance = rng.random((len(playing), mahjong_env.NUM_ACTIONS))
            actions = (chance * games.action_mask[playing]).argmax(axis=1)
        worth = np.full(view.action_mask.shape, -np.inf)
        worth[row, tried] = paid.reshape(-1, self.worlds).mean(axis=1)
        return worth.argmax(axis=1)


if __name__ == "__main__":
    engine, agent, rng = mahjong_env.make_engine("hebei", 8, seed=7), SearchAgent(), np.random.default_rng(0)
    points = np.zeros(3, int)
    while (live := np.flatnonzero(engine.seat_to_act >= 0)).size:
        actions = (rng.random((8, mahjong_env.NUM_ACTIONS)) * engine.action_mask).argmax(axis=1)
        searching = live[engine.seat_to_act[live] == 0]
        if searching.size:
            actions[searching] = agent.act(engine.view(searching), rng)
        points += engine.step(actions).rewards.sum(axis=0)
    print(f"points in 8 hands, the search agent's first: {points.tolist()}")
