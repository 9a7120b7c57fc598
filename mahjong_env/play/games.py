"""The matches that pages play, their reviews, and the answers to what pages ask; a server or a tab passes them on."""

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
"""The entry-point group of those who review matches; `mahjong_training` registers one that plays every choice out."""
_MOST: Final = 32
_ONE_AT_A_TIME: Final = Lock()


@dataclass
class Game:
    """One match of a page.

    Attributes:
        match: what is played.
        lock: held while it is played.
        review: of the match, once somebody has asked for one.
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
        new_match: begins a match, or the lobby in which a person chooses one.
    """

    def __init__(
        self, new_match: Callable[[], PersonsMatch] | Lobby, reviewer: Callable[[], Reviewer] | None = None
    ) -> None:
        """Begin without matches; ``reviewer`` finds who reviews those that are over, None: nobody."""
        self.new_match = new_match
        self.lobby = new_match if isinstance(new_match, Lobby) else None
        self.reviewer = reviewer
        self._lock = Lock()
        self._games: dict[str, Game] = {}

    def begin(self, wanted: Mapping[str, Any]) -> str:
        """A new game; the oldest one is left where there are too many. Its name."""
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
        """The game of a name.

        Raises:
            RequestError: there is none.
        """
        with self._lock:
            if name not in self._games:
                raise RequestError(HTTPStatus.NOT_FOUND, "there is no such game (any more): begin a new match", "gone")
            return self._games[name]

    def told(self, method: str, parts: list[str], body: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a request.

        Args:
            method: "GET" or "POST".
            parts: of the address.
            body: what comes with it.

        Raises:
            MahjongError: it cannot be answered; `refused` says how that is told.
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
        """The answer to a page that goes on with a match."""
        return self._opened(self._add(match))

    def _opened(self, name: str) -> dict[str, Any]:
        return {"game": name, **self.told("GET", ["games", name], {})}

    def _offered(self, game: Game) -> dict[str, Any]:
        """Whether a match can be reviewed when it is over, and how far its review is."""
        return {"canReview": self.reviewer is not None, "review": game.review and game.review.state()}

    def review(self, name: str, *, begin: bool = False) -> Review:
        """The review of a match that is over; ``begin`` begins it if there is none, or if it has failed.

        Raises:
            StaleError: the match is not over.
            RequestError: there is no such match, no review of it, or nobody who reviews.
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
        """The record of a match that is over, a line.

        Raises:
            StaleError: it is not over.
            RequestError: there is none of this name.
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
    """How a page is told that a request could not be answered: a status, and an error with its code."""
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
    entries = [entry for some in plugins.installed(REVIEWERS).values() for entry in some]
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
