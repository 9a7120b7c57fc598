"""Other mahjong environments: RLCard's, the same behind PettingZoo's wrappers, and RiichiEnv (the extra ``bench``)."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from typing import Any, Final

import numpy as np

from mahjong_benchmarks.timing import Contender, Meter, Player, play_aec
from mahjong_env.basics.errors import MissingExtraError
from mahjong_env.environments.aec import wrapped

RLCARD: Final = "RLCard mahjong"
RLCARD_AEC: Final = "RLCard mahjong behind PettingZoo's wrappers"
RIICHI: Final = "RiichiEnv"
RIICHI_SEEN: Final = "RiichiEnv with mask and observation"


def peer_contenders() -> list[Contender]:
    """The peers, all played at random.

    Raises:
        MissingExtraError: they are not installed.
    """
    try:
        import riichienv  # noqa: F401 the players below import what they need of it
        import rlcard  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            f"the comparison needs {error.name}: pip install 'mahjong-env[bench]', or leave it out with --no-peers"
        ) from error
    found = [
        Contender(RLCARD, RLCardPlayer, 100, facts={"kind": "step with observation and legal actions"}),
        Contender(
            RIICHI, lambda seed: RiichiPlayer(seed, observes=False), 1000, facts={"kind": "step with legal actions"}
        ),
        Contender(
            RIICHI_SEEN, lambda seed: RiichiPlayer(seed, observes=True), 1000, facts={"kind": "step+mask+observe"}
        ),
    ]
    if rlcard_aec(0) is not None:
        found.insert(1, Contender(RLCARD_AEC, RLCardAECPlayer, 100, facts={"kind": "PettingZoo"}))
    return found


class RLCardPlayer(Player):
    """Random games in RLCard's mahjong; its step gives the observation and the legal actions of the next player."""

    def __init__(self, seed: int) -> None:
        import rlcard

        self.env = rlcard.make("mahjong", {"seed": seed})
        self.state, _ = self.env.reset()
        self.rng = np.random.default_rng(seed)

    def play(self, decisions: int, meter: Meter) -> None:
        """Play that many decisions; see `mahjong_benchmarks.timing.Player`."""
        env = self.env
        with redirect_stdout(io.StringIO()):  # it prints when somebody has no legal action
            for _ in range(decisions):
                with meter.agent:
                    legal = list(self.state["legal_actions"])
                    action = legal[int(self.rng.random() * len(legal))]
                with meter.environment:
                    self.state, _ = env.step(action)
                    if env.is_over():
                        env.get_payoffs()
                        self.state, _ = env.reset()
                        meter.hands += 1
        meter.decisions += decisions


class RLCardAECPlayer(Player):
    """Random games in RLCard's mahjong behind PettingZoo's wrappers."""

    def __init__(self, seed: int) -> None:
        self.env = rlcard_aec(seed)
        self.rng = np.random.default_rng(seed)

    def play(self, decisions: int, meter: Meter) -> None:
        """Play that many decisions; see `mahjong_benchmarks.timing.Player`."""
        with redirect_stdout(io.StringIO()):
            play_aec(self.env, decisions, meter, self.rng)


def rlcard_aec(seed: int) -> Any:
    """RLCard's mahjong as PettingZoo wraps RLCard's games, behind the wrappers that `env()` has here.

    None if this PettingZoo no longer wraps RLCard's games.
    """
    try:
        from pettingzoo.classic.rlcard_envs.rlcard_base import RLCardBase
    except ImportError:
        return None

    class RLCardMahjong(RLCardBase):
        metadata = {"name": "rlcard_mahjong", "render_modes": [], "is_parallelizable": False}  # noqa: RUF012

        def __init__(self) -> None:
            self.render_mode = None
            super().__init__("mahjong", 4, (6, 34, 4))

    env = wrapped(RLCardMahjong())
    env.reset(seed=seed)
    return env


class RiichiPlayer(Player):
    """Random hands of riichi in RiichiEnv; several players may be asked at once, and each answer is a decision."""

    def __init__(self, seed: int, *, observes: bool) -> None:
        from riichienv import RiichiEnv

        self.env = RiichiEnv(game_mode="4p-red-single", skip_mjai_logging=True, seed=seed)
        self.asked = self.env.reset()
        self.observes = observes
        self.rng = np.random.default_rng(seed)

    def play(self, decisions: int, meter: Meter) -> None:
        """Play at least that many decisions; see `mahjong_benchmarks.timing.Player`."""
        env, rng, played = self.env, self.rng, 0
        while played < decisions:
            with meter.environment:
                legal = {player: seen.legal_actions() for player, seen in self.asked.items()}
                if self.observes:
                    for seen in self.asked.values():
                        seen.mask()
                        np.frombuffer(seen.encode(), np.float32)
            with meter.agent:
                actions = {player: listed[int(rng.random() * len(listed))] for player, listed in legal.items()}
            played += len(actions)
            with meter.environment:
                self.asked = env.step(actions)
                if env.done():
                    self.asked = env.reset()
                    meter.hands += 1
        meter.decisions += played
