"""The page without a server: the same answers, and whole hands in a browser that reaches nothing but static files."""

import json
import subprocess
import sys
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import mahjong_env
from mahjong_env.play import tab
from mahjong_env.records import GameRecord, replay_points
from support.browser import WIDE, chromium, messages, wait
from support.playing import READY
from tools import play_in_tab


def answered(path, body=None):
    method, text = ("GET", "{}") if body is None else ("POST", json.dumps(body))
    return json.loads(tab.answer(method, path, text))


def test_a_match_goes_on_from_what_was_kept_of_it():
    def play(game, told):
        """Answer, or go on; the answer, and what is kept."""
        if told["waitsFor"] == "next":
            return answered(f"games/{game}/next", {"position": told["position"]})
        return answered(f"games/{game}/answer", {"position": told["position"], "action": told["legal"][-1]})

    wanted = {"variant": "hebei", "agent": "policy", "seat": 1, "hands": 4, "knobs": ["cap=8"]}
    _, begun, line = answered("games", wanted)
    told = begun
    while told["waitsFor"] == "answer":
        _, told, line = play(begun["game"], told)
    record = GameRecord.from_json(line)
    assert (record.is_complete, dict(record.knobs)) == (False, {"cap": 8})
    status, on, kept = json.loads(tab.answer("POST", "kept", line))
    assert (status, on["waitsFor"], on["frames"][0]["event"]["type"]) == (200, "answer", "resumed")
    assert (on["table"], on["pointsByHand"]) == (begun["table"], told["pointsByHand"])
    assert GameRecord.from_json(kept).actions[: len(record.actions)] == record.actions
    game = on["game"]
    while on["waitsFor"] != "over":
        _, on, kept = play(game, on)
    assert kept == ""
    assert len(on["pointsByHand"]) == 1 + 4
    assert answered(f"games/{game}")[2] == ""
    assert replay_points(GameRecord.from_json(answered(f"games/{game}/record")[1])) == tuple(on["pointsByHand"][-1])
    assert answered("games/none")[0] == 404
    assert answered("games", wanted | {"agent": "search"})[0] == 400
    assert len(answered("rules", {"variant": "hebei"})) == 2
    assert json.loads(tab.answer("POST", "kept", '{"format": "other"}'))[0] == 400


def test_it_needs_numpy_alone():
    code = """
import sys
for name in ("gymnasium", "pettingzoo", "scipy", "torch"):
    sys.modules[name] = None
from mahjong_env.play.tab import answer
print(answer("POST", "games", '{"variant": "wuhan", "agent": "policy", "seat": 0, "hands": 1}'))
"""
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, encoding="utf-8")
    status, told, _ = json.loads(printed.stdout)
    assert (status, told["waitsFor"]) == (200, "answer")


def test_nothing_is_written_without_the_packages(tmp_path, monkeypatch):
    monkeypatch.setattr(play_in_tab, "PACKAGES", tmp_path / "nowhere")
    assert not play_in_tab.write(tmp_path / "site")
    assert not (tmp_path / "site").exists()


@contextmanager
def static_files(folder):
    asked = []

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, _, line, *rest):
            asked.append(line)

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/", asked
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.thorough
def test_a_hand_of_every_variant_in_a_tab(tmp_path):
    if not play_in_tab.write(tmp_path / "play"):
        pytest.skip(f"no Pyodide in {play_in_tab.PACKAGES}: make pyodide fetches it")
    with static_files(tmp_path) as (site, asked), chromium(WIDE) as browser:
        browser.execute_cdp_cmd(
            "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path / "saved")}
        )
        browser.get(f"{site}play/index.html")
        wait(browser, "document.querySelector('[role=status]')?.dataset.say === 'inTab'", 300)
        browser.execute_script("set('pace', 0); grace = 0; Object.assign(chosen, { passes: true })")
        for number, variant in enumerate(mahjong_env.VARIANTS):
            agent = "policy" if number % 2 else "greedy"
            browser.execute_script(f"Object.assign(wanted, {{ variant: '{variant}', agent: '{agent}', knobs: [] }})")
            browser.execute_script("drawLobby(); look()")
            wait(browser, f"looked?.table.variant === '{variant}'")
            browser.find_element("id", "start").click()
            wait(browser, READY)
            browser.find_element("id", "hint").click()
            wait(browser, f"document.querySelector('#hints table') && {READY}")
            while not browser.find_elements("id", "again"):
                before = browser.execute_script("return state.position")
                browser.find_elements("css selector", "#table .own .hand button, #ask .win")[-1].click()
                wait(browser, f"state.position > {before} && {READY}")
            assert browser.execute_script("return data.agents").count(agent) == mahjong_env.rules(variant).people - 1
            if number == 0:
                browser.find_element("id", "save").click()
                wait(browser, "document.querySelector('#save').href.startsWith('blob:')")
                points = browser.execute_script("return state.pointsByHand.at(-1)")
            browser.find_element("id", "other").click()
        assert messages(browser) == []
        assert len(asked) == 1 + len(list(Path(tmp_path, "play", "python").iterdir())) - 1  # once; no package.json
        browser.find_element("id", "start").click()
        wait(browser, READY)
        browser.find_elements("css selector", "#table .own .hand button, #ask button")[0].click()
        wait(browser, f"state.position && {READY}")
        match = browser.execute_script("return [data, state.legal, JSON.stringify(shown.table)]")
        browser.refresh()
        wait(browser, f"state && {READY}", 300)
        assert browser.execute_script("return state.frames[0].event.type") == "resumed"
        assert browser.execute_script("return [data, state.legal, JSON.stringify(shown.table)]") == match
        browser.refresh()
        wait(browser, f"state && {READY}", 300)
        assert browser.execute_script("return JSON.stringify(shown.table)") == match[2]
    (saved,) = (tmp_path / "saved").iterdir()
    assert list(replay_points(GameRecord.from_json(saved.read_text(encoding="utf-8")))) == points
