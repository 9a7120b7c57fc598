"""Environments as pixels: what Gymnasium's and Stable-Baselines3's recorders of videos ask for."""

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import RenderCollection
from pettingzoo.test import render_test

import mahjong_env
from mahjong_env import MissingExtraError, hebei_v0

pytest.importorskip("resvg_py")

HEBEI = "mahjong_env/Hebei-v0"


def is_picture(frame):
    return frame.dtype == np.uint8 and frame.shape == (804, 750, 3) and len(np.unique(frame)) > 50


def test_each_interface_renders_pixels():
    env = hebei_v0.env(render_mode="rgb_array")
    env.reset(seed=1)
    assert is_picture(env.render())
    single = gymnasium.make(HEBEI, render_mode="rgb_array")
    single.reset(seed=1)
    assert is_picture(single.render())
    envs = gymnasium.make_vec(HEBEI, num_envs=2, render_mode="rgb_array")
    envs.reset(seed=1)
    assert [is_picture(frame) for frame in envs.render()] == [True, True]


def test_frames_can_be_collected_for_a_video():
    env = RenderCollection(gymnasium.make(HEBEI, render_mode="rgb_array"))
    _, info = env.reset(seed=3)
    for _ in range(4):
        _, _, over, _, info = env.step(env.action_space.sample(info["action_mask"]))
        if over:
            break
    frames = env.render()
    assert len(frames) >= 2
    assert all(is_picture(frame) for frame in frames)
    assert (frames[0] != frames[1]).any()
    assert env.metadata["render_fps"] <= 4


@pytest.mark.thorough
def test_gymnasium_records_a_video(tmp_path):
    moviepy = pytest.importorskip("moviepy")
    env = gymnasium.wrappers.RecordVideo(gymnasium.make(HEBEI, render_mode="rgb_array"), str(tmp_path))
    _, info = env.reset(seed=3)
    steps = 0
    for _ in range(6):
        _, _, over, _, info = env.step(info["action_mask"].argmax())
        steps += 1
        if over:
            break
    env.close()
    (file,) = tmp_path.glob("*.mp4")
    with moviepy.VideoFileClip(str(file)) as video:
        assert video.size == [750, 804]
        assert video.fps == env.metadata["render_fps"]
        assert round(video.duration * video.fps) == steps + 1


def test_pettingzoo_renders():
    render_test(hebei_v0.env)


def test_without_the_extra_only_rendering_fails(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "resvg_py", None)
    env = mahjong_env.wuhan_v0.env(render_mode="rgb_array")
    env.reset(seed=1)
    with pytest.raises(MissingExtraError, match=r"pip install 'mahjong-env\[render\]'"):
        env.render()
