"""Recorded games as a teacher: what a warm start may imitate."""

from __future__ import annotations

from collections.abc import Sequence

from mahjong_env import Rules
from mahjong_training.config import TrainSb3Config
from mahjong_training.datasets.reading import Decisions, open_dataset
from mahjong_training.errors import DatasetError


def recorded_games(config: TrainSb3Config, rules: Rules) -> Decisions | None:
    """Return the recorded games that a run imitates; None if it watches a teacher.

    Raises:
        DatasetError: they are of other rules, or do not fit the other settings.
    """
    if not config.dataset:
        return None
    found = open_dataset(*config.dataset)
    for part in found.parts:
        if part.settings.rules != rules:
            played = part.settings.rules
            raise DatasetError(
                f"{part.folder}: games of {played.name} with the house rules {dict(played.knobs)}; "
                f"the run plays {rules.name} with {dict(rules.knobs)}"
            )
    if config.shaping or config.gamma != 1 or config.reward != "points":
        raise DatasetError(
            "--dataset has undiscounted returns of points: it goes without --shaping and --reward, and with --gamma 1"
        )
    if config.teacher is not None and config.teacher not in found.agents:
        raise DatasetError(f"--teacher {config.teacher} is not in the dataset; there are {', '.join(found.agents)}")
    return found


def teachers_in(recorded: Decisions, teachers: Sequence[str]) -> tuple[str, ...]:
    """Return those teachers whose games are recorded; all agents that were recorded, if none of them is."""
    return tuple(spec for spec in teachers if spec in recorded.agents) or recorded.agents
