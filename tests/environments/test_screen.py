"""The render mode "human": where it shows the table, and how long a frame stands."""

import io
import os
import shutil
import subprocess
import sys
import textwrap

import gymnasium
import pytest

import mahjong_env  # noqa: F401  (registers the environments)
from mahjong_env.environments import render as screen
from mahjong_env.environments.render import RENDER_FPS


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def pauses(monkeypatch):
    waited = []
    monkeypatch.setattr(screen, "_window", [None])
    monkeypatch.setattr(screen.time, "sleep", waited.append)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return waited


def play(steps=3):
    env = gymnasium.make("mahjong_env/Hebei-v0", render_mode="human")
    _, info = env.reset(seed=2)
    for _ in range(steps):
        env.step(info["action_mask"].argmax())
        info = {"action_mask": env.unwrapped.action_masks()}
    return env


def test_a_terminal_is_drawn_in_its_place_and_given_time(monkeypatch, pauses):
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    play()
    frames = terminal.getvalue().split("\x1b[H\x1b[J")
    assert frames[0] == ""
    assert len(frames) == 5
    assert all("Hebei 河北麻将" in frame for frame in frames[1:])
    assert len(pauses) == 4
    assert 0.5 / RENDER_FPS < max(pauses) <= 1 / RENDER_FPS


def test_a_file_gets_one_table_after_the_other_at_once(monkeypatch, pauses):
    file = io.StringIO()
    monkeypatch.setattr("sys.stdout", file)
    play()
    assert "\x1b" not in file.getvalue()
    assert file.getvalue().count("Hebei 河北麻将: hand 1") == 4
    assert pauses == []


def test_a_dumb_terminal_is_not_cleared(monkeypatch, pauses):
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("TERM", "dumb")
    play()
    assert "\x1b" not in terminal.getvalue()


def test_no_window_without_a_screen(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert screen._open_window() is None
    monkeypatch.setenv("DISPLAY", ":77777")  # a screen that is not there
    assert screen._open_window() is None


@pytest.mark.skipif(shutil.which("Xvfb") is None, reason="no Xvfb to be looked at")
@pytest.mark.thorough
def test_a_window_shows_the_picture(tmp_path):
    pytest.importorskip("resvg_py")
    pytest.importorskip("tkinter")
    code = """
        import gymnasium, mahjong_env
        from mahjong_env.environments import render as screen
        env = gymnasium.make("mahjong_env/Hebei-v0", render_mode="human")
        _, info = env.reset(seed=2)
        env.step(info["action_mask"].argmax())
        window = screen._the_window()
        print(window._root.winfo_width(), window._root.winfo_height(), window._image.get(5, 5))
        window._close()
        env.render()
    """
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", "1", "-screen", "0", "1000x900x24"],
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    try:
        display = f":{server.stdout.readline().strip()}"
        settings = {**os.environ, "DISPLAY": display}
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            capture_output=True,
            text=True,
            env=settings,
            timeout=100,
            encoding="utf-8",
        )
    finally:
        server.terminate()
        server.wait()
    assert done.stderr == ""
    first, *after = done.stdout.splitlines()
    assert first == "750 804 (228, 239, 230)"
    assert after[0].startswith("Hebei 河北麻将")  # closed by the person: text from then on
