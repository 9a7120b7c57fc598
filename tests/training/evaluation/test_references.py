"""What an evaluation says that trained policies are: only what is true of the way they were trained."""

from __future__ import annotations

import numpy as np
import pytest

import mahjong_env
from mahjong_agents.policy.file import PolicyFile
from mahjong_agents.policy.network import ARCHITECTURE, prior, shapes
from mahjong_training.evaluation.references import with_references


def write(path, *, steps, **training):
    """Write a small policy with a header of a run."""
    weights = {name: np.zeros(shape, np.float32) for name, shape in shapes(4).items()} | {"prior": prior(claims=True)}
    header = {"steps": steps, "teacher": "greedy", "teachers": ["greedy", "closed-greedy"]} | training
    rules = mahjong_env.rules("hebei")
    path.parent.mkdir(exist_ok=True)
    PolicyFile(
        rules.name, rules.version, {"width": 4}, weights, rules.knobs, training=header, architecture=ARCHITECTURE
    ).write(path)
    return f"policy:{path}"


def roles(spec, rules=None):
    return [entrant.role for entrant in with_references([spec], rules)]


def test_a_policy_of_the_fast_path_has_imitated_nobody(tmp_path):
    write(tmp_path / "initial.zip", steps=0, method="ppo")
    assert roles(write(tmp_path / "best.zip", steps=64, method="ppo")) == [
        "learned from 64 decisions, having begun as greedy",
        "the same before learning: it plays like greedy",
        "what it began as",
        "not what it began as",
    ]
    assert roles(f"policy:{tmp_path}/initial.zip")[0].startswith("plays like greedy; what the policies of its run were")


def test_a_policy_of_the_other_path_has(tmp_path):
    write(tmp_path / "initial.zip", steps=0)
    assert roles(write(tmp_path / "best.zip", steps=64)) == [
        "learned from 64 decisions, after imitating greedy",
        "the same before learning: it imitates greedy",
        "teacher, imitated",
        "teacher, not imitated",
    ]


@pytest.mark.parametrize("method", ["ppo", None])
def test_nothing_better_is_said_of_both(method, tmp_path):
    write(tmp_path / "last.zip", steps=64, method=method)
    words = "plays like" if method else "imitates"
    found = roles(write(tmp_path / "best.zip", steps=0, method=method))
    assert found[0] == f"{words} greedy; nothing that was learned later measured better"


def test_the_shipped_policies_did_not_imitate():
    for name in mahjong_env.VARIANTS:
        assert not any("imitat" in role for role in roles(f"policy:{name}"))


def test_other_house_rules_than_it_was_trained_with_are_said():
    asked = mahjong_env.rules("hebei", players=4, cap=8)
    first = roles("policy:hebei", asked)[0]
    assert first.endswith("; trained with other house rules: players=3, cap=None")
    assert "house rules" not in roles("policy:hebei", mahjong_env.rules("hebei"))[0]
    assert "house rules" not in roles("policy:hebei?any_variant=true", mahjong_env.rules("wuhan"))[0]
