"""The notebooks are committed with the outputs of a whole run, small, and without traces of the machine.

`make notebooks` executes them and writes their outputs; here they are executed at a tenth of their size.
"""

from __future__ import annotations

import json
import re

import pytest

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")

from tools.notebooks import KERNEL, NOTEBOOKS, buttons, executed, install, smaller  # noqa: E402

PLACES = re.compile(r"(?<![\w.])/(?:home|Users|work|tmp|root|opt|mnt|content)/|\b[A-Z]:\\")
MOST_BYTES = 400_000


def problems(notebook):
    """What is wrong with a notebook, a sentence each."""
    count = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            if cell["execution_count"] != count:
                yield f"cell {cell['id']} was not executed in its turn: run `make notebooks`"
            if any(output["output_type"] == "error" for output in cell["outputs"]):
                yield f"cell {cell['id']} failed"
            if any(output.get("name") == "stderr" for output in cell["outputs"]):
                yield f"cell {cell['id']} has messages of libraries among its outputs"
        if cell["metadata"] not in ({}, {"tags": ["sizes"]}):
            yield f"cell {cell['id']} has metadata"
        if PLACES.search(json.dumps(cell, ensure_ascii=False)):
            yield f"cell {cell['id']} names a place on one machine"
    if len({cell["id"] for cell in notebook["cells"]}) < len(notebook["cells"]):
        yield "two cells have the same id"
    if notebook["metadata"] != {"kernelspec": KERNEL, "language_info": {"name": "python"}}:
        yield "the metadata name a kernel other than python3, or more than the kernel"


def code_cell(source="1 + 1", **changes):
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "execution_count": 1, "outputs": [], "source": source}
    return cell | changes


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_clean(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert list(problems(notebook)) == []
    assert path.stat().st_size < MOST_BYTES
    title, links, installs, *_ = ("".join(cell["source"]) for cell in notebook["cells"])
    assert title.startswith("# ")
    assert (links, installs) == (buttons(path.stem), install())
    for cell in notebook["cells"]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", "".join(cell["source"])):
            assert (path.parent / target).exists(), target


@pytest.mark.parametrize(
    "cell",
    [
        code_cell(execution_count=None),
        code_cell(execution_count=2),
        code_cell(outputs=[{"output_type": "error", "ename": "ValueError"}]),
        code_cell(outputs=[{"output_type": "stream", "name": "stderr", "text": "50 %"}]),
        code_cell(outputs=[{"output_type": "stream", "name": "stdout", "text": "/home/me/run"}]),
        code_cell(metadata={"scrolled": True}),
        code_cell("open('/home/me/run.zip')"),
    ],
)
def test_traces_are_found(cell):
    notebook = {"cells": [cell], "metadata": {"kernelspec": KERNEL, "language_info": {"name": "python"}}}
    assert len(list(problems(notebook))) == 1


def test_sizes_are_divided():
    cell = code_cell("HANDS = 1_000\nSEED = 7\nNAME = 'x'", metadata={"tags": ["sizes"]})
    notebook = nbformat.from_dict({"cells": [cell, code_cell("HANDS = 1000")]})
    divided = [cell.source for cell in smaller(notebook, 10).cells]
    assert divided == ["HANDS = 100\nSEED = 4\nNAME = 'x'", "HANDS = 1000"]


@pytest.mark.thorough
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_at_a_small_size(path, tmp_path):
    notebook = executed(smaller(nbformat.read(path, 4), 10), tmp_path)
    assert list(problems(notebook)) == []


@pytest.mark.thorough
def test_a_notebook_that_fails_is_found(tmp_path):
    from nbclient.exceptions import CellExecutionError

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")], metadata={"kernelspec": KERNEL})
    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        executed(notebook, tmp_path)
