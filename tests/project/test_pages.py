"""The pages of docs/ whose code is to be run as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["performance.md"])
def test_the_code_of_a_page_runs(page):
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    if any("import torch" in block for block in blocks):
        pytest.importorskip("torch")
    for block in blocks:
        exec(compile(block, page, "exec"), names)
