"""The named errors of training and evaluation."""

from mahjong_env import MahjongError


class TrainingError(MahjongError):
    """Settings that cannot be used, or a run folder that cannot be written, found or continued."""


class WriteError(TrainingError):
    """A file or folder that cannot be written; what stood there is as it was."""


class RewardError(TrainingError):
    """A reward that does not exist, that cannot be made as asked, or that does not return a number for each learner."""


class BlindSeedError(TrainingError):
    """Deals of a blind test that the same agents have played before."""


class DatasetError(TrainingError):
    """A dataset that is missing, damaged, foreign or of another version, or settings that do not fit it."""


class InterruptedRunError(TrainingError):
    """A run that was told to stop; the message says how to go on, ``status`` is the exit status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class WorkerError(TrainingError):
    """Something went wrong in a worker process; the message has the traceback from there."""

    __str__ = Exception.__str__  # whole
