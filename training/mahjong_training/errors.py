"""The named errors of training and evaluation."""

from mahjong_env import MahjongError


class TrainingError(MahjongError):
    """Settings that cannot be used, or a run folder that cannot be written, found or resumed."""


class WriteError(TrainingError):
    """A file or folder that cannot be written. What was there before is unchanged."""


class RewardError(TrainingError):
    """A reward that does not exist, that cannot be made as asked, or that does not return a number for each learner."""


class BlindSeedError(TrainingError):
    """A blind test that the same agents have already played."""


class DatasetError(TrainingError):
    """A dataset that is missing, damaged, foreign or of another version, or settings that do not fit it."""


class InterruptedRunError(TrainingError):
    """A run that was interrupted. The message says how to resume it; ``status`` is the exit status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class WorkerError(TrainingError):
    """A failure in a worker process. The message includes the traceback from there, if there is one."""

    __str__ = Exception.__str__  # whole
