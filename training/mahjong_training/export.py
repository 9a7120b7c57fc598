"""``mahjong-env export``: a policy as an ONNX model."""

from __future__ import annotations

from mahjong_agents.policy.onnx_file import write_onnx
from mahjong_training.config import ExportConfig
from mahjong_training.runtime.folders import check_file


def run(config: ExportConfig) -> None:
    """Write the model, and say what plays it.

    Raises:
        MahjongError: there is no such policy, it cannot be exported, or the file cannot be written.
    """
    check_file(config.out)
    write_onnx(config.policy, config.out)
    print(f"{config.out}: written; onnx:{config.out} plays it, and docs/agents.md says what it takes and gives")
