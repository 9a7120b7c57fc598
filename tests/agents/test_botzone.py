"""Bots of Botzone at our tables, and our agents behind its protocol."""

import ast
import copy
import json
import os
import pickle
import re
import shlex
import subprocess
import sys
import textwrap
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import pytest

from mahjong_agents import AgentError, make_agent
from mahjong_agents.base import games_at_once
from mahjong_agents.botzone import BotzoneAgent, seen_by
from mahjong_agents.botzone_player import BotzonePlayer
from mahjong_env import ACTIONS, Deal, make_engine
from mahjong_env.records import botzone
from support.marks import everyday

ONE_WALL = {"flower_tiles": True, "private_walls": False, "shows_drawn": True}
"""The platform's older games, in which it is seen what had just been drawn."""
EXAMPLE = Path(__file__).parents[2] / "notebooks" / "examples" / "botzone_bot.py"
PYTHON = shlex.quote(sys.executable)
# Keeps the hand from what it is told alone, in any way in which it may be told; pungs and discards the last tile that
# it holds. A hand that does not fit what it is told ends it. It stores how often it was asked.
BOT = textwrap.dedent(
    """
    import json, sys, time
    MARK = ">>>BOTZONE_REQUEST_KEEP_RUNNING<<<"
    simple, keep, how, at = "simple" in sys.argv, "keep" in sys.argv, sys.argv[1], 8
    def decide(requests, responses):
        if len(requests) < 2: return "PASS"
        me, hand, last = requests[0].split()[1], sorted(requests[1].split()[5:18]), ""
        assert len(hand) == 13
        for number, request in enumerate(requests[2:], 2):
            words = request.split()
            answer = "PASS"
            if words[0] == "2":
                hand.append(words[1])
                answer = "PLAY " + max(hand)
            elif words[1] == me and words[2] == "PLAY":
                hand.remove(words[3])
            elif words[1] == me and words[2] == "PENG":
                hand.remove(last), hand.remove(last), hand.remove(words[3])
            elif words[1] != me and words[2] in ("PLAY", "PENG", "CHI") and hand.count(words[-1]) > 1:
                answer = "PENG " + max(tile for tile in hand if tile != words[-1])
            if words[2:3] and words[2] in ("PLAY", "PENG", "CHI"):
                last = words[-1]
            said = (responses + [answer])[number]
            assert said == answer or said == "PASS", (said, answer, request)
        assert len(hand) % 3 in (1, 2)
        return answer if len(requests) > 2 else "PASS"
    requests, responses, data = [], [], 0
    while True:
        line = sys.stdin.readline().strip()
        if not line: break
        if requests: requests.append(line if simple else json.loads(line))
        elif simple:
            lines = [sys.stdin.readline().strip() for _ in range(2 * int(line) - 1)]
            requests, responses = lines[::2], lines[1::2]
            data = 0 if keep else int(sys.stdin.readline().strip() or 0)
        else:
            told = json.loads(line)
            requests, responses, data = told["requests"], told["responses"], told.get("data", 0)
        data += 1
        answer = decide(requests, responses)
        if len(requests) > at and answer != "PASS":
            if how == "crash": raise RuntimeError("not today")
            if how == "hang": time.sleep(1000)
            if how == "drip": print(flush=True); time.sleep(1000)
            if how == "illegal": answer = "PLAY W0"
            if how == "words": print("thinking")
            if how == "number": answer = 7
            if how == "mute": sys.exit(3)
            if how == "long": print("x" * 10**7)
        if how == "counts": answer = answer if answer == "PASS" or data == len(requests) else "HU"
        responses.append(answer)
        print(answer + "\\n\\n" + str(data) if simple else json.dumps({"response": answer, "data": data}, indent=2))
        if not keep and how != "unasked": break
        print(MARK, flush=True)
        if how == "twice" and len(requests) == 3: print(json.dumps({"response": answer}), MARK, sep="\\n", flush=True)
    """
)


@pytest.fixture
def bot(tmp_path):
    (tmp_path / "bot.py").write_text(BOT, encoding="utf-8")

    def make(*words, **options):
        texts = "&".join(f"{name}={value}" for name, value in {"failures": 0, **options}.items())
        return make_agent(f"botzone:{PYTHON} {shlex.quote(str(tmp_path / 'bot.py'))} {' '.join(words)}?{texts}")

    return make


def tables(n=2, seed=3, **knobs):
    """Games as the platform deals them, or with other house rules."""
    engine = make_engine(botzone.rules(), n, seed=seed, start="first", **knobs)
    engine.reset(seed=seed, deals=[Deal(dealer=0, round_wind=f"{game % 4 + 1}z") for game in range(n)])
    return engine


class Alone:
    """An agent whose choice depends on its row alone."""

    name = "alone"

    def __init__(self, agent):
        self.agent = make_agent(agent)

    def act(self, view, rng):
        rows = range(len(view))
        return np.array([self.agent.act(view.take([row]), np.random.default_rng(0))[0] for row in rows])


def play(engine, agent, seat=0, most=10):
    """Play games, the agent in one seat and random players in the others, for some decisions; return its actions."""
    rng, others, actions = np.random.default_rng(1), make_agent("random"), []
    while (live := np.flatnonzero(engine.seat_to_act >= 0)).size and len(actions) < most:
        view = engine.view(live)
        chosen = others.act(view, rng)
        own = np.flatnonzero(engine.seat_to_act[live] == seat)
        if own.size:
            chosen[own] = agent.act(view.take(own), rng)
            actions += chosen[own].tolist()
        engine.step(chosen, games=live)
    return actions


# --- There and back --------------------------------------------------------------------------------------------------


class Mirror(BotzoneAgent):
    """Has its requests answered by `BotzonePlayer`, here and not in a process."""

    def __init__(self, agent, rules):
        super().__init__("mirror", failures=0)
        self._player, self._lock = BotzonePlayer(agent, rules=rules), threading.Lock()

    def _answer(self, table, seen):
        responses = table.responses(seen)
        with self._lock:
            table.said[len(responses)] = self._player.answer(seen.requests, responses)
        return table.said[len(responses)]


@pytest.mark.parametrize("case", everyday([("greedy", {}), ("random", {}), ("random", ONE_WALL)], [("greedy", {})]))
def test_an_agent_plays_the_same_behind_the_protocol(case):
    """View to requests, requests to view: in every decision of a game, whoever plays it."""
    name, knobs = case
    engine, agent, decisions = tables(2 if name == "greedy" else 4, **knobs), Alone(name), set()
    mirror = Mirror(agent, engine.rules)
    while (live := np.flatnonzero(engine.seat_to_act >= 0)).size:
        view = engine.view(live)
        chosen = agent.act(view, None)
        assert [ACTIONS[action] for action in mirror.act(view, np.random.default_rng(0))] == [
            ACTIONS[a] for a in chosen
        ]
        decisions.update(ACTIONS[action].split()[0] for action in chosen)
        engine.step(chosen, games=live)
    assert {"discard", "chow", "pass"} <= decisions


def test_kongs_are_told_and_robbed():
    """An added kong is asked about, a concealed one is named to its owner alone."""
    engine = make_engine(botzone.rules(), 1, seed=0, start="first")
    hands = ["1s4m4m4m4m6m7m1p2p3p6p7p9s", "1s1s3z3z3z3z5m8m9m2p5p8p9p", "1m2m3m4p5p6p7p8p9p2s3s2z2z"]
    draws = ["9s 6z", "1s 8s", "8s", "5z"]
    engine.reset(deals=Deal(hands=hands, draws=draws, dealer=0, round_wind="1z"))
    player = Mirror(Alone("greedy"), engine.rules)
    played = ["concealed kong 4m", "discard 1s", "pung", "discard 5m", "discard 8s", "discard 5z", "discard 6z"]
    played += ["concealed kong 3z", "added kong 1s"]
    told = []
    for name in played:
        while ACTIONS.index(name) not in engine.action_mask[0].nonzero()[0]:
            engine.step([ACTIONS.index("pass")])
        told.append(seen_by(engine.view(), 0, {}))
        engine.step([ACTIONS.index(name)])
    assert ACTIONS[player.act(engine.view(), np.random.default_rng(0))[0]] == "win"
    robbed = seen_by(engine.view(), 0, {})
    assert robbed.requests[-3:] == ["3 1 GANG", "3 1 DRAW", "3 1 BUGANG T1"]
    assert [said for said in told[1].responses if said != "PASS"] == ["GANG W4"]
    assert "3 0 GANG" in robbed.requests


# --- What is told ----------------------------------------------------------------------------------------------------


def test_what_a_seat_may_not_see_is_not_told():
    engine, rng = tables(8, seed=5), np.random.default_rng(5)
    for _ in range(30):
        engine.step(make_agent("random").act(engine.view(), rng))
    told = [seen_by(engine.view(), row, {}) for row in range(8)]
    before = engine.state.hand.copy()
    engine.resample_hidden(engine.seat_to_act, np.random.default_rng(9))
    assert (engine.state.hand != before).any(axis=(1, 2)).all()
    assert [seen_by(engine.view(), row, {}) for row in range(8)] == told


# --- What is said ----------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_every_way_of_asking_plays_the_same(bot, tmp_path):
    """JSON or lines; started each time, in every turn, or kept running."""
    ways = [("plays",), ("counts", "", {"every_turn": "true"}), ("plays", "keep", {"keep_running": "true"})]
    ways += [("plays", "simple", {"io": "simple"}), ("plays", "keep simple", {"io": "simple", "keep_running": "true"})]
    ways += [("unasked",)]
    played = []
    for how, words, options in (way + ("", {})[len(way) - 1 :] for way in ways):
        played.append(play(tables(1), bot(how, words, **options, log=tmp_path / f"{how}{words}"), seat=1))
    assert all(actions == played[0] for actions in played)
    assert {ACTIONS[action] for action in played[0]} >= {"pung", "pass"}
    log = [json.loads(line) for line in (tmp_path / "plays" / "table-1.jsonl").read_text("utf-8").splitlines()]
    assert {who for line in log for who in line} == {"to", "from"}


STORES = """
import sys
told = sys.stdin.read().split("\\n")
number = 2 * int(told[0])
words = told[number - 1].split()
print(f"PLAY {words[1]}" if words[0] == "2" else "PASS", told[number:], *sys.argv[1:], sep="\\n")
"""


@pytest.mark.parametrize(("data", "everywhere"), [("", "G"), ("D", ""), ("D", "G\nH"), ("", "")])
def test_data_and_globaldata_have_lines_of_their_own(data, everywhere, tmp_path):
    (tmp_path / "bot.py").write_text(STORES, encoding="utf-8")
    words = shlex.join([str(tmp_path / "bot.py"), data, everywhere])
    play(tables(1), make_agent(f"botzone:{PYTHON} {words}?io=simple&failures=0&log={tmp_path / 'log'}"), most=2)
    (log,) = (tmp_path / "log").iterdir()
    lines = log.read_text("utf-8").splitlines()
    answers = [json.loads(line)["from"].split("\n") for line in lines if "from" in line]
    given = [""] if data == everywhere == "" else [data, *everywhere.split("\n"), ""]
    assert ast.literal_eval(answers[-1][1]) == given


@pytest.mark.parametrize(
    ("how", "options", "what"),
    [
        ("crash", {}, r"has ended \(exit code 1\) without an answer.*RuntimeError: not today"),
        ("mute", {}, r"has ended \(exit code 3\) without an answer"),
        ("hang", {"milliseconds": 1500}, r"not answered within 1.5 s"),
        ("drip", {"milliseconds": 1500}, r"not answered within 1.5 s"),
        ("illegal", {}, r"'2 ..' is answered by 'PLAY W0'; legal are discard"),
        ("words", {}, r"'thinking.*is not JSON"),
        ("number", {}, r"has no 'response' that is text"),
        ("long", {}, r"a line of more than 1048576 bytes"),
        ("crash keep", {"keep_running": "true"}, r"has ended \(exit code 1\)"),
    ],
)
def test_a_failure_is_named_and_decided(how, options, what, bot, caplog):
    engine, agent = tables(1), bot(how, **options, failures=1)
    with pytest.raises(AgentError, match=r"That is failure 2; 1 are tolerated"):
        play(engine, agent)
    assert re.search(what, caplog.text), caplog.text
    assert agent.failed.sum() == 1


def test_a_second_answer_is_not_taken_for_the_next_request(bot, caplog):
    engine, agent = tables(1), bot("twice", "keep", keep_running="true", failures=1)
    play(engine, agent, most=1)
    assert not agent.failed.any()
    while not agent._tables[1].process.has_spoken():
        time.sleep(0.01)
    play(engine, agent, most=1)
    assert agent.failed.tolist() == [True]
    assert re.search('writes \'{"response".*when nothing was asked', caplog.text), caplog.text


def claiming():
    """A game in which player 1 is asked about a dragon."""
    engine = make_engine(botzone.rules(), 1, seed=0, start="first")
    hands = ["1m2m3m4m5m6m7m8m9m1p2p3p4p7z", "7z7z1s2s3s4s5s6s7s8s9s1z2z"]
    engine.reset(deals=Deal(hands=hands, dealer=0, round_wind="1z"))
    engine.step([ACTIONS.index("discard 7z")])
    return engine


@pytest.mark.parametrize(
    ("words", "options"), [("plays keep", {"keep_running": "true"}), ("counts", {"every_turn": "true"})]
)
def test_a_turn_of_a_game_that_goes_back_is_told_once(words, options, bot, tmp_path):
    engine, agent = claiming(), bot(words, **options, log=tmp_path / "log")
    told, actions = [], []
    for _ in range(2):
        actions += agent.act(engine.view(), np.random.default_rng(0)).tolist()
        (log,) = (tmp_path / "log").iterdir()
        told.append(log.read_text("utf-8").count('{"to":'))
    assert [ACTIONS[action] for action in actions] == ["pung"] * 2
    assert told[0] == told[1]


def test_no_answer_ends_a_match():
    """There are no chows of dragons, whatever tile is in the middle."""
    code = "import json; print(json.dumps({'response': 'CHI J1 W1'}))"
    agent = make_agent(f'botzone:{PYTHON} -c "{code}"?failures=1')
    assert ACTIONS[agent.act(claiming().view(), np.random.default_rng(0))[0]] == "pass"
    assert agent.failed.all()


def test_what_it_would_discard_after_a_claim_has_to_be_held(bot):
    engine = claiming()
    code = "import json; print(json.dumps({'response': 'PENG F3'}))"
    with pytest.raises(AgentError, match="'PENG F3' names no tile to be discarded that is held"):
        make_agent(f'botzone:{PYTHON} -c "{code}"?failures=0').act(engine.view(), np.random.default_rng(0))
    code = code.replace("F3", "F1")
    agent = make_agent(f'botzone:{PYTHON} -c "{code}"?failures=0')
    engine.step(agent.act(engine.view(), np.random.default_rng(0)))
    for one in (agent, make_agent(f'botzone:{PYTHON} -c "{code}"?failures=0')):  # the other has not heard the claim
        assert ACTIONS[one.act(engine.view(), np.random.default_rng(0))[0]] == "discard 1z"


def test_options_and_copies(bot):
    with pytest.raises(AgentError, match="json or simple"):
        make_agent("botzone:./bot?io=xml")
    with pytest.raises(AgentError, match="it needs 'command', as in botzone:COMMAND"):
        make_agent("botzone")
    with pytest.raises(AgentError, match="hebei is not played on Botzone"):
        make_agent("botzone:./bot").act(make_engine("hebei", 1, seed=1).view(), np.random.default_rng(0))
    with pytest.raises(AgentError, match="cannot be started"):
        make_agent("botzone:./no-such-bot?failures=0").act(tables(1).view(), np.random.default_rng(0))
    agent = bot("plays", games=3)
    assert games_at_once([agent]) == 3
    for twin in (copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):
        assert (twin.name, twin.games_at_once) == (agent.name, 3)


# --- The example ------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_the_example_answers_the_judge():
    """As it would be asked there: JSON first, then a line for each turn; and once."""
    command = [sys.executable, str(EXAMPLE), "greedy"]
    start = json.dumps({"requests": ["0 1 0"], "responses": []})
    deal = "1 0 0 0 0 W1 W2 W3 W4 W5 W6 W7 W8 W9 B1 B2 T9 F1"
    lines = [start, deal, json.dumps("3 0 DRAW"), "3 0 PLAY F2", "2 J1"]
    done = subprocess.run(
        command, input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=300, check=True
    )
    said = done.stdout.splitlines()
    assert said[1::2] == [">>>BOTZONE_REQUEST_KEEP_RUNNING<<<"] * 5
    answers = [json.loads(line)["response"] for line in said[::2]]
    assert answers[:4] == ["PASS"] * 4
    assert answers[4] in ("PLAY T9", "PLAY F1", "PLAY J1")
    told = {"requests": ["0 1 0", *lines[1:2], "3 0 DRAW", *lines[3:]], "responses": answers[:4]}
    done = subprocess.run(
        [*command, "--once"], input=json.dumps(told), capture_output=True, text=True, timeout=300, check=True
    )
    assert json.loads(done.stdout) == {"response": answers[4]}


@pytest.mark.thorough
def test_the_page_packs_a_bot_that_runs(tmp_path):
    """The commands of the page, where nothing of this package is installed."""
    root = EXAMPLE.parents[2]
    page = (root / "docs" / "botzone.md").read_text(encoding="utf-8")
    commands = page.partition("```sh\nmkdir bot")[2].partition("```")[0].splitlines()
    assert len(commands) == 4
    for name in ("notebooks", "mahjong_env", "agents", "pyproject.toml"):
        (tmp_path / name).symlink_to(root / name)
    script = "\n".join(commands).replace("python3 bot", f"{PYTHON} -S bot").replace("python3 -m", f"{PYTHON} -m")
    packages = {"PYTHONPATH": str(Path(np.__file__).parents[1]), "PATH": os.environ["PATH"]}
    done = subprocess.run(
        ["sh", "-ec", f"mkdir bot{script}"], cwd=tmp_path, env=packages, capture_output=True, text=True, timeout=300
    )
    assert done.stdout == '{"response": "PASS"}\n', done.stderr


@pytest.mark.thorough
def test_the_example_plays_at_a_distance():
    """As the platform's local AI: requests are fetched, answers come with the next question."""
    heard = []

    class Platform(BaseHTTPRequestHandler):
        replies = iter(["2 0\na\n0 0 1\nb\n0 3 2\n", "1 1\na\n1 0 0 0 0 " + "W1 " * 13 + "\nb 3 4 0 0 0 0\n"])

        def do_GET(self):
            heard.append({name.lower(): value for name, value in self.headers.items() if "Match" in name})
            reply = next(self.replies, None)
            self.send_response(200 if reply else 410)
            self.end_headers()
            self.wfile.write((reply or "").encode())

        def log_message(self, *words):
            pass

    server = HTTPServer(("127.0.0.1", 0), Platform)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    command = [sys.executable, str(EXAMPLE), "--at", f"http://127.0.0.1:{server.server_port}/localai"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    server.shutdown()
    assert "410" in done.stderr
    assert done.stdout == "b 3 4 0 0 0 0\n"
    assert heard == [{}, {"x-match-a": "PASS", "x-match-b": "PASS"}, {"x-match-a": "PASS"}]
