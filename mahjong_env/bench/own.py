"""This package's contenders: the engine with masks, with observations too, and the PettingZoo environment."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mahjong_env.aec import MahjongAEC, wrapped
from mahjong_env.bench.peers import RIICHI, RIICHI_SEEN, RLCARD, RLCARD_AEC
from mahjong_env.bench.timing import Clock, Contender, play_aec
from mahjong_env.engine import Engine
from mahjong_env.opponents import choose_at_random
from mahjong_env.ruleset import Rules


def own_contenders(rules: Rules, batches: Sequence[int], seed: int = 0) -> list[Contender]:
    """The engine at several batch sizes, with and without observations, and one game behind PettingZoo's wrappers."""
    contenders = []
    for batch in batches:
        facts: dict[str, object] = {"variant": rules.name, "batch": batch}
        steps = max(1, 2000 // batch) * batch
        for observes, peers in ((False, (RLCARD, RIICHI)), (True, (RLCARD, RIICHI_SEEN))):
            player = EnginePlayer(rules, batch, observes=observes, seed=seed)
            name = f"{rules.name}: engine, {batch} games, masks{' and observations' if observes else ''}"
            kind = "step+mask+observe" if observes else "step+mask"
            contenders.append(
                Contender(name, player.play, steps, peers, {**facts, "kind": kind, "array_bytes": player.array_bytes})
            )
    facts = {"variant": rules.name, "batch": 1, "kind": "PettingZoo"}
    contenders.append(
        Contender(f"{rules.name}: PettingZoo env()", AECPlayer(rules, seed).play, 500, (RLCARD_AEC,), facts)
    )
    return contenders


class EnginePlayer:
    """Random games on an engine that deals anew within its steps."""

    def __init__(self, rules: Rules, batch: int, *, observes: bool, seed: int) -> None:
        self.engine = Engine(rules, batch, seed=seed, auto_reset=True)
        self.observes = observes
        self.rng = np.random.default_rng(seed)

    @property
    def array_bytes(self) -> int:
        """Bytes of the engine's arrays."""
        return sum(array.nbytes for array in self.engine.state.arrays().values())

    def play(self, decisions: int, clock: Clock) -> int:
        """Play at least some decisions; see `Contender`."""
        engine = self.engine
        for _ in range(0, decisions, engine.num_games):
            actions = choose_at_random(engine.action_mask, self.rng)
            with clock:
                engine.step(actions)
                engine.action_mask  # noqa: B018 looking at it is what is timed
                if self.observes:
                    engine.observe()
        return -(-decisions // engine.num_games) * engine.num_games


class AECPlayer:
    """Random games in the environment that `<variant>_v0.env` makes, as its users play them: `last` and `step`."""

    def __init__(self, rules: Rules, seed: int) -> None:
        self.env = wrapped(MahjongAEC(rules))
        self.rng = np.random.default_rng(seed)
        self.env.reset(seed=seed)

    def play(self, decisions: int, clock: Clock) -> int:
        """Play at least some decisions; see `Contender`."""
        return play_aec(self.env, decisions, clock, self.rng)
