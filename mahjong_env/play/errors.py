"""What a player's page is told when it asks for what cannot be done."""

from __future__ import annotations

from http import HTTPStatus

from mahjong_env.basics.errors import MahjongError


class PlayError(MahjongError):
    """Something that a person cannot do.

    Attributes:
        code: a word for it, by which the page finds the message in the other language.
    """

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class StaleError(PlayError):
    """An answer to another question than the one that is being asked."""


class RequestError(PlayError):
    """A request that cannot be answered.

    Attributes:
        status: of the answer.
    """

    def __init__(self, status: HTTPStatus, message: str, code: str = "request") -> None:
        super().__init__(message, code)
        self.status = status
