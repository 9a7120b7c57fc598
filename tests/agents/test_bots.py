"""Bots of any language: what they are told, what becomes of what they say, and the examples."""

import copy
import gc
import json
import pickle
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
import time
from importlib import resources
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from mahjong_agents import AgentError, make_agent
from mahjong_agents.base import games_at_once
from mahjong_agents.bot_process import BotProcess
from mahjong_env import ACTIONS, make_engine
from mahjong_env.basics.tiles import KIND_NAMES
from mahjong_env.environments.agents import choose_actions
from support.marks import everyday, variants
from support.positions import in_mid_hand

EXAMPLES = Path(__file__).parents[2] / "notebooks" / "examples" / "bots"
SCHEMA = json.loads(resources.files("mahjong_agents").joinpath("bot.schema.json").read_text("utf-8"))
PYTHON = shlex.quote(sys.executable)
# Plays the last legal action, and fails at its request number AT in the way that it is told.
FAILING = textwrap.dedent(
    """
    import json, subprocess, sys, time
    how, at, asked = sys.argv[1], int(sys.argv[2]), 0
    if how == "mute": time.sleep(1000)
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            print(json.dumps({"type": "ready"}), flush=True)
        if message["type"] != "request":
            continue
        asked += 1
        answer = {"type": "answer", "table": message["table"], "action": message["legal"][-1]}
        if asked == at:
            if how == "crash": raise RuntimeError("not today")
            if how == "close": sys.exit(0)
            if how == "hang": time.sleep(1000)
            if how == "illegal": answer["action"] = "discard 9z"
            if how == "unknown": answer["table"] = 10**6
            if how == "twice": sys.stdout.write(json.dumps(answer) + "\\n")
            if how == "list": answer = []
            if how == "words": print("now it gets difficult")
            if how == "numbers": answer["action"] = 7
            if how == "deep": print("[" * 50_000, flush=True)
            if how == "long": sys.stdout.write("x" * 10**8)
            while how == "endless": print(json.dumps(answer))
            while how == "drip":
                print(" ", end="", flush=True)
                time.sleep(0.05)
            if how == "family":
                child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
                print(child.pid, file=sys.stderr, flush=True)
                time.sleep(1000)
        print(json.dumps(answer), flush=True)
    """
)


def validator(name):
    return jsonschema.Draft202012Validator({**SCHEMA, "anyOf": [{"$ref": f"#/$defs/{name}"}]})


TOLD, SAID = validator("told"), validator("said")


@pytest.fixture
def failing(tmp_path):
    (tmp_path / "failing.py").write_text(FAILING, encoding="utf-8")

    def make(how, at=6, **options):
        texts = "&".join(f"{name}={value}" for name, value in options.items())
        return make_agent(f"command:{PYTHON} {shlex.quote(str(tmp_path / 'failing.py'))} {how} {at}?{texts}")

    return make


def play(engine, agent, others="greedy", seats=(0,), seed=1):
    """Play games to their end, the agent in some seats; return all actions."""
    rng, who, actions = np.random.default_rng(seed), make_agent(others), []
    while (live := np.flatnonzero(engine.seat_to_act >= 0)).size:
        playing = np.where(np.isin(engine.seat_to_act[live], seats), 0, 1)
        actions.append(choose_actions(engine, live, [agent, who], playing, rng))
        engine.step(actions[-1], games=live)
    return np.concatenate(actions).tolist()


def said_in(folder):
    """The lines of all logs in a folder: [who, message]."""
    files = sorted(folder.glob("*.jsonl"))
    return [
        pair for file in files for line in file.read_text("utf-8").splitlines() for pair in json.loads(line).items()
    ]


def python_bot(**options):
    texts = "&".join(f"{name}={value}" for name, value in options.items())
    return make_agent(f"command:{PYTHON} {shlex.quote(str(EXAMPLES / 'bot.py'))}?{texts}")


# --- What is told ----------------------------------------------------------------------------------------------------


def test_the_schema_refuses_what_is_no_message(tmp_path):
    play(make_engine("taiwan", 10, seed=4), python_bot(log=tmp_path), "random")
    by_type = {message["type"]: (who, message) for who, message in said_in(tmp_path)}
    for who, message in by_type.values():
        check = TOLD if who == "to" else SAID
        for name in message.keys() - {"name"}:
            assert not check.is_valid({key: value for key, value in message.items() if key != name}), name
            assert not check.is_valid({**message, name: {"no": 1}}) or name in ("knobs",), name
        assert not (SAID if who == "to" else TOLD).is_valid(message)
        assert check.is_valid({**message, "more_of_it": 1}) == (who == "from")


def named(event):
    """An event's name, seat, tile, claimed tile and giver."""
    code, seat, kind, detail, giver = event
    name = ["chow", "pung", "kong", "added kong", "concealed kong", "draw", "discard", "flower"][code - 1]
    tile, claimed = (KIND_NAMES[one] if one >= 0 else None for one in (kind, detail if code < 5 else -1))
    return [name, seat, tile, claimed, giver if giver >= 0 else None]


@pytest.mark.parametrize("variant", variants("hebei", "taiwan"))
def test_what_is_told_is_what_the_seat_sees(variant, tmp_path):
    """Messages are of the schema; the events of a table are those of the view, once; a hand of a seat is one table."""
    engine, rng, agent = make_engine(variant, 3, seed=2, num_hands=2), np.random.default_rng(2), make_agent("greedy")
    bot, wanted, hands = python_bot(log=tmp_path), [], set()
    while (live := np.flatnonzero(engine.seat_to_act >= 0)).size:
        view = engine.view(live)
        bot.act(view, rng)
        events, legal = view.events, view.action_mask
        for row in range(len(live)):
            hands.add((int(live[row]), int(engine.seat_to_act[live[row]]), int(view.hand_in_match[row])))
            seen = (
                [named(event) for event in events[row].tolist() if event[0]],
                [ACTIONS[one] for one in np.flatnonzero(legal[row])],
            )
            wanted.append((*seen, view.points[row].tolist(), int(view.left[row])))
        engine.step(agent.act(view, rng), games=live)
    told, heard = [], {}
    for who, message in said_in(tmp_path):
        (TOLD if who == "to" else SAID).validate(message)
        order = SCHEMA["$defs"][message["type"]]["properties"]
        assert list(message) == [name for name in order if name in message]  # programs in C search for names
        if message["type"] == "start":
            assert message["table"] not in heard
            heard[message["table"]] = []
        if message["type"] == "event":
            heard[message["table"]].append([message.get(name) for name in ("event", "seat", "tile", "claimed", "from")])
        if who == "to" and message["type"] == "request":
            told.append(([*heard[message["table"]]], message["legal"], message["points"], message["left"]))
    assert sorted(told, key=repr) == sorted(wanted, key=repr)
    assert len(heard) == len(hands)


def test_what_a_seat_may_not_see_never_goes_over(tmp_path):
    """Two positions that a seat cannot tell apart are told in the same words."""
    told = []
    for number in range(2):
        engine = in_mid_hand("hangzhou", 40, 15, "greedy", seed=3)
        engine = engine.select(np.flatnonzero(engine.seat_to_act >= 0))
        if number:
            before = engine.state.hand.copy()
            engine.resample_hidden(engine.seat_to_act, np.random.default_rng(9))
            assert (engine.state.hand != before).any(axis=(1, 2)).all()
        python_bot(log=tmp_path / str(number)).act(engine.view(), np.random.default_rng(5))
        told.append(said_in(tmp_path / str(number)))
    assert told[0] == told[1]


def test_tables_come_and_go(tmp_path):
    """A table first seen in mid-hand is told whole; two that have seen the same are two; the longest unused end."""
    engine, bot = make_engine("hebei", 3, seed=1), python_bot(log=tmp_path)
    greedy, rng = make_agent("greedy"), np.random.default_rng(1)
    for _ in range(10):
        engine.step(greedy.act(engine.view(), rng))
    length = int((engine.view([0]).events[0, :, 0] > 0).sum())
    twins = engine.select(np.array([0, 0]))
    kept, person = twins.view(), twins.seat_to_act[0]
    twins.step(bot.act(kept, rng))
    while (twins.seat_to_act != person).any():
        assert (twins.seat_to_act >= 0).all()
        twins.step(np.full(2, greedy.act(twins.view(), rng)[0]))
    bot.act(twins.view(), rng)
    for seed in range(20):
        bot.act(make_engine("hebei", 1, seed=seed).view(), rng)
    bot.act(kept, rng)
    lines = [message for who, message in said_in(tmp_path) if who == "to"]
    started = [message["table"] for message in lines if message["type"] == "start"]
    asked = [message["table"] for message in lines if message["type"] == "request"]
    ended = [message["table"] for message in lines if message["type"] == "end"]
    assert asked[:2] == [1, 2]
    assert sorted(asked[2:4]) == [1, 2]
    assert sorted(ended[:2]) == [1, 2]
    assert asked[-2:] == [23, 24]
    assert started == list(range(1, 25))
    events = [message["table"] for message in lines if message["type"] == "event"]
    assert [events.count(table) for table in (23, 24)] == [length] * 2
    assert events.count(1) == events.count(2) > length


# --- What is said ----------------------------------------------------------------------------------------------------


def test_answers_do_not_depend_on_how_tables_are_put_together():
    """The same chance, the same answers: by several processes, in any batches."""
    engine = make_engine("wuhan", 12, seed=6)
    one = play(engine.select(np.arange(12)), python_bot())
    assert one == play(engine, python_bot())
    bot, view = python_bot(), make_engine("wuhan", 12, seed=6).view()
    alone = [int(bot.act(view.take([row]), np.random.default_rng(0))[0]) for row in range(12)]
    assert bot.act(view, np.random.default_rng(0)).tolist() == alone


@pytest.mark.parametrize(
    ("how", "what"),
    [
        ("crash", r"ended \(exit code 1\).*RuntimeError: not today"),
        ("close", r"ended \(exit code 0\)"),
        ("hang", r"not answered within 2 s"),
        ("illegal", r"answers 'discard 9z'; legal are discard"),
        ("unknown", r"the table 1000000, which is not waiting"),
        ("list", r"'\[\]' is not a message"),
        ("words", r"'now it gets difficult' is not a message"),
        ("numbers", r"'action': 7} is not an answer"),
        ("deep", r"is not a message"),
        ("long", r"a line of more than 65536 bytes"),
        ("endless", r"which is not waiting"),
        ("drip", r"not answered within 2 s"),
        ("family", r"not answered within 2 s"),
    ],
)
def test_a_failure_is_named_and_decided(how, what, failing, caplog):
    # Who is begun again has the same time to answer, on a busy machine too.
    limit = 2000 if "within" in what else 20000
    engine, bot = make_engine("hebei", 8, seed=1), failing(how, milliseconds=limit, failures=1)
    view = engine.view()
    actions = bot.act(view, np.random.default_rng(1))
    assert bot.failed.sum() == 1
    row = int(bot.failed.argmax())
    assert actions[row] == view.drawn[row]
    last = np.where(view.action_mask, np.arange(len(ACTIONS)), -1).max(axis=1)
    assert np.array_equal(np.delete(actions, row), np.delete(last, row))
    assert len(caplog.records) == 1
    assert re.search(what, caplog.text), caplog.text
    if how == "family":
        child = int(re.search(r"last errors: (\d+)", caplog.text)[1])
        assert not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text("utf-8")


def test_a_second_answer_is_not_taken_for_the_next_request(failing, caplog):
    engine, bot = make_engine("hebei", 1, seed=1), failing("twice", 1, failures=1)
    first = bot.act(engine.view(), np.random.default_rng(1))
    assert not bot.failed.any()
    while not bot._process.has_spoken():
        time.sleep(0.01)
    view = engine.view()
    assert bot.act(view, np.random.default_rng(1)) == view.drawn != first
    assert bot.failed.tolist() == [True]
    assert re.search(r": it answers for the table 1, which is not waiting", caplog.text), caplog.text


@pytest.mark.parametrize("longest", [2**16, 2**20])
def test_no_more_than_four_megabytes_of_a_flood_are_held(longest):
    process = BotProcess(f"{PYTHON} -c \"while True: print('x' * {longest - 1}, flush=True)\"", None, longest=longest)
    held = process._from
    while not held.full():
        time.sleep(0.01)
    lines = list(held.queue)
    assert 2**21 < sum(map(len, lines)) <= 2**22
    assert process.line(9) == "x" * (longest - 1)
    process.end()


def test_too_many_failures_are_an_error(failing):
    bot, view = failing("crash", 1, failures=2), make_engine("hebei", 5, seed=1).view()
    with pytest.raises(AgentError, match=r"not today. That is failure 3; 2 are tolerated"):
        bot.act(view, np.random.default_rng(1))
    assert bot._process is None


def test_bots_that_cannot_be_started(failing, monkeypatch):
    with pytest.raises(AgentError, match=r"cannot be started: .*no-such-bot"):
        make_agent("command:./no-such-bot --fast")
    with pytest.raises(AgentError, match="No closing quotation"):
        make_agent("command:./bot 'a")
    with pytest.raises(AgentError, match=r"it has ended \(exit code 3\). Its last errors: no licence"):
        make_agent(f"command:{PYTHON} -c 'import sys; print(\"no licence\", file=sys.stderr); sys.exit(3)'")
    with pytest.raises(AgentError, match="answers the greeting with"):
        make_agent('command:echo \'{"type":"answer"}\'')
    with pytest.raises(AgentError, match="it needs 'command', as in command:COMMAND"):
        make_agent("command")
    with pytest.raises(AgentError, match="has no option 'fast'"):
        make_agent("command:./bot?fast=1")
    with pytest.raises(AgentError, match="milliseconds and games must be at least 1"):
        make_agent("command:./bot?milliseconds=0")
    monkeypatch.setattr("mahjong_agents.bots._START_SECONDS", 0.3)
    with pytest.raises(AgentError, match=r"not answered within 0.3 s"):
        failing("mute")


@pytest.mark.parametrize(("name", "shown"), [("a\nb\ud83c", "a\ufffdb\ufffd"), ("\n", "\ufffd"), ("麻将 1", "麻将 1")])
def test_a_name_can_be_written(name, shown):
    """JSON may hold half of a surrogate pair, which no file takes."""
    code = f"print({json.dumps(json.dumps({'type': 'ready', 'name': name}))}); input()"
    assert make_agent(f"command:{shlex.join([sys.executable, '-c', code])}").name == f"command:{shown}"


def test_a_command_may_have_question_marks():
    code = "import json; print(json.dumps(dict(type='ready'))); input()"
    bot = make_agent(f'command:{PYTHON} -c "{code}" http://where/?seed=1&x=2?games=7')
    assert games_at_once([bot]) == 7
    assert bot.name.endswith("http://where/?seed=1&x=2")


@pytest.mark.parametrize(
    "spec", [f"command:{PYTHON} {shlex.quote(str(EXAMPLES / 'bot.py'))}?games=9", "isolated:greedy"]
)
def test_copies_have_processes_of_their_own_which_end_with_them(spec):
    def process_of(agent):
        return getattr(agent._process, "_process", agent._process)

    agent, view = make_agent(spec), make_engine("hebei", 5, seed=1).view()
    for twin in (copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):
        assert process_of(twin).pid != process_of(agent).pid
        assert games_at_once([twin]) == games_at_once([agent])
        chance = np.random.default_rng(3), np.random.default_rng(3)
        assert twin.act(view, chance[0]).tolist() == agent.act(view, chance[1]).tolist()
    process = process_of(agent)
    wait, ended = (process.wait, "returncode") if hasattr(process, "wait") else (process.join, "exitcode")
    assert getattr(process, ended) is None
    del agent
    gc.collect()
    wait(30)
    assert getattr(process, ended) == 0


def test_answers_after_an_interruption_are_not_taken_for_others(failing, monkeypatch):
    bot, view = failing("nothing"), make_engine("hebei", 5, seed=1).view()
    process = bot._process
    monkeypatch.setattr(process, "line", lambda seconds: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        bot.act(view, np.random.default_rng(1))
    assert process._process.returncode is not None
    assert bot.act(view, np.random.default_rng(1)).shape == (5,)


# --- The examples ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def example_commands(tmp_path_factory):
    """The example bots that can be run here."""
    commands = {"python": f"{PYTHON} {shlex.quote(str(EXAMPLES / 'bot.py'))}"}
    if node := shutil.which("node"):
        commands["javascript"] = f"{node} {shlex.quote(str(EXAMPLES / 'bot.js'))}"
    if compiler := shutil.which("cc"):
        binary = tmp_path_factory.mktemp("bots") / "bot"
        warnings = ("-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined")
        subprocess.run([compiler, *warnings, "-o", str(binary), str(EXAMPLES / "bot.c")], check=True)
        commands["c"] = shlex.quote(str(binary))
    return commands


@pytest.mark.parametrize("language", everyday(["python", "javascript", "c"], ["python"]))
def test_an_example_plays(language, example_commands):
    if language not in example_commands:
        pytest.skip("cannot be run here")
    bot = make_agent(f"command:{example_commands[language]}?failures=0")
    assert bot.name == f"command:simple-{language}"
    for variant in ("hebei", "hangzhou"):
        engine, twin = make_engine(variant, 20, seed=8), make_engine(variant, 20, seed=8)
        played = play(engine, bot, "random")
        assert played == play(twin, python_bot(), "random")
        assert engine.points[:, 0].mean() > engine.points[:, 1].mean()


def test_an_example_is_of_thirty_lines():
    for file in EXAMPLES.iterdir():
        assert len(file.read_text(encoding="utf-8").splitlines()) <= 40


@pytest.mark.thorough
def test_the_page_does_what_it_says(example_commands, tmp_path):
    """Its commands run one after the other, and what it shows of a hand is what was said."""
    if len(example_commands) < 3 or not shutil.which("python3"):
        pytest.skip("some of the examples cannot be run here")
    page = (EXAMPLES.parents[2] / "docs" / "bots.md").read_text(encoding="utf-8")
    shutil.copytree(EXAMPLES, tmp_path / "notebooks" / "examples" / "bots")
    for line in re.findall(r"^(?:mahjong-env|cc) .*", page, re.MULTILINE):
        line = line.replace("--deals 100", "--deals 3").replace("mahjong-env", f"{PYTHON} -m mahjong_env", 1)
        done = subprocess.run(shlex.split(line), cwd=tmp_path, capture_output=True, text=True, encoding="utf-8")
        assert done.returncode == 0, done.stderr
        assert "failure" not in done.stderr
    shown = page.partition("<!-- transcript -->\n```text\n")[2].partition("```")[0].splitlines()
    (log,) = (tmp_path / "logs").glob("*.jsonl")
    said = iter(log.read_text("utf-8").splitlines())
    assert len(shown) > 15
    assert all(line in said for line in shown if line != "...")  # in this order
