"""The batched engine as a Stable-Baselines3 `VecEnv`: one learning seat a table, all others played inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents import Agent, look_ahead
from agents.inputs import NUM_ACTIONS, policy_inputs
from agents.lookahead import FAR, Lookahead
from mahjong_env import Rules, StepResult, View, make_engine
from mahjong_env.environments.players import choose_actions
from training.batch_env import BatchVecEnv, RewardSpec, Step

__all__ = ["RewardSpec", "TableVecEnv"]

_FEW = 8
"""Tables that are over wait for their next hand until no more than one in so many is still playing."""


class TableVecEnv(BatchVecEnv):
    """B tables, each with one learner; an episode is one hand.

    The learner's place is drawn from the seed and moves on by one with every episode, whoever else sits there is drawn
    from ``opponents`` for every episode. What happens at a table before the learner's first decision is not part of an
    episode, and a hand that ends without one is dealt again.

    Episodes that end carry in their ``info``: ``episode`` (r points of the hand, l decisions), ``is_success`` (the
    learner won), ``terminal_observation`` and ``TimeLimit.truncated``.
    """

    def __init__(
        self,
        rules: Rules,
        num_tables: int,
        opponents: Sequence[Agent],
        *,
        seed: int = 0,
        reward: RewardSpec | None = None,
    ) -> None:
        """Deal the tables.

        Args:
            rules: what is played.
            num_tables: B.
            opponents: who may sit at the other seats, all equally likely; an agent may be named several times.
            seed: of the deals, the seats, and the opponents' choices.
            reward: what the learner is paid.
        """
        self.engine = make_engine(rules, num_tables, seed=seed)
        super().__init__(rules, num_tables, opponents, reward)
        self._rng = np.random.default_rng(seed)
        self._chosen: NDArray[np.int64] = np.zeros(num_tables, np.int64)
        self._begin()

    def _begin(self) -> None:
        tables, people = self.num_envs, self.engine.num_people
        self._learner = self._rng.integers(people, size=tables)
        self._who = np.zeros((tables, people), np.intp)
        self._draw_opponents(np.arange(tables))
        self._in_episode = np.zeros(tables, np.bool_)
        self._reward_points = np.zeros(tables, np.float32)
        self._hand_points = np.zeros(tables, np.int64)
        self._decisions = np.zeros(tables, np.int64)
        self._winner = np.zeros(tables, np.int64)
        self._truncated = np.zeros(tables, np.bool_)
        self._dones = np.zeros(tables, np.bool_)
        self._infos: list[dict[str, Any]] = [{} for _ in range(tables)]
        self._mask = np.zeros((tables, NUM_ACTIONS), np.bool_)
        self._distance = np.zeros(tables, np.float32)

    def _draw_opponents(self, tables: NDArray[np.intp]) -> None:
        self._who[tables] = self._rng.integers(len(self.opponents), size=(len(tables), self._who.shape[1]))

    # --- The contract of VecEnv ---------------------------------------------------------------------------------
    def reset(self) -> NDArray[np.int8]:
        """Deal every table anew; a seed given with `seed` is used now."""
        seed = self._seeds[0]
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self.engine.reset(seed=seed)
        self._reset_seeds()
        self._begin()
        self._play_others()
        return self._observe()

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keep the learners' actions."""
        self._chosen = np.asarray(actions)

    def step_wait(self) -> Step:
        """Play the learners' actions, then all others until every learner must decide again.

        Returns:
            [B, F] int8 inputs, [B] float32 rewards, [B] bool dones, infos: all of them fresh.
        """
        before = self._distance
        self._reward_points = np.zeros(self.num_envs, np.float32)
        self._dones = np.zeros(self.num_envs, np.bool_)
        self._infos = [{} for _ in range(self.num_envs)]
        self._in_episode[:] = True
        self._decisions += 1
        tables = np.arange(self.num_envs)
        self._take_in(self.engine.step(self._chosen), tables)
        self._play_others()
        inputs = self._observe()
        rewards = self._reward_points * np.float32(self.reward.scale)
        if self.reward.shaping:
            after = np.where(self._dones, 0.0, self._distance)
            rewards += np.float32(self.reward.shaping) * (before - self.reward.discount * after).astype(np.float32)
        return inputs, rewards, self._dones, self._infos

    def action_masks(self) -> NDArray[np.bool_]:
        """[B, 109] legal actions of the learners."""
        return self._mask

    def close(self) -> None:
        """Nothing is open."""

    # --- Playing ------------------------------------------------------------------------------------------------
    def _play_others(self) -> None:
        """Play until every table waits for its learner; hands that end on the way are dealt anew."""
        while True:
            seat = self.engine.seat_to_act
            others = np.flatnonzero((seat != self._learner) & (seat >= 0))
            # Hands end one by one, but to end an episode and to deal costs about as much for one table as for many:
            # they wait for each other, and are dealt while the last few others are still playing.
            if others.size * _FEW <= self.num_envs:
                over = np.flatnonzero(seat < 0)
                if over.size:
                    self._begin_hands(over)
                    continue
                if not others.size:
                    return
            who = self._who[others, seat[others]]
            actions = choose_actions(self.engine, others, self.opponents, who, self._rng)
            self._take_in(self.engine.step(actions, games=others), others)

    def _take_in(self, result: StepResult, tables: NDArray[np.intp]) -> None:
        """Count what the learners were paid."""
        paid = result.rewards[np.arange(len(tables)), self._learner[tables]]
        self._reward_points[tables] += paid * self._in_episode[tables]
        self._hand_points[tables] += paid
        self._winner[result.outcome.game] = result.outcome.winner
        self._truncated[tables] = result.truncated

    def _begin_hands(self, over: NDArray[np.intp]) -> None:
        """End the episodes of tables whose hand is over, and deal them anew."""
        self._end_episodes(over[self._in_episode[over]])
        self._learner[over] = (self._learner[over] + 1) % self.engine.num_people
        self._draw_opponents(over)
        self._in_episode[over] = False
        self._hand_points[over] = 0
        self._decisions[over] = 0
        self.engine.reset(games=over)

    def _end_episodes(self, tables: NDArray[np.intp]) -> None:
        if not tables.size:
            return
        view = self.engine.view(games=tables, seats=self._learner[tables])
        last = policy_inputs(view, _no_actions(len(tables)))
        for place, table in enumerate(tables.tolist()):
            self._infos[table] = {
                "terminal_observation": last[place],
                "TimeLimit.truncated": bool(self._truncated[table]),
                "episode": {"r": int(self._hand_points[table]), "l": int(self._decisions[table]), "t": 0.0},
                "is_success": bool(self._winner[table] == self._learner[table]),
            }
        self._dones[tables] = True

    def _observe(self) -> NDArray[np.int8]:
        view: View = self.engine.view()
        self._mask = view.action_mask
        ahead = look_ahead(view)
        self._distance = ahead.distance.min(axis=1).astype(np.float32)
        return policy_inputs(view, ahead)


def _no_actions(n: int) -> Lookahead:
    """Return what `look_ahead` finds for n seats without a legal action, as at tables where the hand is over."""
    return Lookahead(np.full((n, NUM_ACTIONS), FAR, np.int8), np.zeros((n, NUM_ACTIONS), np.int16))
