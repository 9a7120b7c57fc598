"""Plain loops, as anybody would write them: all that happens in the loop is timed, choosing included.

An independent way of counting beside the contenders of own.py and peers.py, which take the agent's time apart.
"""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from typing import Any, Final

import gymnasium
import numpy as np

from mahjong_benchmarks.peers import RLCardPlayer
from mahjong_benchmarks.timing import Contender, Meter, Player
from mahjong_env.environments.aec import MahjongAEC, wrapped
from mahjong_env.environments.single_seat import SingleSeatEnv
from mahjong_env.ruleset.questions import Rules

RLCARD_PLAIN: Final = "RLCard mahjong, plain loop"
_DECISIONS: Final = 200
_FIRST: Final = np.zeros(1, np.intp)


def plain_peer() -> Contender:
    """RLCard's bare environment."""
    return Contender(RLCARD_PLAIN, PlainRLCard, _DECISIONS, facts={"kind": "plain loop"})


def plain_contenders(rules: Rules) -> list[Contender]:
    """One game through PettingZoo and through Gymnasium, where random opponents play the other seats.

    Both count the decisions of all players.
    """
    facts = {"variant": rules.name, "batch": 1, "play": "random"}
    pettingzoo = f"{rules.name}: PettingZoo env(), plain loop"
    return [
        Contender(
            pettingzoo,
            lambda seed: PlainPettingZoo(rules, seed),
            _DECISIONS,
            (RLCARD_PLAIN,),
            {**facts, "kind": "plain loop, PettingZoo"},
        ),
        Contender(
            f"{rules.name}: gymnasium.make(), plain loop",
            lambda seed: PlainGymnasium(rules, seed),
            _DECISIONS,
            (pettingzoo,),
            {**facts, "kind": "plain loop, Gymnasium"},
        ),
    ]


class PlainPettingZoo(Player):
    """PettingZoo's usual loop over `env()`: `agent_iter`, `last`, `step`."""

    def __init__(self, rules: Rules, seed: int) -> None:
        self._env: Any = wrapped(MahjongAEC(rules))
        self._env.reset(seed=seed)
        self._rng = np.random.default_rng(seed)

    def play(self, decisions: int, meter: Meter) -> None:
        """Play hands to their end until enough decisions have been made."""
        env, rng, played = self._env, self._rng, 0
        with meter.environment:
            while played < decisions:
                env.reset()
                for _ in env.agent_iter():
                    observation, _, terminated, truncated, _ = env.last()
                    if terminated or truncated:
                        env.step(None)
                        continue
                    legal = observation["action_mask"].nonzero()[0]
                    env.step(int(legal[int(rng.random() * len(legal))]))
                    played += 1
                meter.hands += 1
        meter.decisions += played


class PlainGymnasium(Player):
    """Gymnasium's usual loop over one learning seat."""

    def __init__(self, rules: Rules, seed: int) -> None:
        identifier = f"mahjong_env/{rules.name.capitalize()}-v{rules.version}"
        self._env: Any = gymnasium.make(identifier, opponents="random", **rules.knobs)
        self._env.reset(seed=seed)
        self._rng = np.random.default_rng(seed)

    def play(self, decisions: int, meter: Meter) -> None:
        """Play hands to their end until all players together have made that many decisions."""
        env, rng, played = self._env, self._rng, 0
        bare: SingleSeatEnv = env.unwrapped
        with meter.environment:
            while played < decisions:
                before = int(bare.engine.moves(_FIRST)[0])
                info: dict[str, Any] = env.reset()[1]
                over = False
                while not over:
                    legal = info["action_mask"].nonzero()[0]
                    action = int(legal[int(rng.random() * len(legal))])
                    _, _, terminated, truncated, info = env.step(action)
                    over = terminated or truncated
                played += int(bare.engine.moves(_FIRST)[0]) - before - 1  # the deal is a move too
                meter.hands += 1
        meter.decisions += played


class PlainRLCard(RLCardPlayer):
    """RLCard's own loop: `step` gives the next player's observation and legal actions."""

    def play(self, decisions: int, meter: Meter) -> None:
        """Play hands to their end until enough decisions have been made."""
        env, rng, played = self.env, self.rng, 0
        with redirect_stdout(io.StringIO()), meter.environment:  # it prints when somebody has no legal action
            while played < decisions:
                state, _ = env.reset()
                while not env.is_over():
                    legal = list(state["legal_actions"])
                    state, _ = env.step(legal[int(rng.random() * len(legal))])
                    played += 1
                env.get_payoffs()
                meter.hands += 1
        meter.decisions += played
