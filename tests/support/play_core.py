"""Plays a random hand through the engine and one through PettingZoo, reads the rules, prints where the package lies.

test_wheel runs this as a script in an environment that has only the core requirements.
"""

import sys

import numpy as np

import mahjong_env
from mahjong_env import hebei_v0

rng = np.random.default_rng(7)

engine = mahjong_env.make_engine("hebei", num_games=1, seed=7)
rewards, steps = 0, 0
while engine.seat_to_act[0] >= 0:
    result = engine.step(np.array([rng.choice(np.flatnonzero(engine.action_mask[0]))]))
    rewards, steps = rewards + result.rewards, steps + 1
assert steps > 0
assert result.done.all()
assert np.sum(rewards) == 0, rewards

env = hebei_v0.env()
env.reset(seed=7)
steps = 0
for _ in env.agent_iter():
    observation, _reward, terminated, truncated, _info = env.last()
    over = terminated or truncated
    env.step(None if over else int(rng.choice(np.flatnonzero(observation["action_mask"]))))
    steps += not over
env.close()
assert steps > 0

for variant in mahjong_env.VARIANTS:
    assert "## House rules" in mahjong_env.describe_rules(variant), "the page of the rules is not in the wheel"

assert not {"mahjong_agents", "mahjong_training"} & sys.modules.keys(), "the core imports what stands above it"
print(mahjong_env.__file__)
