"""An agent of one's own, by import or as ``FILE:CLASS``."""

from pathlib import Path

from mahjong_env import NUM_ACTIONS


class LastLegal:
    """Takes the last legal action, without randomness: it passes where it can, else wins, and else discards honours."""

    def __init__(self, name: str = "last"):
        self.name = name

    def act(self, view, rng):
        return NUM_ACTIONS - 1 - view.action_mask[:, ::-1].argmax(axis=1)


LAST_LEGAL = f"{Path(__file__)}:LastLegal"
