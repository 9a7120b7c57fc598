"""The policies that are installed with the package: small, safe to load, with a card, and able to play."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest

from mahjong_agents import make_agent
from mahjong_agents.policy.file import SHIPPED, PolicyFile, find_policy
from mahjong_agents.policy.plane_inputs import inputs_fingerprint
from mahjong_env import OBSERVATION_VERSION, VARIANTS, make_engine

NAMES = sorted(path.stem for path in SHIPPED.glob("*.zip"))


def test_all_of_them_take_less_than_five_megabytes():
    assert NAMES
    assert set(NAMES) <= set(VARIANTS)
    assert sum(path.stat().st_size for path in SHIPPED.iterdir()) < 5 * 2**20


@pytest.mark.parametrize("name", NAMES)
class TestPolicy:
    def test_is_found_by_the_name_of_its_variant(self, name):
        agent = make_agent(f"policy:{name}")
        engine, rng = make_engine(name, 20, seed=1), np.random.default_rng(0)
        while (live := np.flatnonzero(engine.seat_to_act >= 0)).size:
            engine.step(agent.act(engine.view(live), rng), games=live)
        assert find_policy(name) == SHIPPED / f"{name}.zip"

    def test_it_plays_what_it_likes_best(self, name):
        view, agent = make_engine(name, 20, seed=1).view(), make_agent(f"policy:{name}")
        liked, chosen = agent.scores(view), agent.act(view, np.random.default_rng(0))
        np.testing.assert_array_equal(liked[np.arange(20), chosen], liked.max(axis=1))
        assert (liked.max(axis=1) > np.where(np.isfinite(liked), liked, np.inf).min(axis=1)).all()

    def test_its_card_says_how_it_was_made_and_how_strong_it_is(self, name):
        card, saved = (SHIPPED / f"{name}.md").read_text(encoding="utf-8"), PolicyFile.read(SHIPPED / f"{name}.zip")
        assert saved.variant == name
        assert f"mahjong-env train --variant {name}" in card
        assert f"| learned from | {saved.training['hands']:,} hands, {saved.training['steps']:,} decisions" in card
        for level in ("random", "greedy", "closed-greedy"):
            assert re.search(rf"^\| {level} \| [\d,]+ \| [+-][\d.]+ ± [\d.]+ \| [+-][\d.]+ ± [\d.]+ \|", card, re.M), (
                level
            )


def test_a_policy_without_a_name_is_the_shipped_one_or_else_the_better_greedy():
    for variant, knobs, of_name in (("wuhan", {}, "policy:wuhan"), ("hebei", {"cap": 8}, "closed-greedy")):
        view = make_engine(variant, 40, seed=1, **knobs).view()
        found, wanted = (make_agent(text).act(view, np.random.default_rng(0)) for text in ("policy", of_name))
        np.testing.assert_array_equal(found, wanted)


# Runs in a process of its own: the planes with one more, as CONTRIBUTING asks for it, without touching the files.
ANOTHER_PLANE = '''
import re
from importlib.machinery import SourceFileLoader

PIECE = """
@_piece("another", meaning="1 everywhere")
def _another(seen, out):
    out[...] = 1

"""
plain = SourceFileLoader.get_code

def get_code(loader, name):
    if name != "mahjong_env.observation.planes":
        return plain(loader, name)
    source = loader.get_source(name).replace("\\nLAYOUT: Final", PIECE + "\\nLAYOUT: Final")
    moved = re.sub(r"(?m)^(OBSERVATION_VERSION: Final = )(\\d+)", lambda at: f"{at[1]}{int(at[2]) + 1}", source)
    return compile(moved, loader.path, "exec")

SourceFileLoader.get_code = get_code

import numpy as np
from mahjong_agents import make_agent
from mahjong_agents.policy.plane_inputs import inputs_fingerprint
from mahjong_env import OBSERVATION_VERSION, VARIANTS, make_engine

for name in VARIANTS:
    view = make_engine(name, 4, seed=1).view()
    print(name, *make_agent(f"policy:{name}").act(view, np.random.default_rng(0)))
print(OBSERVATION_VERSION, inputs_fingerprint(), view.observation.shape[1])
'''


def test_another_plane_leaves_the_policies_that_see_no_plane_as_they_are():
    done = subprocess.run(
        [sys.executable, "-c", ANOTHER_PLANE], capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.stderr == ""
    *played, last = done.stdout.splitlines()
    assert sorted(line.split()[0] for line in played) == sorted(VARIANTS)
    for line in played:
        name, *actions = line.split()
        view = make_engine(name, 4, seed=1).view()
        assert [*map(int, actions)] == make_agent(f"policy:{name}").act(view, np.random.default_rng(0)).tolist()
    version, seen, planes = last.split()
    assert int(version) == OBSERVATION_VERSION + 1
    assert seen != inputs_fingerprint()  # networks over planes are refused
    assert int(planes) == view.observation.shape[1] + 1
