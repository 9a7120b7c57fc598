"""An agent of one's own, by import or as ``FILE:CLASS``."""

from pathlib import Path

from mahjong_env import NUM_ACTIONS


class LastLegal:
    """Takes the last action that is legal, without any chance: wins, passes where it can, and else discards honours."""

    def __init__(self, name: str = "last"):
        self.name = name

    def act(self, view, rng):
        return NUM_ACTIONS - 1 - view.action_mask[:, ::-1].argmax(axis=1)


LAST_LEGAL = f"{Path(__file__)}:LastLegal"
