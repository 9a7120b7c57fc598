"""The tables as RLlib's environments: one of them, and a batch of them behind one of RLlib's runners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from gymnasium import spaces

from mahjong_agents.policy.plane_inputs import NUM_ACTIONS, SIZE
from mahjong_env import VARIANTS, MissingExtraError
from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.rllib.tables import Situations, Tables
from mahjong_training.seeds import training_seed

try:
    import ray
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
    from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
    from ray.rllib.env.vector.vector_multi_agent_env import VectorMultiAgentEnv
    from ray.tune.registry import register_env
except ImportError as error:
    raise MissingExtraError(
        f"RLlib needs {error.name}: make distributed, or in a new environment pip install 'mahjong-env[distributed]'"
    ) from error

OBSERVATIONS: Final = "observations"
ACTION_MASK: Final = "action_mask"
_SEEDS: Final = 2**31 - 1

Dictionaries = list[dict[str, Any]]


def register() -> list[str]:
    """Make every variant known to RLlib as ``mahjong_env/<variant>``, once in every process; return the names.

    The environments take ``env_config``: ``knobs`` (texts, as ``NAME=VALUE``), ``scale`` of the rewards, ``shaping``,
    ``seed``.
    """
    for variant in VARIANTS:
        register_env(f"mahjong_env/{variant}", lambda context, name=variant: TableEnv({"variant": name, **context}))
    return [f"mahjong_env/{variant}" for variant in VARIANTS]


class TableEnv(MultiAgentEnv):  # type: ignore[misc]  # Ray ships no types
    """One table: the person who has to decide is the only agent with an observation; an episode is one hand.

    An observation is ``{"observations": [F] int8, "action_mask": [A] int8}``; rewards go to every person that is paid.
    An illegal action is an IllegalActionError, and nothing is changed.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        """Set the table up; ``config`` has ``variant``, and may have the rest of `register`."""
        super().__init__()
        self._batch = BatchedTables(config, 1, self)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        """Deal a hand; without a seed, the next one."""
        return self._batch.reset(seed=seed)[0][0], {}

    def step(self, action_dict: dict[str, Any]) -> tuple[Any, ...]:
        """Play the action of the person who has to decide."""
        return tuple(part[0] for part in self._batch.step([action_dict]))


class BatchedTables(VectorMultiAgentEnv):  # type: ignore[misc]  # Ray ships no types
    """B tables behind RLlib's interface for vectors of multi-agent environments, stepped all at once.

    A table whose hand is over is dealt anew by the next step, which ignores the action there (RLlib's ``next_step``).
    """

    def __init__(self, config: Mapping[str, Any], num_envs: int, prototype: TableEnv | None = None) -> None:
        """Set B tables up; RLlib asks ``prototype`` (None: a new one) for the spaces of each of them."""
        super().__init__()
        rules = read_rules(config["variant"], tuple(config.get("knobs", ())))
        scale, shaping = float(config.get("scale", 1.0)), float(config.get("shaping", 0.0))
        self.tables = Tables(rules, num_envs, seed=int(config.get("seed", 0)), scale=scale, shaping=shaping)
        self.num_envs, self.metadata = num_envs, {"autoreset_mode": "next_step"}
        self._names = [f"player_{person}" for person in range(rules.people)]  # as in PettingZoo's environments
        inputs, masks = spaces.Box(-128, 127, (SIZE,), np.int8), spaces.Box(0, 1, (NUM_ACTIONS,), np.int8)
        shown: spaces.Space[Any] = spaces.Dict({OBSERVATIONS: inputs, ACTION_MASK: masks})
        action: spaces.Space[Any] = spaces.Discrete(NUM_ACTIONS)
        self.single_observation_spaces = dict.fromkeys(self._names, shown)
        self.single_action_spaces = dict.fromkeys(self._names, action)
        self.single_observation_space = spaces.Dict(self.single_observation_spaces)
        self.single_action_space = spaces.Dict(self.single_action_spaces)
        self._is_over = np.zeros(num_envs, np.bool_)
        if prototype is None:
            prototype = TableEnv(config)
        prototype.possible_agents, prototype.agents = list(self._names), list(self._names)
        prototype.observation_spaces = self.single_observation_spaces
        prototype.action_spaces = self.single_action_spaces
        self.envs = [prototype] * num_envs

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Dictionaries, Dictionaries]:
        """Deal every table; without a seed, the next hands."""
        first = seed[0] if isinstance(seed, Sequence) else seed
        self.tables.deal(np.arange(self.num_envs), None if first is None else int(first) % _SEEDS)
        self._is_over[:] = False
        return self._shown(self.tables.observe()), [{} for _ in range(self.num_envs)]

    def step(self, actions: Sequence[Mapping[str, Any]]) -> tuple[Dictionaries, ...]:
        """Play one action at every table, or deal it anew."""
        dealt, played = np.flatnonzero(self._is_over), np.flatnonzero(~self._is_over)
        gained = np.zeros((self.num_envs, len(self._names)), np.float32)
        if played.size:
            chosen = np.array([next(iter(actions[game].values())) for game in played.tolist()], np.int64)
            gained[played], self._is_over[played] = self.tables.act(played, chosen)
        if dealt.size:
            self.tables.deal(dealt)
            self._is_over[dealt] = False
        now = self.tables.observe()
        live = np.flatnonzero(now.person >= 0)
        gained[live, now.person[live]] += now.closer[live]
        ends: Dictionaries = [{"__all__": is_over} for is_over in self._is_over.tolist()]
        rewards = [dict(zip(self._names, paid, strict=True)) for paid in gained.tolist()]
        return self._shown(now), rewards, ends, [{"__all__": False} for _ in ends], [{} for _ in ends]

    def _shown(self, now: Situations) -> Dictionaries:
        """Return the observations of each table: of the person who has to decide; at the end of all, filled with 0."""
        shown: Dictionaries = []
        for game, person in enumerate(now.person.tolist()):
            seen = {OBSERVATIONS: now.inputs[game], ACTION_MASK: now.masks[game]}
            shown.append({self._names[person]: seen} if person >= 0 else dict.fromkeys(self._names, seen))
        return shown


class BatchedRunner(MultiAgentEnvRunner):  # type: ignore[misc]  # Ray ships no types
    """RLlib's runner, with a batch of tables in place of a list of environments.

    RLlib (2.60) has a vector entry point for single agents only; for several agents it would step B environments one
    after another. What a runner does otherwise stays RLlib's.
    """

    env: BatchedTables | None

    def make_env(self) -> None:
        """Set up the tables, with a seed of this runner's own."""
        if self.env is not None:
            self.env.close()
        config = self.config
        if not isinstance(config.env, str) or not config.env.startswith("mahjong_env/"):
            raise ValueError(f"BatchedRunner steps the environments mahjong_env/<variant>, not {config.env!r}")
        settings = {**config.env_config, "variant": config.env.partition("/")[2]}
        settings["seed"] = training_seed(int(settings.get("seed", 0)), int(self.worker_index or 0))
        if self.worker_index and ray.get_runtime_context().was_current_actor_reconstructed:
            # It takes the place of one that died: with the same seed it would deal the same hands once more.
            settings["seed"] = self._seed = int(np.random.SeedSequence().generate_state(1)[0]) % _SEEDS
        self.env = BatchedTables(settings, config.num_envs_per_env_runner)
        self.num_envs: int = self.env.num_envs
        self._needs_initial_reset = True
