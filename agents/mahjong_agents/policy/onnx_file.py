"""Policies as ONNX models: written from policy files, and played like these.

Those of `train`, the shipped ones among them. In go the inputs of `mahjong_agents.policy.inputs.action_inputs` for n
decisions with m legal actions in all, out come their logits; the metadata say what the policy was trained for.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.base import PolicyFileError
from mahjong_agents.policy.agent import PolicyAgent
from mahjong_agents.policy.file import PolicyFile, find_policy
from mahjong_agents.policy.inputs import Inputs, action_inputs
from mahjong_agents.policy.network import ARCHITECTURE, ActionNetwork
from mahjong_agents.policy.opened_file import OpenedFile
from mahjong_env import MissingExtraError, View
from mahjong_env.basics.files import replacing

POLICY: Final = "mahjong_env.policy"
"""The metadata of a model: a policy file's header as JSON."""

# `mahjong_agents.policy.network.ActionNetwork.scores`; opset and format are those of 2022, which older runtimes read.
_GRAPH: Final = """
<ir_version: 8, opset_import: ["": 17], producer_name: "mahjong_env">
policy (int8[m, A] facts, int8[n, C] table, int64[m] row) => (float[m] scores) {
    actions = Cast<to = 1>(facts)
    tables = Cast<to = 1>(table)
    of_table = Gemm(tables, table_weights, bias_weights)
    of_row = Gather<axis = 0>(of_table, row)
    of_action = MatMul(actions, facts_weights)
    first = Add(of_action, of_row)
    first_hidden = Relu(first)
    second = Gemm(first_hidden, hidden_weights, hidden_bias_weights)
    second_hidden = Relu(second)
    learned = MatMul(second_hidden, out_weights)
    prior = MatMul(actions, prior_weights)
    scores = Add(learned, prior)
}"""


def write_onnx(place: str, out: Path) -> None:
    """Write a policy as an ONNX model, which ``onnx:FILE`` plays as ``policy:PLACE`` plays.

    Args:
        place: see `mahjong_agents.policy.file.find_policy`.
        out: the file; whatever stood there is replaced.

    Raises:
        PolicyFileError: there is no such policy, or its network is of another kind.
        MissingExtraError: onnx is not installed.
    """
    try:
        from onnx import helper, numpy_helper, parser
    except ImportError as error:
        raise MissingExtraError("ONNX models need onnx: pip install 'mahjong-env[onnx]'") from error
    path = find_policy(place)
    saved = PolicyFile.read(path)
    if saved.architecture != ARCHITECTURE or saved.network.get("added"):
        raise PolicyFileError(
            f"{path}: only networks of `train` over the inputs of this package are exported; torch.onnx.export writes "
            "other modules, without their inputs"
        )
    model = parser.parse_model(_GRAPH)
    model.graph.initializer.extend(
        numpy_helper.from_array(array, f"{name}_weights") for name, array in ActionNetwork(saved.weights).scaled.items()
    )
    header = {name: value for name, value in asdict(saved).items() if name != "weights"}
    helper.set_model_props(model, {POLICY: json.dumps(header)})
    with replacing(out) as file:
        file.write(model.SerializeToString())


class OnnxNetwork:
    """A model of `write_onnx` as a `mahjong_agents.policy.network.Network`."""

    def __init__(self, file: OpenedFile) -> None:
        """Take the model, an ``onnxruntime.InferenceSession``."""
        self._file = file

    def inputs(self, view: View) -> Inputs:
        """Return what the model is shown."""
        return action_inputs(view)

    def scores(self, inputs: Inputs) -> NDArray[np.float32]:
        """Return [m] float32 the logits of all legal actions."""
        shown = {**inputs.per_action, **inputs.per_decision, "row": inputs.row.astype(np.int64)}
        try:
            scores: NDArray[np.float32] = self._file.model.run(None, shown)[0]
        except Exception as error:  # its own kinds of errors, which have no common parent
            raise PolicyFileError(f"the ONNX model does not take what its metadata say: {error}") from error
        return scores


def exported_policy(file: OpenedFile, header: str, path: Path, *, any_variant: bool = False) -> PolicyAgent:
    """Return the agent that plays a model.

    Args:
        file: the model, an ``onnxruntime.InferenceSession``.
        header: its metadata `POLICY`.
        path: its file.
        any_variant: also play variants that the policy was not trained for.

    Raises:
        PolicyFileError: the metadata are damaged, or of another version of the variant or of the inputs.
    """
    try:
        saved = PolicyFile(weights={}, **json.loads(header))
    except (TypeError, ValueError) as error:
        raise PolicyFileError(f"{path}: its metadata are not those of a policy ({error})") from error
    saved.check(path)
    agent = PolicyAgent.playing(OnnxNetwork(file), name=f"onnx:{path.stem}")
    agent.variant = None if any_variant else saved.variant
    return agent
