"""What ``bench`` measures: engines with many games, loops over one game, and other mahjong environments."""

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
from mahjong_env.ruleset.questions import Rules

RLCARD: Final = "RLCard mahjong"
RIICHI: Final = "RiichiEnv"
RIICHI_SEEN: Final = "RiichiEnv, mask and observation"
LOOP: Final = " (loop)"

# Games that were all dealt in the same moment end together too: with random play nearly every hand ends with the
# wall, in waves a hundred steps apart, and a rate taken between two waves knows nothing of dealing. So every game
# first plays a number of decisions of its own, the sum of two numbers below this one. It need not be the length of a
# hand: about that or longer is enough, as the sum of two leaves no edges that would come back as a wave.
HEAD_START: Final = 128

Choosing = AbstractContextManager[Any]
_FIRST: Final = np.zeros(1, np.intp)


# --- Many games ------------------------------------------------------------------------------------------------------
class WarmGames:
    """Games in the middle of their hands, each somewhere else; all batch sizes and runs begin from copies of them."""

    def __init__(self, rules: Rules, number: int, play: str) -> None:
        """Find the agent.

        Args:
            rules: what is played.
            number: how many games.
            play: who plays, a name for `find_agent`.

        Raises:
            MahjongError: there is no such agent.
        """
        self.rules, self.agent = rules, find_agent(play)
        self._number = number
        self._engine: Engine | None = None

    def copy(self, batch: int) -> Engine:
        """Return an engine with some of the games. The first call plays them so far, which takes seconds."""
        if self._engine is None:
            self._engine, rng = Engine(self.rules, self._number, seed=0, auto_reset=True), np.random.default_rng(0)
            ahead = rng.integers(0, HEAD_START, (2, self._number)).sum(axis=0)
            for step in range(ahead.max(initial=0)):
                games = np.flatnonzero(ahead > step)
                self._engine.step(choose(self._engine, self.agent, rng, games), games)
        return self._engine.select(np.arange(batch))


def choose(engine: Engine, agent: Opponent, rng: np.random.Generator, games: Games | None = None) -> Int64Array:
    """[n] the actions that an agent chooses in all or some games; random play needs no view."""
    if isinstance(agent, RandomAgent):
        return choose_at_random(engine.action_mask if games is None else engine.action_mask[games], rng)
    return np.asarray(agent.act(engine.view(games), rng))


def many_games(rules: Rules, batches: tuple[int, ...], play: str) -> list[Contender]:
    """The engine at several batch sizes, without and with observations.

    Random play is set against random play of peers by the environment's time alone; of agents, choosing counts too.
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
                engine.action_mask  # noqa: B018 looking at it is what is timed
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


# --- One game, as anybody would write the loop: all that happens is timed ------------------------------------------
def one_game(rules: Rules) -> list[Contender]:
    """Loops over one game at random: `env()`, the engine with mask and observation, `gymnasium.make`."""
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
    """Begin PettingZoo's usual loop over `env()`: `agent_iter`, `last`, `step`; hands are played to their end."""
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
    """Begin a loop over an engine with one game: mask, observation, step."""
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
    """Begin Gymnasium's usual loop over one seat against random opponents; the decisions of all players count."""
    identifier = f"mahjong_env/{rules.name.capitalize()}-v{rules.version}"
    env: Any = gymnasium.make(identifier, opponents="random", **rules.knobs)
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
            played += int(engine.moves(_FIRST)[0]) - before - 1  # the deal is a move too
            hands += 1
        return played, hands

    return play


# --- Other environments -------------------------------------------------------------------------------------------
def peers() -> list[Contender]:
    """RLCard's mahjong and RiichiEnv, all played at random, one game at a time: that is what they offer.

    Raises:
        MissingExtraError: they are not installed.
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
    """Begin RLCard's own loop: `step` gives the next player's observation and legal actions."""
    import rlcard

    env, rng = rlcard.make("mahjong", {"seed": seed}), np.random.default_rng(seed)
    state, _ = env.reset()

    def play(decisions: int, choosing: Choosing) -> tuple[int, int]:
        nonlocal state
        hands = 0
        with redirect_stdout(io.StringIO()):  # it prints when somebody has no legal action
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
    """Begin hands of riichi; several players may be asked at once, and each answer is a decision."""
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
