"""The matches that pages play, their reviews, and the answers to the pages' requests, for a server or a tab."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from threading import Lock, Thread
from typing import Any, Final, Protocol

from mahjong_env.basics import plugins
from mahjong_env.basics.errors import MahjongError
from mahjong_env.play.lobby import Lobby, sheet
from mahjong_env.play.match import PersonsMatch, PlayError, RequestError, StaleError
from mahjong_env.records import GameRecord

REVIEWERS: Final = "mahjong_env.reviewers"
"""The entry-point group of reviewers of matches; `mahjong_training` registers one that plays every choice out."""
_MOST: Final = 32
_ONE_AT_A_TIME: Final = Lock()


@dataclass
class Game:
    """One match of a page.

    Attributes:
        match: the match.
        lock: held while the match is used.
        review: the review of the match, once somebody has asked for one.
    """

    match: PersonsMatch
    lock: Lock = field(default_factory=Lock)
    review: Review | None = None

    def leave(self) -> None:
        """Leave the match, and end its review."""
        if self.review is not None:
            self.review.end()
        with self.lock:
            self.match.leave()


class Games:
    """Matches by name; each page plays its own.

    Attributes:
        new_match: the function that begins a match, or the lobby in which a person chooses one.
    """

    def __init__(
        self, new_match: Callable[[], PersonsMatch] | Lobby, reviewer: Callable[[], Reviewer] | None = None
    ) -> None:
        """Begin without matches; ``reviewer`` loads the reviewer of finished matches, None for no reviews."""
        self.new_match = new_match
        self.lobby = new_match if isinstance(new_match, Lobby) else None
        self.reviewer = reviewer
        self._lock = Lock()
        self._games: dict[str, Game] = {}

    def begin(self, wanted: Mapping[str, Any]) -> str:
        """Begin a new game and return its name; if there are too many, the oldest one is left."""
        new = self.new_match
        return self._add(new.match(wanted) if isinstance(new, Lobby) else new())

    def _add(self, match: PersonsMatch) -> str:
        name, oldest = secrets.token_urlsafe(8), None
        with self._lock:
            self._games[name] = Game(match)
            if len(self._games) > _MOST:
                oldest = self._games.pop(next(iter(self._games)))
        if oldest is not None:
            oldest.leave()
        return name

    def leave(self) -> None:
        """Leave all matches, and end their reviews."""
        with self._lock:
            games, self._games = self._games, {}
        for game in games.values():
            game.leave()

    def game(self, name: str) -> Game:
        """Return the game of a name.

        Raises:
            RequestError: there is no such game.
        """
        with self._lock:
            if name not in self._games:
                raise RequestError(HTTPStatus.NOT_FOUND, "there is no such game (any more): begin a new match", "gone")
            return self._games[name]

    def told(self, method: str, parts: list[str], body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a request.

        Args:
            method: "GET" or "POST".
            parts: the parts of the address.
            body: the body of the request.

        Raises:
            MahjongError: the request cannot be answered; `refused` makes the answer from the error.
        """
        if parts == ["games"] and method == "POST":
            return self._opened(self.begin(body))
        if parts == ["rules"] and method == "POST" and self.lobby:
            return self.lobby.look(body)
        if parts[0] != "games" or len(parts) not in (2, 3):
            raise RequestError(HTTPStatus.NOT_FOUND, "there is nothing here")
        game = self.game(parts[1])
        if parts[2:] == ["rules"] and method == "POST":
            return sheet(game.match.rules, body)
        if parts[2:] == ["review"]:
            return self.review(parts[1], begin=method == "POST").state()
        if parts[2:] == ["on"] and method == "POST":
            with game.lock:
                on = game.match.play_on(_number(body, "played"))
            return self.go_on(on)
        with game.lock:
            if len(parts) == 2 and method == "GET":
                return {"table": game.match.about(), **game.match.state(), **self._offered(game)}
            if method != "POST":
                raise RequestError(HTTPStatus.NOT_FOUND, "there is nothing here")
            return {**self._play(game.match, parts[2], body), **self._offered(game)}

    def go_on(self, match: PersonsMatch) -> dict[str, Any]:
        """Add a match that is resumed, and return the answer to its page."""
        return self._opened(self._add(match))

    def _opened(self, name: str) -> dict[str, Any]:
        return {"game": name, **self.told("GET", ["games", name], {})}

    def _offered(self, game: Game) -> dict[str, Any]:
        """Return whether a match can be reviewed when it is over, and how far its review is."""
        return {"canReview": self.reviewer is not None, "review": game.review and game.review.state()}

    def review(self, name: str, *, begin: bool = False) -> Review:
        """Return the review of a match that is over; ``begin`` starts one if there is none, or if it has failed.

        Raises:
            StaleError: the match is not over.
            RequestError: there is no such match, no review of it, or no reviewer.
        """
        game = self.game(name)
        with game.lock:
            record, review = game.match.played(), game.review
            if begin and self.reviewer is not None and (review is None or review.error is not None):
                review = game.review = Review(self.reviewer, record, game.match.person, name)
        if review is None:
            raise RequestError(HTTPStatus.NOT_FOUND, "there is no review of this match", "unreviewed")
        return review

    @staticmethod
    def _play(match: PersonsMatch, verb: str, body: Mapping[str, Any]) -> dict[str, Any]:
        position, action = _number(body, "position"), body.get("action")
        if verb == "answer":
            match.answer(position, str(action))
        elif verb == "next":
            match.next_hand(position)
        elif verb == "hint":
            return match.hint(position)
        else:
            raise RequestError(HTTPStatus.NOT_FOUND, "there is nothing here")
        return match.state()

    def record(self, name: str) -> str:
        """Return the record of a match that is over, as one line.

        Raises:
            StaleError: the match is not over.
            RequestError: there is no match of this name.
        """
        game = self.game(name)
        with game.lock:
            return f"{game.match.played().to_json()}\n"


def _number(body: Mapping[str, Any], name: str) -> int:
    found = body.get(name)
    if not isinstance(found, int) or isinstance(found, bool):
        raise RequestError(HTTPStatus.BAD_REQUEST, f"{name} is an integer, not {found!r}")
    return found


def refused(error: Exception) -> tuple[HTTPStatus, dict[str, str]]:
    """Return the answer to a request that failed: a status, and the error message with its code."""
    told = {"error": str(error) or type(error).__name__}
    if isinstance(error, PlayError):
        told["code"] = error.code
    if isinstance(error, RequestError):
        return error.status, told
    if isinstance(error, StaleError):
        return HTTPStatus.CONFLICT, told
    return HTTPStatus.BAD_REQUEST if isinstance(error, MahjongError) else HTTPStatus.INTERNAL_SERVER_ERROR, told


# --- Reviews ---------------------------------------------------------------------------------------------------------


class Reviewer(Protocol):
    """The interface of reviewers, which make a page of a match."""

    def __call__(self, record: GameRecord, person: int, tell: Callable[[int, int], object], play_on: str) -> str:
        """Review the choices of a person.

        Args:
            record: the match.
            person: the person whose choices are reviewed.
            tell: is called with the number of choices that are done and the number of all; an exception that it raises
                ends the review.
            play_on: the address at which a position can be played on, without the number of actions before it.

        Returns:
            The page.

        Raises:
            MahjongError: there is nothing to review, or the review needs something that is missing.
        """
        ...


def reviewer() -> Callable[[], Reviewer] | None:
    """Return a function that loads the installed reviewer, the first by name of several; None if there is none."""
    entries = [entry for some in plugins.installed(REVIEWERS).values() for entry in some]
    return (lambda: plugins.load(entries[0])) if entries else None


class _EndedError(Exception):
    """The review is no longer wanted."""


class Review:
    """A review that is made in a thread of its own; only one is made at a time, as each uses a whole processor core.

    Attributes:
        error: why there is no review, None unless it has failed.
    """

    def __init__(self, find: Callable[[], Reviewer], record: GameRecord, person: int, name: str) -> None:
        """Start the review.

        Args:
            find: loads the reviewer.
            record: the match.
            person: the person whose choices are reviewed.
            name: the name of the game, to which the page links back.
        """
        self.error: str | None = None
        self._done, self._of, self._page, self._is_ended = 0, 0, "", False
        self._find, self._about = find, (record, person, self._tell, f"../../../#{name},")
        Thread(target=self._make, daemon=True).start()

    def state(self) -> dict[str, Any]:
        """Return the progress: ``done`` of ``of`` choices (0 if not known yet), ``isReady``, and the ``error``."""
        return {"done": self._done, "of": self._of, "isReady": bool(self._page), "error": self.error}

    def page(self) -> str:
        """Return the page.

        Raises:
            StaleError: it is not ready.
            RequestError: the review has failed.
        """
        if self.error is not None:
            raise RequestError(HTTPStatus.NOT_FOUND, self.error, "unreviewed")
        if not self._page:
            raise StaleError("the review is still being made", "reviewing")
        return self._page

    def end(self) -> None:
        """Stop making the review."""
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
            self.error = "the review was stopped"
        except MahjongError as error:
            self.error = str(error)
        except BaseException as error:
            self.error = f"{type(error).__name__}: {error}"
            raise
