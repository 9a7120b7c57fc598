"""Other mahjong environments: RLCard's, the same behind PettingZoo's wrappers, and RiichiEnv (the extra ``bench``)."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from typing import Any, Final

import numpy as np

from mahjong_env.aec import wrapped
from mahjong_env.bench.timing import Clock, Contender, play_aec
from mahjong_env.errors import MissingExtraError

RLCARD: Final = "RLCard mahjong"
RLCARD_AEC: Final = "RLCard mahjong behind PettingZoo's wrappers"
RIICHI: Final = "RiichiEnv"
RIICHI_SEEN: Final = "RiichiEnv with mask and observation"


def peer_contenders(seed: int = 0) -> list[Contender]:
    """The peers.

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
        Contender(RLCARD, RLCardPlayer(seed).play, 300, facts={"kind": "step with observation and legal actions"}),
        Contender(RIICHI, RiichiPlayer(seed, observes=False).play, 2000, facts={"kind": "step with legal actions"}),
        Contender(RIICHI_SEEN, RiichiPlayer(seed, observes=True).play, 2000, facts={"kind": "step+mask+observe"}),
    ]
    behind_wrappers = rlcard_aec(seed)
    if behind_wrappers is not None:
        rng = np.random.default_rng(seed)

        def play(decisions: int, clock: Clock) -> int:
            with redirect_stdout(io.StringIO()):
                return play_aec(behind_wrappers, decisions, clock, rng)

        found.insert(1, Contender(RLCARD_AEC, play, 300, facts={"kind": "PettingZoo"}))
    return found


class RLCardPlayer:
    """Random games in RLCard's mahjong; its step gives the observation and the legal actions of the next player."""

    def __init__(self, seed: int) -> None:
        import rlcard

        self.env = rlcard.make("mahjong", {"seed": seed})
        self.state, _ = self.env.reset()
        self.rng = np.random.default_rng(seed)

    def play(self, decisions: int, clock: Clock) -> int:
        """Play that many decisions; see `Contender`."""
        env = self.env
        with redirect_stdout(io.StringIO()):  # it prints when somebody has no legal action
            for _ in range(decisions):
                legal = list(self.state["legal_actions"])
                action = legal[int(self.rng.random() * len(legal))]
                with clock:
                    self.state, _ = env.step(action)
                    if env.is_over():
                        env.get_payoffs()
                        self.state, _ = env.reset()
        return decisions


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


class RiichiPlayer:
    """Random hands of riichi in RiichiEnv; several players may be asked at once, and each answer is a decision."""

    def __init__(self, seed: int, *, observes: bool) -> None:
        from riichienv import RiichiEnv

        self.env = RiichiEnv(game_mode="4p-red-single", skip_mjai_logging=True, seed=seed)
        self.asked = self.env.reset()
        self.observes = observes
        self.rng = np.random.default_rng(seed)

    def play(self, decisions: int, clock: Clock) -> int:
        """Play at least that many decisions; see `Contender`."""
        env, rng, played = self.env, self.rng, 0
        while played < decisions:
            with clock:
                legal = {player: seen.legal_actions() for player, seen in self.asked.items()}
                if self.observes:
                    for seen in self.asked.values():
                        seen.mask()
                        np.frombuffer(seen.encode(), np.float32)
            actions = {player: listed[int(rng.random() * len(listed))] for player, listed in legal.items()}
            played += len(actions)
            with clock:
                self.asked = env.step(actions)
                if env.done():
                    self.asked = env.reset()
        return played
