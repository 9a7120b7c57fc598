"""The matches that pages play, and the answers to what pages ask; the page's own server or a tab passes them on."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping
from http import HTTPStatus
from threading import Lock
from typing import Any, Final

from mahjong_env.basics.errors import MahjongError
from mahjong_env.play.lobby import Lobby, sheet
from mahjong_env.play.match import PersonsMatch, PlayError, RequestError, StaleError
from mahjong_env.play.reviews import Review, Reviewer

_MOST: Final = 32


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
        self._games: OrderedDict[str, tuple[PersonsMatch, Lock]] = OrderedDict()
        self._reviews: dict[str, Review] = {}

    def begin(self, wanted: Mapping[str, Any]) -> str:
        """A new game; the oldest one is left where there are too many. Its name."""
        new = self.new_match
        return self._add(new.match(wanted) if isinstance(new, Lobby) else new())

    def _add(self, match: PersonsMatch) -> str:
        name, left = secrets.token_urlsafe(8), []
        with self._lock:
            self._games[name] = match, Lock()
            if len(self._games) > _MOST:
                oldest, game = self._games.popitem(last=False)
                left.append(game)
                self._end_review(oldest)
        self._leave(left)
        return name

    def leave(self) -> None:
        """Leave all matches, and end their reviews."""
        with self._lock:
            games, self._games = list(self._games.values()), OrderedDict()
            for name in list(self._reviews):
                self._end_review(name)
        self._leave(games)

    def _end_review(self, name: str) -> None:
        if (review := self._reviews.pop(name, None)) is not None:
            review.end()

    @staticmethod
    def _leave(games: list[tuple[PersonsMatch, Lock]]) -> None:
        for match, lock in games:
            with lock:
                match.leave()

    def game(self, name: str) -> tuple[PersonsMatch, Lock]:
        """A game, and the lock under which it is played.

        Raises:
            RequestError: there is none of this name.
        """
        with self._lock:
            if name not in self._games:
                raise RequestError(
                    HTTPStatus.NOT_FOUND,
                    "there is no such game (any more): begin a new match",
                    "gone",
                )
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
        match, lock = self.game(parts[1])
        if parts[2:] == ["rules"] and method == "POST":
            return sheet(match.rules, body)
        if parts[2:] == ["review"]:
            return self.review(parts[1], begin=method == "POST").state()
        if parts[2:] == ["on"] and method == "POST":
            with lock:
                on = match.play_on(_number(body, "played"))
            return self.go_on(on)
        with lock:
            if len(parts) == 2 and method == "GET":
                return {"table": match.about(), **match.state(), **self._offered(parts[1])}
            if method != "POST":
                raise RequestError(HTTPStatus.NOT_FOUND, "there is nothing here")
            return {**self._play(match, parts[2], body), **self._offered(parts[1])}

    def go_on(self, match: PersonsMatch) -> dict[str, Any]:
        """The answer to a page that goes on with a match."""
        return self._opened(self._add(match))

    def _opened(self, name: str) -> dict[str, Any]:
        match, lock = self.game(name)
        with lock:
            return {"game": name, "table": match.about(), **match.state(), **self._offered(name)}

    def _offered(self, name: str) -> dict[str, Any]:
        """Whether a match can be reviewed when it is over, and how far its review is."""
        review = self._reviews.get(name)
        return {"canReview": self.reviewer is not None, "review": review and review.state()}

    def review(self, name: str, *, begin: bool = False) -> Review:
        """The review of a match that is over; ``begin`` begins it if there is none, or if it has failed.

        Raises:
            StaleError: the match is not over.
            RequestError: there is no such match, no review of it, or nobody who reviews.
        """
        match, lock = self.game(name)
        with lock:
            record = match.played()
        with self._lock:
            review = self._reviews.get(name)
            if begin and self.reviewer is not None and (review is None or review.error is not None):
                review = self._reviews[name] = Review(self.reviewer, record, match.person, name)
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
        match, lock = self.game(name)
        with lock:
            return f"{match.played().to_json()}\n"


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
