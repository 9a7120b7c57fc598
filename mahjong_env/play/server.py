"""A server for the page on which a person plays, reachable only from this machine's own browser.

It is the server of the standard library, on the loopback address. Every address that it answers begins with a random
token, which only the person who started it knows. It never reads a file that a request names. It answers only requests
that name it as their host; those that change something must also come as JSON from its own page. Each page plays its
own game.
"""

from __future__ import annotations

import hmac
import html
import json
import secrets
import sys
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from mahjong_env.basics.errors import MahjongError
from mahjong_env.play.games import Games, Reviewer, refused
from mahjong_env.play.lobby import Lobby
from mahjong_env.play.match import DOWNLOAD, PersonsMatch, RequestError
from mahjong_env.viewer.page import POLICY, document_html, page_html, part

PAGE_POLICY: Final = f"{POLICY}; connect-src 'self'"


def play_html(lobby: Lobby | None = None, *, reach: str = "", policy: str = PAGE_POLICY) -> str:
    """Return the page, which loads nothing and asks its server for everything that happens.

    Args:
        lobby: the choices before a match; None for none.
        reach: a script that replaces the server by something else.
        policy: the content security policy of the page.
    """
    return page_html(
        "mahjong_env: play",
        choices=part("buttons.html", "play"),
        main=part("page.html", "play"),
        # Hidden tiles are never sent, so that the page need not hide them.
        data={"agents": [], "hidesConcealedKongs": False, "lobby": lobby and lobby.offer},
        script=part("table.js") + part("receipt.js") + part("lobby.js", "play") + reach + part("page.js", "play"),
        policy=policy,
    )


HOST: Final = "127.0.0.1"
_MOST_BYTES: Final = 4096
_POLICY: Final = f"{PAGE_POLICY}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


class PlayServer(ThreadingHTTPServer):
    """A server on the loopback address that plays matches of one person each; closing it leaves them.

    Attributes:
        url: the address to open in a browser, which contains the token.
        games: the matches.
    """

    daemon_threads = True
    request_queue_size = 256

    def __init__(
        self,
        new_match: Callable[[], PersonsMatch] | Lobby,
        *,
        port: int = 0,
        reviewer: Callable[[], Reviewer] | None = None,
    ) -> None:
        """Listen on a port; `serve_forever` answers requests.

        Args:
            new_match: the function that begins a match, or the lobby in which a person chooses one.
            port: the port, 0 for any free one.
            reviewer: loads the reviewer of finished matches; None for no reviews.

        Raises:
            MahjongError: the port cannot be used.
        """
        self.games = Games(new_match, reviewer)
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            raise MahjongError(f"port {port} cannot be listened on: {error.strerror or error}") from None
        self.token = secrets.token_urlsafe(16)
        self.url = f"http://{HOST}:{self.server_port}/{self.token}/"

    def server_close(self) -> None:
        """Stop listening, and leave the matches."""
        super().server_close()
        self.games.leave()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that have gone; report other errors as `socketserver` does."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: PlayServer
    server_version = "mahjong_env"
    sys_version = ""
    timeout = 60  # for each read and for sending the answer

    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing, as the token would be part of every line in the terminal."""

    def _answer(self, method: str) -> None:
        try:
            text = self._text() if method == "POST" else None
            parts = self._parts()
            body = self._body(text) if method == "POST" else {}
            if method == "GET" and parts == [""]:
                self._send(HTTPStatus.OK, play_html(self.server.games.lobby), "text/html")
            elif method == "GET" and len(parts) == 3 and parts[0] == "games" and parts[2] == "record":
                file = "Content-Disposition", f'attachment; filename="{DOWNLOAD}"'
                self._send(HTTPStatus.OK, self.server.games.record(parts[1]), "application/x-ndjson", file)
            elif method == "GET" and len(parts) == 4 and parts[0] == "games" and parts[2:] == ["review", "page"]:
                self._send(HTTPStatus.OK, self.server.games.review(parts[1]).page(), "text/html")
            else:
                self._send(HTTPStatus.OK, json.dumps(self.server.games.told(method, parts, body)), "application/json")
        except (ConnectionError, TimeoutError):
            raise
        except Exception as error:
            self._send_error(error)
            if not isinstance(error, MahjongError):
                raise

    # --- requests --------------------------------------------------------------------------------------------------
    def _parts(self) -> list[str]:
        """Return the parts of the address behind the token; raise `RequestError` if it, host or origin is wrong."""
        own = f"{HOST}:{self.server.server_port}"
        hosts = {own, f"localhost:{self.server.server_port}"}
        if self.headers.get("Host") not in hosts:
            raise RequestError(HTTPStatus.FORBIDDEN, "this server answers its own page only")
        origin = self.headers.get("Origin")
        if origin is not None and origin not in {f"http://{host}" for host in hosts}:
            raise RequestError(HTTPStatus.FORBIDDEN, "this server answers its own page only")
        empty, _, rest = self.path.partition("?")[0].partition("/")
        token, slash, address = rest.partition("/")  # without the slash, the page's own addresses would lack the token
        if empty or not slash or not hmac.compare_digest(token.encode(), self.server.token.encode()):
            raise RequestError(HTTPStatus.NOT_FOUND, "there is nothing here")
        return address.split("/")

    def _text(self) -> bytes | None:
        """Return the body of the request; None if it is too long."""
        length = self.headers.get("Content-Length", "")
        is_number = length.isdecimal() and len(length) <= len(str(_MOST_BYTES))
        return self.rfile.read(int(length)) if is_number and int(length) <= _MOST_BYTES else None

    def _body(self, text: bytes | None) -> dict[str, Any]:
        if text is None:
            raise RequestError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body has at most {_MOST_BYTES} bytes")
        if self.headers.get_content_type() != "application/json":
            raise RequestError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "requests are sent as application/json")
        try:
            told = json.loads(text)
        except (ValueError, RecursionError):
            told = None
        if not isinstance(told, dict):
            raise RequestError(HTTPStatus.BAD_REQUEST, "a body is an object of JSON")
        return told

    def _send_error(self, error: Exception) -> None:
        status, told = refused(error)
        if "text/html" in self.headers.get("Accept", ""):  # a person has opened this address, not the page
            body = part("lost.html", "play").replace("@@error@@", html.escape(told["error"]))
            self._send(status, document_html("mahjong_env", body), "text/html")
        else:
            self._send(status, json.dumps(told), "application/json")

    def _send(self, status: HTTPStatus, text: str, kind: str, *headers: tuple[str, str]) -> None:
        body = text.encode()
        self.send_response(status)
        for name, value in (
            ("Content-Type", f"{kind}; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Content-Security-Policy", _POLICY),
            ("Cache-Control", "no-store"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
            *headers,
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
