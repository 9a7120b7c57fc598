"""The contenders of ``bench``: engines with many games, loops over one game, and other mahjong environments."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import AbstractContextManager, redirect_stdout
from functools import partial
from typing import Any, Final

import gymnasium
import numpy as np

from mahjong_benchmarks.timing import Contender, Play
from mahjong_env.basics.errors import MissingExtraError
from mahjong_env.basics.types import Games, Int64Array
from mahjong_env.engine.batch import Engine
from mahjong_env.environments.aec import Guarded, MahjongAEC
from mahjong_env.environments.agents import Opponent, RandomAgent, choose_at_random, find_agent
from mahjong_env.environments.registration import gymnasium_id
from mahjong_env.ruleset.questions import Rules

RLCARD: Final = "RLCard mahjong"
RIICHI: Final = "RiichiEnv"
RIICHI_SEEN: Final = "RiichiEnv, mask and observation"
LOOP: Final = " (loop)"

# Games that are dealt at the same moment also end together. With random play nearly every hand lasts until the wall is
# empty, so that hands end in waves a hundred steps apart, and a rate measured between two waves does not include
# dealing. So every game first plays a random number of decisions, the sum of two numbers below this one. This one need
# not be the exact length of a hand; about that or more is enough, as a sum of two has no sharp edges that would turn
# into waves again.
HEAD_START: Final = 128

Choosing = AbstractContextManager[Any]
_FIRST: Final = np.zeros(1, np.intp)


# --- Many games ------------------------------------------------------------------------------------------------------
class WarmGames:
    """Games that are at different points of their hands; all batch sizes and runs begin with copies of them."""

    def __init__(self, rules: Rules, number: int, play: str) -> None:
        """Find the agent that plays.

        Args:
            rules: the rules to play by.
            number: the number of games.
            play: the name of the agent, for `find_agent`.

        Raises:
            MahjongError: there is no such agent.
        """
        self.rules, self.agent = rules, find_agent(play)
        self._number = number
        self._engine: Engine | None = None

    def copy(self, batch: int) -> Engine:
        """Return an engine with copies of some games. The first call plays the games so far, which takes seconds."""
        if self._engine is None:
            self._engine, rng = Engine(self.rules, self._number, seed=0, auto_reset=True), np.random.default_rng(0)
            ahead = rng.integers(0, HEAD_START, (2, self._number)).sum(axis=0)
            for step in range(ahead.max(initial=0)):
                games = np.flatnonzero(ahead > step)
                self._engine.step(choose(self._engine, self.agent, rng, games), games)
        return self._engine.select(np.arange(batch))


def choose(engine: Engine, agent: Opponent, rng: np.random.Generator, games: Games | None = None) -> Int64Array:
    """Return [n] the actions that an agent chooses in some games, or in all; random play needs no view."""
    if isinstance(agent, RandomAgent):
        return choose_at_random(engine.action_mask if games is None else engine.action_mask[games], rng)
    return np.asarray(agent.act(engine.view(games), rng))


def many_games(rules: Rules, batches: tuple[int, ...], play: str) -> list[Contender]:
    """Return contenders that play an engine at several batch sizes, without and with observations.

    With random play, they are compared with random play of the peers by the environment's time alone. With other
    agents, the time for choosing counts as well.
    """
    source = WarmGames(rules, max(batches), play)
    is_random = play == "random"
    peers = ((RLCARD, RIICHI), (RLCARD, RIICHI_SEEN)) if is_random else ((RLCARD,), (RLCARD,))

    def start(batch: int, observes: bool, seed: int) -> Play:
        engine, rng = source.copy(batch), np.random.default_rng(seed)

        def play_on(decisions: int, choosing: Choosing) -> tuple[int, int]:
            hands = 0
            for _ in range(0, decisions, batch):
                with choosing:
                    actions = choose(engine, source.agent, rng)
                result = engine.step(actions)
                engine.action_mask  # noqa: B018 computing the mask is what is timed
                if observes:
                    engine.observe()
                hands += int(result.hand_over.sum())
            return -(-decisions // batch) * batch, hands

        return play_on

    return [
        Contender(
            f"{rules.name}: {batch} games, masks{' and observations' if observes else ''}, {play} play",
            partial(start, batch, observes),
            max(1, 100 // batch) * batch,
            peers[observes],
            compared="rate" if is_random else "with_choosing",
            facts={"variant": rules.name, "batch": batch, "observes": observes, "play": play},
        )
        for batch in dict.fromkeys(batches)
        for observes in (False, True)
    ]


# --- One game, in the loop that anybody would write: everything in it is timed -------------------------------------
def one_game(rules: Rules) -> list[Contender]:
    """Return loops over one game with random play: `env()`, the engine with one game, and `gymnasium.make`."""
    env = f"{rules.name}: env()"
    loops: list[tuple[str, Callable[[Rules, int], Play], str]] = [
        (env, play_env, RLCARD + LOOP),
        (f"{rules.name}: engine, 1 game", play_engine, RIICHI_SEEN + LOOP),
        (f"{rules.name}: gymnasium.make()", play_learner, env),
    ]
    facts = {"variant": rules.name, "batch": 1, "play": "random"}
    return [
        Contender(name, partial(play, rules), 200, (peer,), counts_choosing=True, facts=facts)
        for name, play, peer in loops
    ]


def play_env(rules: Rules, seed: int) -> Play:
    """Begin PettingZoo's usual loop over `env()`: `agent_iter`, `last` and `step`; hands are played to their end."""
    env: Any = Guarded(MahjongAEC(rules))
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)

    def play(decisions: int, choosing: Choosing) -> tuple[int, int]:
        played = hands = 0
        while played < decisions:
            env.reset()
            for _ in env.agent_iter():
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    env.step(None)
                    continue
                with choosing:
                    legal = observation["action_mask"].nonzero()[0]
                    action = int(legal[int(rng.random() * len(legal))])
                env.step(action)
                played += 1
            hands += 1
        return played, hands

    return play


def play_engine(rules: Rules, seed: int) -> Play:
    """Begin a loop over an engine with one game: mask, observation and step."""
    engine, rng = Engine(rules, 1, seed=seed, auto_reset=True), np.random.default_rng(seed)

    def play(decisions: int, choosing: Choosing) -> tuple[int, int]:
        hands = 0
        for _ in range(decisions):
            mask = engine.action_mask
            engine.observe()
            with choosing:
                legal = mask[0].nonzero()[0]
                action = int(legal[int(rng.random() * len(legal))])
            hands += bool(engine.step([action]).hand_over[0])
        return decisions, hands

    return play


def play_learner(rules: Rules, seed: int) -> Play:
    """Begin Gymnasium's usual loop for one seat against random opponents; the decisions of all players count."""
    env: Any = gymnasium.make(gymnasium_id(rules.name, rules.version), opponents="random", **rules.knobs)
    env.reset(seed=seed)
    engine, rng = env.unwrapped.engine, np.random.default_rng(seed)

    def play(decisions: int, choosing: Choosing) -> tuple[int, int]:
        played = hands = 0
        while played < decisions:
            before = int(engine.moves(_FIRST)[0])
            info: dict[str, Any] = env.reset()[1]
            over = False
            while not over:
                with choosing:
                    legal = info["action_mask"].nonzero()[0]
                    action = int(legal[int(rng.random() * len(legal))])
                _, _, terminated, truncated, info = env.step(action)
                over = terminated or truncated
            played += int(engine.moves(_FIRST)[0]) - before - 1  # the deal counts as a move, too
            hands += 1
        return played, hands

    return play


# --- Other environments -------------------------------------------------------------------------------------------
def peers() -> list[Contender]:
    """Return contenders that play RLCard's mahjong and RiichiEnv at random, one game at a time, as these offer no more.

    Raises:
        MissingExtraError: these environments are not installed.
    """
    try:
        import riichienv  # noqa: F401
        import rlcard  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            f"the comparison needs {error.name}: pip install 'mahjong-env[bench]', or leave it out with --no-peers"
        ) from error
    return [
        Contender(RLCARD, play_rlcard, 100),
        Contender(RIICHI, lambda seed: play_riichi(seed, observes=False), 1000),
        Contender(RIICHI_SEEN, lambda seed: play_riichi(seed, observes=True), 1000),
        Contender(RLCARD + LOOP, play_rlcard, 100, counts_choosing=True),
        Contender(RIICHI_SEEN + LOOP, lambda seed: play_riichi(seed, observes=True), 1000, counts_choosing=True),
    ]


def play_rlcard(seed: int) -> Play:
    """Begin RLCard's own loop, in which `step` returns the next player's observation and legal actions."""
    import rlcard

    env, rng = rlcard.make("mahjong", {"seed": seed}), np.random.default_rng(seed)
    state, _ = env.reset()

    def play(decisions: int, choosing: Choosing) -> tuple[int, int]:
        nonlocal state
        hands = 0
        with redirect_stdout(io.StringIO()):  # RLCard prints when somebody has no legal action
            for _ in range(decisions):
                with choosing:
                    legal = list(state["legal_actions"])
                    action = legal[int(rng.random() * len(legal))]
                state, _ = env.step(action)
                if env.is_over():
                    env.get_payoffs()
                    state, _ = env.reset()
                    hands += 1
        return decisions, hands

    return play


def play_riichi(seed: int, *, observes: bool) -> Play:
    """Begin a loop over RiichiEnv; several players may be asked at once, and each answer counts as a decision."""
    from riichienv import RiichiEnv

    env = RiichiEnv(game_mode="4p-red-single", skip_mjai_logging=True, seed=seed)
    asked, rng = env.reset(), np.random.default_rng(seed)

    def play(decisions: int, choosing: Choosing) -> tuple[int, int]:
        nonlocal asked
        played = hands = 0
        while played < decisions:
            legal = {player: seen.legal_actions() for player, seen in asked.items()}
            if observes:
                for seen in asked.values():
                    seen.mask()
                    np.frombuffer(seen.encode(), np.float32)
            with choosing:
                actions = {player: listed[int(rng.random() * len(listed))] for player, listed in legal.items()}
            played += len(actions)
            asked = env.step(actions)
            if env.done():
                asked = env.reset()
                hands += 1
        return played, hands

    return play
