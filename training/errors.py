"""The named errors of training and evaluation."""

from mahjong_env import MahjongError


class TrainingError(MahjongError):
    """Settings that cannot be used, or a run folder that cannot be written, found or continued."""
