"""Added inputs of one's own: found, checked, and shown to a network."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mahjong_agents import AgentError
from mahjong_agents.policy.custom_features import added_inputs, find_features
from mahjong_agents.policy.inputs import action_inputs
from mahjong_agents.policy.network import table_scales
from mahjong_env import VARIANTS, make_engine

EXAMPLE = Path(__file__).parents[2] / "notebooks" / "examples" / "my_features.py"


@pytest.mark.parametrize("variant", VARIANTS)
def test_they_stand_behind_those_of_the_table(variant):
    view, late = make_engine(variant, 5, seed=2).view(), find_features(f"{EXAMPLE}:Late")
    table, plain = (action_inputs(view, features).per_decision["table"] for features in (late, None))
    assert (table[:, :-3] == plain).all()
    assert (table[:, -3:] == added_inputs(late, view)).all()
    assert (table[:, -3] == np.minimum(view.left, 127)).all()
    assert table_scales(late)[-3:].tolist() == pytest.approx([1 / 70, 1 / 8, 1 / 8])


def test_they_may_be_given_by_name():
    view = make_engine("hebei", 3, seed=1).view()
    by_name = Wrong({"two": np.array([4, 5, 6]), "one": np.array([1, 2, 3], np.int8)})
    assert added_inputs(by_name, view).tolist() == [[1, 4], [2, 5], [3, 6]]


class Wrong:
    facts = {"one": 1.0, "two": 0.5}  # noqa: RUF012

    def __init__(self, returned):
        self.returned = returned

    def __call__(self, view):
        return self.returned


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        (np.zeros((3, 1), int), r"\(3, 2\) integers"),
        (np.zeros((3, 2)), "float64"),
        (np.array([[1, 2], [3, 200], [0, 0]]), "'two' is 200"),
        ({"one": np.zeros(3, int)}, r"for each of \['one', 'two'\], not \{'one': \(3,\)\}"),
        ({"one": np.zeros(3, int), "two": np.zeros((3, 1), int)}, r"'two': \(3, 1\)"),
    ],
)
def test_what_they_return_is_checked(returned, told):
    with pytest.raises(AgentError, match=told):
        added_inputs(Wrong(returned), make_engine("hebei", 3, seed=1).view())


@pytest.mark.parametrize(
    ("features", "told"),
    [
        ("late", "no class of added inputs is called 'late'"),
        (f"{EXAMPLE}:Early", "it offers Late"),
        (f"{EXAMPLE}:Late?fast=true", "no option 'fast'"),
        (3, "3 is no class of added inputs"),
        (lambda view: 0, "is no class of added inputs"),
    ],
)
def test_added_inputs_that_there_are_not(features, told):
    with pytest.raises(AgentError, match=told):
        find_features(features)
