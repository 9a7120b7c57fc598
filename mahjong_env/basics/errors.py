"""The named errors of the package: one class per kind of wrong input.

Every mistake of a caller raises one of these, and all of them are ``ValueError``. The message says what was wrong,
where, and what would have been valid. When the error is raised, nothing has changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

_BEGINNING: Final = 600
_END: Final = 300
_LEFT_OUT: Final = " [...] "


def did_you_mean(given: object, known: Iterable[str]) -> str:
    """Return the end of a message that refuses a name: ". Did you mean 'hebei'?", or "" if no known name is close."""
    close = get_close_matches(str(given).lower(), list(known), 1)
    return f". Did you mean {close[0]!r}?" if close else ""


class MahjongError(ValueError):
    """Base class of the package's errors.

    Messages quote what they refuse, however long it is. Only the beginning and the end of a long message are shown.
    """

    def __str__(self) -> str:
        """Return the message, shortened if it is too long to read."""
        message = super().__str__()
        is_long = len(message) > _BEGINNING + len(_LEFT_OUT) + _END
        return f"{message[:_BEGINNING]}{_LEFT_OUT}{message[-_END:]}" if is_long else message


def told(error: MahjongError) -> str:
    """Return what a command prints of an error: its message, and its notes, such as which agent had been asked."""
    return "\n".join([f"error: {error}", *getattr(error, "__notes__", ())])


class NotationError(MahjongError):
    """A text that is not tile, meld or action notation."""


class RulesError(MahjongError):
    """An unknown variant, an unknown knob, or a value that a knob does not have."""


class RenderModeError(RulesError, TypeError):
    """A render mode that an environment does not have.

    It is also a `TypeError`: Stable-Baselines3 tries "rgb_array" first, and continues without it only after a
    `TypeError`.
    """


class OptionError(MahjongError):
    """An option of ``reset`` that does not exist, or a value that it cannot have."""


class DealError(MahjongError):
    """A deal that cannot be dealt: a fifth tile of a kind, a wrong number of tiles, contradictory settings."""


class HandError(MahjongError):
    """A described hand that cannot exist, or that contradicts itself."""


class ActionError(MahjongError):
    """Actions of the wrong shape or type."""


class IllegalActionError(ActionError):
    """An action that the rules do not allow now. Names the game, the seat and the action."""


class AgentError(MahjongError):
    """An agent that does not exist, that cannot be made as asked, or whose answer cannot be played. Names the agent."""


class AnswerError(AgentError):
    """An agent's answer that cannot be played. Names the agent, the game and the seat.

    Attributes:
        game: the number of the (first) game in its engine.
    """

    def __init__(self, message: str, game: int) -> None:
        """Keep the game with the message."""
        super().__init__(message)
        self.game = game

    def __reduce__(self) -> tuple[type[AnswerError], tuple[str, int]]:
        """Pickle the error with its game, as errors travel between processes."""
        return type(self), (str(self), self.game)


class ViewError(MahjongError):
    """A view that cannot give the worlds it is asked for: its games have moved on, or a seat is not to act."""


class SnapshotError(MahjongError):
    """A snapshot that is corrupt, or of another variant, other rules or another version."""


class RecordError(MahjongError):
    """A record of a game that is damaged, foreign, of another version, or cannot be written. Names the line."""


class MissingExtraError(MahjongError, ImportError):
    """A feature whose optional packages are not installed. Names the ``pip install`` line."""
