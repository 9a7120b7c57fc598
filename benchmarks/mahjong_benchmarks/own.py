"""This package's contenders: the engine with masks, with observations too, and the PettingZoo environment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from mahjong_benchmarks.peers import RIICHI, RIICHI_SEEN, RLCARD, RLCARD_AEC
from mahjong_benchmarks.timing import Clock, Contender, Meter, Player, play_aec
from mahjong_env.basics.types import Games, Int64Array
from mahjong_env.engine.batch import Engine
from mahjong_env.environments.aec import MahjongAEC, wrapped
from mahjong_env.environments.agents import Opponent, RandomAgent, choose_at_random, find_agent
from mahjong_env.ruleset.questions import Rules

RANDOM: Final = "random"

# Games that were all dealt in the same moment end together too: with random play nearly every hand ends with the
# wall, in waves a hundred steps apart, and a rate taken between two waves knows nothing of dealing. So every game
# first plays a number of decisions of its own, the sum of two numbers below this one. It need not be the length of a
# hand: about that or longer is enough, as the sum of two leaves no edges that would come back as a wave.
HEAD_START: Final = 128

_RESETS: Final = 16  # how often dealing is timed


def own_contenders(
    rules: Rules,
    batches: Sequence[int],
    plays: Sequence[str] = (RANDOM,),
    observes: Sequence[bool] = (False, True),
) -> list[Contender]:
    """The engine at several batch sizes, and one game behind PettingZoo's wrappers.

    Args:
        rules: the variant with its knobs.
        batches: games played at once.
        plays: who plays: names for `find_agent`. The other environments and `env()` are played
            at random only, and only random play is compared with them.
        observes: whether every step is followed by `observe`; both ways may be asked for.
    """
    contenders = []
    for play in plays:
        source = WarmGames(rules, max(batches), play)
        for batch in batches:
            contenders += [engine_contender(source, batch, seen=seen) for seen in observes]
    if RANDOM in plays:
        facts = {"variant": rules.name, "batch": 1, "kind": "PettingZoo", "play": RANDOM}
        name = f"{rules.name}: PettingZoo env()"
        contenders.append(Contender(name, lambda seed: AECPlayer(rules, seed), 100, (RLCARD_AEC,), facts))
    return contenders


def engine_contender(source: WarmGames, batch: int, *, seen: bool) -> Contender:
    """The engine at one batch size, with or without observations."""
    variant, play = source.rules.name, source.play
    peers = (RLCARD, RIICHI_SEEN if seen else RIICHI) if play == RANDOM else ()
    style = "" if play == RANDOM else f", {play} play"
    return Contender(
        f"{variant}: engine, {batch} games, masks{' and observations' if seen else ''}{style}",
        lambda seed: EnginePlayer(source, batch, observes=seen, seed=seed),
        max(1, 100 // batch) * batch,
        peers,
        {"variant": variant, "batch": batch, "kind": "step+mask+observe" if seen else "step+mask", "play": play},
    )


@dataclass
class WarmGames:
    """Games in the middle of their hands, each somewhere else; all batch sizes and runs begin from copies of them.

    Attributes:
        rules: what is played.
        number: how many games.
        play: who plays, a name for `find_agent`.
        agent: the agent of that name.
    """

    rules: Rules
    number: int
    play: str
    agent: Opponent = field(init=False)
    _engine: Engine | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.agent = find_agent(self.play)

    def copy(self, batch: int) -> Engine:
        """An engine with some of the games. The first call plays them so far, which takes seconds."""
        if self._engine is None:
            self._engine = Engine(self.rules, self.number, seed=0, auto_reset=True)
            give_head_starts(self._engine, self.agent)
        return self._engine.select(np.arange(batch))


def give_head_starts(engine: Engine, agent: Opponent) -> None:
    """Play every game a different number of decisions (see `HEAD_START`)."""
    rng = np.random.default_rng(0)
    ahead = rng.integers(0, HEAD_START, (2, engine.num_games)).sum(axis=0)
    for step in range(ahead.max(initial=0)):
        games = np.flatnonzero(ahead > step)
        engine.step(choose(engine, agent, rng, games), games)


def choose(engine: Engine, agent: Opponent, rng: np.random.Generator, games: Games | None = None) -> Int64Array:
    """[n] the actions that an agent chooses in all or some games; random play needs no view."""
    if isinstance(agent, RandomAgent):
        return choose_at_random(engine.action_mask if games is None else engine.action_mask[games], rng)
    return np.asarray(agent.act(engine.view(games), rng))


class EnginePlayer(Player):
    """Games on an engine that deals anew within its steps.

    Attributes:
        engine: the games.
    """

    def __init__(self, source: WarmGames, batch: int, *, observes: bool, seed: int) -> None:
        self.engine = source.copy(batch)
        self._agent = source.agent
        self._observes = observes
        self._rng = np.random.default_rng(seed)

    def play(self, decisions: int, meter: Meter) -> None:
        """Play at least some decisions; see `mahjong_benchmarks.timing.Player`."""
        engine = self.engine
        for _ in range(0, decisions, engine.num_games):
            with meter.agent:
                actions = choose(engine, self._agent, self._rng)
            with meter.environment:
                result = engine.step(actions)
                engine.action_mask  # noqa: B018 looking at it is what is timed
                if self._observes:
                    engine.observe()
            meter.decisions += engine.num_games
            meter.hands += int(result.hand_over.sum())

    def dealing_share(self, meter: Meter) -> float:
        """Time resets of as many games as end hands in a step, at least one; the games go on from there."""
        engine, clock = self.engine, Clock(meter.time)
        ended = meter.hands / meter.decisions * engine.num_games
        number = max(1, round(ended))
        for _ in range(_RESETS):
            games = np.sort(self._rng.choice(engine.num_games, number, replace=False))
            with clock:
                engine.reset(games=games)
        dealt_at_once = ended / number  # below one game a step: how many steps deal at all
        steps = meter.decisions / engine.num_games
        return clock.seconds / _RESETS * dealt_at_once * steps / meter.environment.seconds


class AECPlayer(Player):
    """Random games in the environment that `<variant>_v0.env` makes, as its users play them: `last` and `step`."""

    def __init__(self, rules: Rules, seed: int) -> None:
        self._env = wrapped(MahjongAEC(rules))
        self._rng = np.random.default_rng(seed)
        self._env.reset(seed=seed)

    def play(self, decisions: int, meter: Meter) -> None:
        """Play some decisions; see `mahjong_benchmarks.timing.Player`."""
        play_aec(self._env, decisions, meter, self._rng)
