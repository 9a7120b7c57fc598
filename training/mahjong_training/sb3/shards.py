"""Tables in several processes: Stable-Baselines3's `SubprocVecEnv`, each of its workers with a batch of its own.

`SubprocVecEnv` starts the workers, talks to them and ends them; to it each one holds a single environment, which here
is a `TableVecEnv` with its share of the tables.
"""

from __future__ import annotations

import multiprocessing
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from pickle import PicklingError
from time import process_time
from typing import Any

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import CloudpickleWrapper, SubprocVecEnv

from mahjong_agents import Agent
from mahjong_agents.policy.custom_features import Features
from mahjong_agents.policy.plane_inputs import NUM_ACTIONS
from mahjong_env import Rules
from mahjong_training.errors import TrainingError, WorkerError
from mahjong_training.evaluation.hand_statistics import Played
from mahjong_training.evaluation.matches import Block, play_block
from mahjong_training.runtime.executors import WORKER_DIED
from mahjong_training.sb3.vec_env import BatchVecEnv, RewardSpec, Step, TableVecEnv, learner_spaces


def new_tables(
    rules: Rules,
    num_tables: int,
    opponents: Sequence[Agent],
    *,
    processes: int,
    seed: int,
    features: Features | None = None,
    record: str | Path | None = None,
) -> TableVecEnv | ShardedVecEnv:
    """Deal tables in this process, or in several others if there are to be more than one; see `ShardedVecEnv`."""
    if processes == 1:
        return TableVecEnv(rules, num_tables, opponents, seed=seed, features=features, record=record)
    return ShardedVecEnv(rules, num_tables, opponents, processes=processes, seed=seed, features=features, record=record)


def shard_seed(seed: int, number: int) -> int:
    """Return the seed of the tables in worker ``number``, for a run with this seed."""
    return int(np.random.SeedSequence(seed, spawn_key=(number,)).generate_state(1)[0])


class ShardedVecEnv(BatchVecEnv):
    """B tables, shared out among worker processes that play at the same time.

    Worker k has tables k * B / N to (k + 1) * B / N, and plays them exactly as ``TableVecEnv(rules, B / N, opponents,
    seed=shard_seed(seed, k))`` would: a run depends on the seed and on the number of workers, never on their speed.
    Workers keep copies of the opponents: if one of them changes (a network that learns), assign `opponents` anew.

    Where processes are spawned, scripts that use this need the usual ``if __name__ == "__main__":``.
    """

    def __init__(
        self,
        rules: Rules,
        num_tables: int,
        opponents: Sequence[Agent],
        *,
        processes: int,
        seed: int = 0,
        reward: RewardSpec | None = None,
        features: Features | None = None,
        record: str | Path | None = None,
    ) -> None:
        """Start the workers and let them deal.

        Args:
            rules: what is played.
            num_tables: B, over all workers.
            opponents: who may sit at the other seats, all equally likely; an agent may be named several times.
            processes: N, workers; B must be a multiple.
            seed: of the deals, the seats, and the opponents' choices.
            reward: what the learner is paid.
            features: what is added to its inputs.
            record: a file to which records are appended: each worker has its own, with its number behind the name.

        Raises:
            TrainingError: the tables cannot be shared out evenly.
            WorkerError: a worker could not be started.
        """
        if processes < 1 or num_tables % processes:
            raise TrainingError(f"{num_tables} tables cannot be shared out evenly among {processes} processes")
        super().__init__(rules, num_tables, opponents, reward, features)
        self.processes = processes
        self._mask = np.zeros((num_tables, NUM_ACTIONS), np.bool_)
        self._chosen: NDArray[np.int64] = np.zeros(num_tables, np.int64)
        self._is_waiting = False
        # Workers are forked from a process that has imported all they need: they start at once and share its memory.
        multiprocessing.set_forkserver_preload([__name__])
        self._workers = SubprocVecEnv([partial(_Worker, number) for number in range(processes)])
        try:
            share = num_tables // processes
            self._ask("open", CloudpickleWrapper((rules, share, self._opponents, self._reward, seed, features, record)))
        except BaseException:
            self.close()
            raise

    # --- The contract of VecEnv ---------------------------------------------------------------------------------
    def reset(self) -> NDArray[np.int8]:
        """Deal every table anew; a seed given with `seed` is used now."""
        inputs, masks = zip(*self._ask("reset", self._seeds[0]), strict=True)
        self._reset_seeds()
        self._mask = np.concatenate(masks)
        return np.concatenate(inputs)

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keep the learners' actions."""
        self._chosen = np.asarray(actions)

    def step_wait(self) -> Step:
        """Let the workers play the learners' actions, and all others until every learner must decide again.

        Returns:
            [B, F] int8 inputs, [B] float32 rewards, [B] bool dones, infos: all of them fresh.

        Raises:
            WorkerError: something went wrong in a worker; the message has its traceback.
        """
        inputs, rewards, dones, masks, ended = zip(*self._ask("step", self._chosen), strict=True)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for number, episodes in enumerate(ended):
            first = number * (self.num_envs // self.processes)
            for table, info in episodes.items():
                infos[first + table] = info
        self._mask = np.concatenate(masks)
        return np.concatenate(inputs), np.concatenate(rewards), np.concatenate(dones), infos

    def action_masks(self) -> NDArray[np.bool_]:
        """[B, 109] legal actions of the learners."""
        return self._mask

    def close(self) -> None:
        """End the workers; a second call does nothing."""
        try:
            if not self._is_waiting:
                self._workers.close()
                return
        except (EOFError, OSError):
            pass  # one of them is gone already
        # A worker that was interrupted may be sending an answer that nobody will read: it would never end by itself.
        for process in self._workers.processes:
            process.terminate()
            process.join()
        for remote in self._workers.remotes:
            remote.close()
        self._workers.closed = True

    # --- The workers --------------------------------------------------------------------------------------------
    def apply(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Call ``function(tables, number, *arguments)`` in every worker, with its `TableVecEnv` and its number.

        Returns:
            The results, one for each worker.

        Raises:
            WorkerError: see `step_wait`.
        """
        return self._ask("apply", CloudpickleWrapper((function, arguments)))

    def play_blocks(self, agents: Sequence[Agent], blocks: Sequence[Block], seed: int) -> list[Played]:
        """Let the workers play blocks of line-ups in turns; the same as `lineups.play_block` here.

        Raises:
            WorkerError: see `step_wait`.
        """
        shares = self.apply(_play_share, self.processes, agents, blocks, seed)
        return [shares[place % self.processes][place // self.processes] for place in range(len(blocks))]

    def cpu_seconds(self) -> float:
        """Return the processor's time that the workers have used so far."""
        return sum(self.apply(_cpu_seconds))

    def _pass_on(self) -> None:
        self._ask("take_over", CloudpickleWrapper((self._opponents, self._reward)))

    def _ask(self, command: str, *arguments: Any) -> list[Any]:
        """Let all workers do the same, and return what they answer."""
        if self._workers.closed:
            raise WorkerError("the worker processes have been closed")
        self._is_waiting = True
        try:
            answers = self._workers.env_method("answer", command, *arguments)
        except (EOFError, OSError) as error:
            self.close()
            raise WorkerError(WORKER_DIED) from error
        except (PicklingError, AttributeError, TypeError) as error:
            self.close()
            raise WorkerError(f"this cannot be sent to worker processes: {error}") from error
        self._is_waiting = False
        for number, answer in enumerate(answers):
            if answer.error is not None:
                raise WorkerError(f"in worker process {number}: {answer.error}")
        return [answer.value for answer in answers]


@dataclass(frozen=True)
class _Answer:
    """What a worker sends back: a value, or the traceback of an error."""

    value: Any = None
    error: str | None = None


class _Worker(gymnasium.Env[Any, Any]):
    """A worker's side: what `SubprocVecEnv` takes for an environment. Only `answer` is ever called."""

    observation_space, action_space = learner_spaces()

    def __init__(self, number: int) -> None:
        self._number = number
        self._tables: TableVecEnv

    def answer(self, command: str, *arguments: Any) -> _Answer:
        """Do what is asked. An error travels back: in here it would only end the process."""
        try:
            return _Answer(getattr(self, f"_{command}")(*arguments))
        except Exception:
            return _Answer(error=traceback.format_exc())

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _open(self, sent: CloudpickleWrapper) -> None:
        torch.set_num_threads(1)
        rules, num_tables, opponents, reward, seed, features, record = sent.var
        seed = shard_seed(seed, self._number)
        path = None if record is None else Path(record)
        own = None if path is None else path.with_name(f"{path.stem}-{self._number}{path.suffix}")
        self._tables = TableVecEnv(
            rules, num_tables, opponents, seed=seed, reward=reward, features=features, record=own
        )

    def _take_over(self, sent: CloudpickleWrapper) -> None:
        self._tables.opponents, self._tables.reward = sent.var

    def _reset(self, seed: int | None) -> tuple[Any, ...]:
        if seed is not None:
            self._tables.seed(shard_seed(seed, self._number))
        return self._tables.reset(), self._tables.action_masks()

    def _step(self, actions: NDArray[Any]) -> tuple[Any, ...]:
        share = self._tables.num_envs
        mine = actions[self._number * share : (self._number + 1) * share]
        inputs, rewards, dones, infos = self._tables.step(mine)
        ended = {table: infos[table] for table in np.flatnonzero(dones).tolist()}
        return inputs, rewards, dones, self._tables.action_masks(), ended

    def _apply(self, sent: CloudpickleWrapper) -> Any:
        function, arguments = sent.var
        return function(self._tables, self._number, *arguments)


def _play_share(
    tables: TableVecEnv, number: int, processes: int, agents: Sequence[Agent], blocks: Sequence[Block], seed: int
) -> list[Played]:
    return [play_block(tables.rules, agents, block, seed) for block in blocks[number::processes]]


def _cpu_seconds(tables: TableVecEnv, number: int) -> float:
    return process_time()
