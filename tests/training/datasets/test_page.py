"""The blocks of docs/datasets.md and docs/records.md run, one after the other, on data of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from mahjong_env import MissingExtraError
from mahjong_env.cli import main
from tools.readme import code_blocks

DOCS = Path(__file__).parents[3] / "docs"
OF_OTHERS = ("datasets", "minari", "pyarrow", "torch")  # libraries that a block may ask for


@pytest.mark.thorough
def test_blocks_of_the_page_on_datasets_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    small = ["--hands", "60", "--agents", "greedy", "random", "--parquet", "observation", "events", "hidden"]
    for variant in ("hangzhou", "hebei"):
        assert main(["record", "--variant", variant, *small, "--out", f"datasets/{variant}"]) == 0
    names = {"network_inputs": lambda view: view.observation, "__name__": "page"}
    ran = 0
    for number, block in enumerate(code_blocks("python", DOCS / "datasets.md")):
        try:
            exec(compile(block.replace("num_workers=2", "num_workers=0"), f"datasets.md block {number}", "exec"), names)
            ran += 1
        except (ImportError, MissingExtraError) as error:
            if not any(library in str(error) for library in OF_OTHERS):
                raise
    assert ran >= 4
