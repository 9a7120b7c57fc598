"""What engines, views and environments show of themselves at a prompt."""

import gymnasium
import pytest

from mahjong_env import hebei_v0, make_engine


def made(env):
    env.reset(seed=1)
    return env


SHOWN = {
    "engine": (lambda: make_engine("hebei", 20, seed=1), "<Engine of hebei: 20 games, 20 of them under way>"),
    "view": (lambda: make_engine("hebei", 20, seed=1).view(), "<View of hebei: 20 rows, seen by the persons "),
    "AEC": (lambda: made(hebei_v0.env()), "<hebei_v0: player_"),
    "AEC, not begun": (hebei_v0.raw_env, "<hebei_v0: to be reset>"),
    "one seat": (lambda: made(gymnasium.make("mahjong_env/Hebei-v0")).unwrapped, "<SingleSeatEnv of hebei: player_"),
    "many": (lambda: gymnasium.make_vec("mahjong_env/Hebei-v0", num_envs=3), "<MahjongVectorEnv of hebei: 3 tables>"),
}


@pytest.mark.parametrize(("make", "shown"), SHOWN.values(), ids=SHOWN)
def test_they_are_shown_in_a_line(make, shown):
    text = repr(make())
    assert text.startswith(shown)
    assert len(text) < 120


def test_a_view_lists_its_arrays():
    view = make_engine("hebei", 2, seed=1).view()
    assert set(view.array_names()) | {"rules", "worlds"} <= set(dir(view))
