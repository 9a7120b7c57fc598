"""``mahjong-env export``: write a policy as an ONNX model.

This works for the policies of `train`, which include the shipped ones. The model takes the inputs of
`mahjong_agents.policy.inputs.action_inputs` for n decisions with m legal actions in all, and returns the logits of
these actions. Its metadata say what the policy was trained for.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Final

from mahjong_agents.base import PolicyFileError
from mahjong_agents.models import POLICY
from mahjong_agents.policy.file import PolicyFile, find_policy
from mahjong_agents.policy.network import ARCHITECTURE, ActionNetwork
from mahjong_env import MissingExtraError
from mahjong_env.basics.files import replacing
from mahjong_training.config import ExportConfig
from mahjong_training.runtime.folders import check_file

# `mahjong_agents.policy.network.ActionNetwork.scores`. Opset and format date from 2022, so that older runtimes read it.
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


def run(config: ExportConfig) -> None:
    """Write the model, and print how to play with it.

    Raises:
        MahjongError: there is no such policy, it cannot be exported, or the file cannot be written.
    """
    check_file(config.out)
    write_onnx(config.policy, config.out)
    print(f"{config.out}: written; onnx:{config.out} plays it, and docs/agents.md says what it takes and gives")


def write_onnx(place: str, out: Path) -> None:
    """Write a policy as an ONNX model; ``onnx:FILE`` then plays in the same way as ``policy:PLACE``.

    Args:
        place: the policy; see `mahjong_agents.policy.file.find_policy`.
        out: the file to write; an existing file is replaced.

    Raises:
        PolicyFileError: there is no such policy, or its network is of another kind or has added inputs.
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
