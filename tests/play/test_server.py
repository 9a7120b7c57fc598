"""The server: only its own page is answered, games do not disturb each other, wrong requests change nothing."""

import http.client
import json
import re
import socket
import struct
import threading
import time
import urllib.error
import urllib.request
from contextlib import ExitStack
from importlib import resources

import numpy as np
import pytest

import mahjong_env
from mahjong_env import MahjongError
from mahjong_env.play.match import review_command
from mahjong_env.play.server import HOST, PlayServer
from mahjong_env.records import GameRecord, replay_points
from mahjong_env.testing.play import changed_array, frozen_arrays
from support.playing import answering, lobby, match_of


@pytest.fixture
def server():
    seeds = iter(range(100))
    with answering(lambda: match_of("hebei", next(seeds))) as running:
        yield running


def translated(what):
    """The words that the page has in Chinese for something."""
    script = resources.files("mahjong_env.play").joinpath("page.js").read_text("utf-8")
    chinese = script.partition("Object.assign(words.zh")[2]
    return re.findall(r"(\w+): \"", re.search(rf"{what}: \{{(.*?)\}}", chinese, re.DOTALL)[1])


class Browser:
    """Requests as the page makes them."""

    def __init__(self, server):
        self.server = server

    def ask(self, method, path, body=None, *, token=None, text=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=30)
        sent = {"Content-Type": "application/json"} | {name.replace("_", "-"): said for name, said in headers.items()}
        data = text if text is not None else None if body is None else json.dumps(body)
        connection.request(method, f"/{self.server.token if token is None else token}/{path}", data, sent)
        answer = connection.getresponse()
        content = answer.read().decode()
        connection.close()
        return answer.status, json.loads(content) if "json" in answer.getheader("Content-Type") else content, answer

    def post(self, path, **body):
        return self.ask("POST", path, body)[:2]


def test_a_whole_match_by_requests(server):
    browser, rng = Browser(server), np.random.default_rng(1)
    status, told = browser.post("games")
    assert (status, told["table"]["title"], told["table"]["agents"][0]) == (200, "Hebei", "you")
    game = told["game"]
    assert browser.ask("GET", f"games/{game}/record")[0] == 409
    while told["waitsFor"] == "answer":
        status, hint = browser.post(f"games/{game}/hint", position=told["position"])
        assert status == 200
        assert hint["advice"] in told["legal"]
        status, told = browser.post(f"games/{game}/answer", position=told["position"], action=rng.choice(told["legal"]))
        assert status == 200
    assert told["waitsFor"] == "over"
    # Nothing was written: the commands are about the file that the page saves.
    assert told["afterwards"]["match"] is None
    assert told["afterwards"]["review"] == review_command("match.jsonl", 1, 0)
    status, line, answer = browser.ask("GET", f"games/{game}/record")
    assert status == 200
    assert "attachment" in answer.getheader("Content-Disposition")
    assert replay_points(GameRecord.from_json(json.dumps(line))) == tuple(told["pointsByHand"][-1])


def test_the_page_holds_everything_and_nothing_else(server):
    status, page, answer = Browser(server).ask("GET", "")
    assert status == 200
    assert "@@" not in page
    assert 'src="' not in page
    assert answer.getheader("Content-Security-Policy").startswith("default-src 'none'")
    assert answer.getheader("Cache-Control") == "no-store"


@pytest.mark.parametrize(
    ("method", "path", "options", "status"),
    [
        ("GET", "", {"token": "guessed"}, 404),
        ("GET", "", {"token": ""}, 404),
        ("GET", "../../../../etc/passwd", {}, 404),
        ("GET", "games", {}, 404),
        ("GET", "page.js", {}, 404),
        ("GET", "", {"Host": "evil.example"}, 403),
        ("POST", "games", {"body": {}, "Origin": "http://evil.example"}, 403),
        ("POST", "games", {"body": {}, "Origin": "127.0.0.1:{port}"}, 403),
        ("POST", "games", {"body": {}, "Content_Length": "9" * 5000}, 413),
        ("POST", "games", {"body": {}, "Content_Length": "9" * 5000, "token": "guessed"}, 404),
        ("POST", "games", {"body": {}, "Content_Type": "text/plain"}, 415),
        ("POST", "games", {"text": "{"}, 400),
        ("POST", "games", {"text": "[1]"}, 400),
        ("POST", "games", {"text": "[" * 4000}, 400),
        ("POST", "games", {"text": '"' + "x" * 5000 + '"'}, 413),
        ("POST", "games/none/answer", {"body": {"position": 0, "action": "pass"}}, 404),
        ("GET", "games/none", {}, 404),
    ],
)
def test_others_are_refused(server, method, path, options, status):
    options = {
        name: said.replace("{port}", str(server.server_port)) if name == "Origin" else said
        for name, said in options.items()
    }
    answered, told, _ = Browser(server).ask(method, path, **options)
    assert answered == status
    assert told["error"]
    assert told["code"] in translated("errors")
    assert not server.games._games


def test_a_person_at_a_wrong_address_is_told_the_way_on(server):
    for token, status in (("guessed", 404), (server.token, 404)):
        answered, page, answer = Browser(server).ask("GET", "elsewhere", token=token, Accept="text/html,*/*")
        assert (answered, answer.getheader("Content-Type")) == (status, "text/html; charset=utf-8")
        assert "Open the address" in page
        assert server.token not in page


def test_the_address_ends_with_a_slash(server):
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(server.url.removesuffix("/"))


def test_matches_that_are_left_are_kept(monkeypatch):
    monkeypatch.setattr("mahjong_env.play.games._MOST", 2)
    kept = []
    with PlayServer(lambda: match_of("hebei", write=kept.append)) as running:
        for _ in range(3):
            match = running.games.game(running.games.begin({})).match
            match.answer(0, match.legal()[0])
        assert len(kept) == 1  # the oldest one had to go
        running.games.begin({})
        assert len(kept) == 2
    # The server has ended; a match in which nothing was answered leaves nothing.
    assert [record.is_complete for record in kept] == [False] * 3
    assert {len(record.actions) > 0 for record in kept} == {True}


@pytest.fixture
def choosing():
    with answering(lobby()) as running:
        yield running


def test_a_match_is_begun_as_it_was_chosen(choosing):
    browser = Browser(choosing)
    page = browser.ask("GET", "")[1]
    offered = json.loads(re.search(r'<script id="data"[^>]*>(.*?)</script>', page)[1])["lobby"]
    assert {one["name"] for one in offered["variants"]} >= set(mahjong_env.VARIANTS)
    assert all(all(one["about"]) for one in offered["variants"])
    wanted = {"variant": "hebei", "knobs": ["players=4"], "agent": "greedy", "seat": 3, "hands": 4}
    status, seen = browser.post("rules", **wanted, language="en")
    assert (status, seen["table"]["people"]) == (200, 4)
    assert "House rules of this table: `players=4`" in seen["page"]
    assert ["players", "4", ["3", "4"]] in [told[:3] for told in seen["knobs"]]
    assert any(place["river"] for place in seen["frame"]["table"]["places"])
    status, told = browser.post("games", **wanted)
    match = choosing.games.game(told["game"]).match
    assert (match.person, match.engine.num_hands, match.rules.knobs["players"]) == (3, 4, 4)
    assert match.names == ["greedy"] * 3 + ["you"]
    assert browser.post(f"games/{told['game']}/rules", language="en")[1]["page"] == seen["page"]
    assert "players=4" in browser.post(f"games/{told['game']}/rules", language="zh")[1]["page"]
    sheet = browser.post("rules", **wanted, language="zh")[1]["page"]
    assert sheet.startswith("# 河北麻将")
    assert "Mahjong Pros， https://mahjongpros.com" in sheet.replace("\n", " ")
    assert sheet[-1] == "|"  # an empty line after the table would be a row of it


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"variant": "riichi"}, "there is no variant"),
        ({"variant": ["hebei"]}, "there is no variant"),
        ({"knobs": ["cap=none", "cap=8"]}, "given twice"),
        ({"knobs": [8]}, "a knob is written NAME=VALUE"),
        ({"knobs": 8}, "a knob is written NAME=VALUE"),
        ({"agent": "tests/evil.py:Agent"}, "agent is one of greedy, random"),
        ({"agent": None}, "agent is one of greedy, random"),
        ({"seat": 3}, "seat is one of 0, 1, 2, not 3"),
        ({"seat": "0"}, "seat is one of 0, 1, 2, not '0'"),
        ({"seat": True}, "seat is one of 0, 1, 2, not True"),
        ({"hands": 0}, "hands is one of 1, 4, 8, 16"),
        ({"hands": 10**9}, "hands is one of 1, 4, 8, 16"),
    ],
)
def test_what_cannot_be_played_is_refused(choosing, other, said):
    wanted = {"variant": "hebei", "knobs": [], "agent": "greedy", "seat": 0, "hands": 1} | other
    status, told = Browser(choosing).post("games", **wanted)
    assert status == 400
    assert said in told["error"]
    assert not choosing.games._games


def test_without_a_lobby_nothing_can_be_chosen(server):
    assert Browser(server).post("rules", variant="wuhan", knobs=[])[0] == 404
    assert Browser(server).post("games", variant="wuhan")[1]["table"]["title"] == "Hebei"


def test_wrong_and_late_clicks_are_errors_and_change_nothing(server):
    browser = Browser(server)
    _, told = browser.post("games")
    game, position = told["game"], told["position"]
    before, arrays = browser.ask("GET", f"games/{game}")[1], frozen_arrays(server.games.game(game).match.engine)
    illegal = next(name for name in mahjong_env.ACTIONS if name not in told["legal"])
    for body, status, said in (
        ({"position": position, "action": illegal}, 400, "not legal"),
        ({"position": position, "action": "discard 9q"}, 400, "there is no action 'discard 9q'"),
        ({"position": position}, 400, ""),
        ({"position": "0", "action": told["legal"][0]}, 400, ""),
        ({"position": True, "action": told["legal"][0]}, 400, ""),
        ({"action": told["legal"][0]}, 400, ""),
        ({"position": position + 1, "action": told["legal"][0]}, 409, "is being asked now"),
        ({"position": position - 1, "action": told["legal"][0]}, 409, "is being asked now"),
    ):
        answered, error = browser.post(f"games/{game}/answer", **body)
        assert (answered, bool(error["error"])) == (status, True), body
        assert said in error["error"]
        assert error["code"] in translated("errors"), body
    assert changed_array(server.games.game(game).match.engine, arrays) is None
    answered, error = browser.post(f"games/{game}/next", position=position)
    assert answered == 409
    assert "you are asked" in error["error"]
    assert browser.post(f"games/{game}/fly", position=position)[0] == 404
    assert browser.ask("GET", f"games/{game}")[1] == before
    assert browser.post(f"games/{game}/answer", position=position, action=told["legal"][0])[0] == 200
    assert browser.post(f"games/{game}/answer", position=position, action=told["legal"][0])[0] == 409


def test_clicks_at_the_same_time_are_played_once_and_leave_other_games_alone(server):
    browser = Browser(server)
    told, other, answers = browser.post("games")[1], browser.post("games")[1], []
    before = browser.ask("GET", f"games/{other['game']}")[1]

    def click():
        body = {"position": told["position"], "action": told["legal"][0]}
        answers.append(browser.post(f"games/{told['game']}/answer", **body)[0])

    threads = [threading.Thread(target=click) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [200, *[409] * 5]
    assert browser.ask("GET", f"games/{other['game']}")[1] == before
    for _ in range(32):
        server.games.begin({})
    with pytest.raises(MahjongError, match="there is no such game"):  # old ones are forgotten
        server.games.game(other["game"])


# --- Reviews -------------------------------------------------------------------------------------------------------


class Reviews:
    """Reviewers that do one step when they are told to; the second one fails."""

    def __init__(self):
        self.steps, self.made, self.was_ended = threading.Semaphore(0), 0, threading.Event()

    def __call__(self, record, person, tell, play_on):
        self.made += 1
        assert record.agents[person] == "you"
        try:
            for done in range(3):
                tell(done, 3)
                self.steps.acquire()
            if self.made == 1:
                raise MahjongError("there was nothing to decide")
        except BaseException:
            self.was_ended.set()
            raise
        return f"the page {play_on}"


@pytest.fixture
def reviewing():
    reviews = Reviews()
    with answering(lambda: match_of("hebei"), reviewer=lambda: reviews) as running:
        yield running, reviews


def until(find):
    for _ in range(500):
        if found := find():
            return found
        time.sleep(0.01)
    raise AssertionError("it does not happen")


def test_a_match_that_is_over_is_reviewed_and_played_on(reviewing):
    server, reviews = reviewing
    browser = Browser(server)
    _, told = browser.post("games")
    game = told["game"]
    for path in ("review", "on"):  # the cards are not told while it goes on
        status, error = browser.post(f"games/{game}/{path}", played=0)
        assert (status, error["code"]) == (409, "early")
    assert browser.ask("GET", f"games/{game}/review/page")[0] == 409
    while told["waitsFor"] == "answer":
        advice = browser.post(f"games/{game}/hint", position=told["position"])[1]["advice"]
        told = browser.post(f"games/{game}/answer", position=told["position"], action=advice)[1]
    assert (told["canReview"], told["review"]) == (True, None)
    for path in ("review", "review/page"):
        status, error, _ = browser.ask("GET", f"games/{game}/{path}")
        assert (status, error["code"]) == (404, "unreviewed")
    # The first one fails, and says why; it can be asked for again.
    assert browser.post(f"games/{game}/review")[0] == 200
    reviews.steps.release(3)
    review = lambda: browser.ask("GET", f"games/{game}/review")[1]  # noqa: E731
    assert until(lambda: review()["error"]) == "there was nothing to decide"
    assert browser.ask("GET", f"games/{game}/review/page")[1]["error"] == "there was nothing to decide"
    for _ in range(3):  # asked for thrice, it is made once
        assert browser.post(f"games/{game}/review")[0] == 200
    assert until(lambda: review()["of"]) == 3
    status, error, _ = browser.ask("GET", f"games/{game}/review/page")
    assert (status, error["code"]) == (409, "reviewing")
    reviews.steps.release()
    until(lambda: review()["done"] == 1)
    assert browser.ask("GET", f"games/{game}")[1]["review"] == review()  # a page that is loaded anew waits on
    reviews.steps.release(2)
    until(lambda: review()["isReady"])
    assert reviews.made == 2
    status, page, answer = browser.ask("GET", f"games/{game}/review/page")
    assert (status, page) == (200, f"the page ../../../#{game},")
    assert answer.getheader("Content-Type").startswith("text/html")
    # From there it is played on; what is no position is refused.
    for played in (-1, 10**6, "0", None, True):
        assert browser.post(f"games/{game}/on", played=played)[0] == 400
    status, on = browser.post(f"games/{game}/on", played=4)
    assert (status, on["frames"][0]["event"]["type"], on["game"] != game) == (200, "resumed", True)


def test_reviews_end_with_the_server(reviewing):
    server, reviews = reviewing
    browser = Browser(server)
    game = browser.post("games")[1]["game"]
    match = server.games.game(game).match
    match.answer(0, match.legal()[0])
    match.leave()
    assert browser.post(f"games/{game}/review")[0] == 200
    until(lambda: reviews.made)
    server.games.leave()
    reviews.steps.release(3)
    assert reviews.was_ended.wait(5)


def test_without_a_reviewer_nothing_is_offered(server):
    browser = Browser(server)
    told = browser.post("games")[1]
    assert not told["canReview"]
    match = server.games.game(told["game"]).match
    match.answer(0, match.legal()[0])
    match.leave()
    assert browser.post(f"games/{told['game']}/review")[0] == 404


# --- Clients that do not behave ------------------------------------------------------------------------------------


def connect(server):
    return socket.create_connection(("127.0.0.1", server.server_port), timeout=5)


def test_many_may_knock_at_once():
    with PlayServer(lambda: None) as server, ExitStack() as stack:  # it answers nobody yet: all wait to be let in
        for _ in range(120):  # macOS lets no more than 128 wait
            stack.enter_context(connect(server))


def test_a_client_that_leaves_is_no_error(server, capsys):
    for request in (
        b"GET /",
        b"POST",
        f"GET /{server.token}/ HTTP/1.1\r\nHost: {HOST}:{server.server_port}\r\n\r\n".encode(),
    ):
        with connect(server) as leaving:
            leaving.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closed by a reset
            leaving.sendall(request)
    assert Browser(server).ask("GET", "")[0] == 200
    time.sleep(0.2)
    assert capsys.readouterr().err == ""


def test_a_port_that_is_taken_is_named(server):
    with pytest.raises(MahjongError, match=f"port {server.server_port} cannot be listened on"):
        PlayServer(lambda: None, port=server.server_port)
