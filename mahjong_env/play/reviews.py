"""Reviews of matches that are over, made beside play: what every choice of a person was worth, as a page.

Who makes them is found in the entry-point group `mahjong_env.reviewers`; `mahjong_training` registers the one that
plays every choice out again.
"""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from threading import Lock, Thread
from typing import Any, Final, Protocol

from mahjong_env.basics import plugins
from mahjong_env.basics.errors import MahjongError
from mahjong_env.play.match import RequestError, StaleError
from mahjong_env.records import GameRecord

ENTRY_POINTS: Final = "mahjong_env.reviewers"
_ONE_AT_A_TIME: Final = Lock()


class Reviewer(Protocol):
    """Makes a page of a match."""

    def __call__(self, record: GameRecord, person: int, tell: Callable[[int, int], object], play_on: str) -> str:
        """Review the choices of a person.

        Args:
            record: the match.
            person: whose choices.
            tell: is told how many are done, and how many there are; what it raises ends the review.
            play_on: the address that a position is played on from, less the number of actions before it.

        Returns:
            The page.

        Raises:
            MahjongError: there is nothing to review, or something that it takes is missing.
        """
        ...


def reviewer() -> Callable[[], Reviewer] | None:
    """What loads the reviewer that is installed, None if none is; of several, the first one by its name."""
    entries = [entry for some in plugins.installed(ENTRY_POINTS).values() for entry in some]
    return (lambda: plugins.load(entries[0])) if entries else None


class _EndedError(Exception):
    """Nobody waits for the review any more."""


class Review:
    """A review that is being made, in a thread of its own; one at a time, as each wants a processor.

    Attributes:
        error: why there is none.
    """

    def __init__(self, find: Callable[[], Reviewer], record: GameRecord, person: int, name: str) -> None:
        """Begin.

        Args:
            find: loads the reviewer.
            record: the match.
            person: whose choices.
            name: of the game, for the page's way back.
        """
        self.error: str | None = None
        self._done, self._of, self._page, self._is_ended = 0, 0, "", False
        self._find, self._about = find, (record, person, self._tell, f"../../../#{name},")
        Thread(target=self._make, daemon=True).start()

    def state(self) -> dict[str, Any]:
        """How far it is: choices ``done`` of ``of`` (0: not known yet), whether it ``isReady``, and the ``error``."""
        return {"done": self._done, "of": self._of, "isReady": bool(self._page), "error": self.error}

    def page(self) -> str:
        """The page.

        Raises:
            StaleError: it is not ready.
            RequestError: there will be none.
        """
        if self.error is not None:
            raise RequestError(HTTPStatus.NOT_FOUND, self.error, "unreviewed")
        if not self._page:
            raise StaleError("the review is still being made", "reviewing")
        return self._page

    def end(self) -> None:
        """Stop making it."""
        self._is_ended = True

    def _tell(self, done: int, of: int) -> None:
        if self._is_ended:
            raise _EndedError
        self._done, self._of = done, of

    def _make(self) -> None:
        try:
            with _ONE_AT_A_TIME:
                self._page = self._find()(*self._about)
        except _EndedError:
            self.error = "the review was ended"
        except MahjongError as error:
            self.error = str(error)
        except BaseException as error:
            self.error = f"{type(error).__name__}: {error}"
            raise
