"""The named errors of training and evaluation."""

from mahjong_env import MahjongError


class TrainingError(MahjongError):
    """Settings that cannot be used, or a run folder that cannot be written, found or continued."""


class WorkerError(TrainingError):
    """Something went wrong in a worker process; the message has the traceback from there."""
