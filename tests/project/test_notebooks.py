"""The notebooks are committed without output and without traces of the machine that wrote them.

`make notebooks` executes them; here only their files are read.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
PLACES = re.compile(r"(?<![\w.])/(?:home|Users|work|tmp|root|opt|mnt|content)/|\b[A-Z]:\\")


def problems(notebook):
    """What is wrong with a notebook, a sentence each."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code" and (cell["outputs"] or cell["execution_count"] is not None):
            yield f"cell {cell['id']} has output: clear all outputs before committing"
        if cell["metadata"]:
            yield f"cell {cell['id']} has metadata"
        if PLACES.search("".join(cell["source"])):
            yield f"cell {cell['id']} names a place on one machine"
    if len({cell["id"] for cell in notebook["cells"]}) < len(notebook["cells"]):
        yield "two cells have the same id"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    if notebook["metadata"] != {"kernelspec": kernel, "language_info": {"name": "python"}}:
        yield "the metadata name a kernel other than python3, or more than the kernel"


def code_cell(source="1 + 1", **changes):
    return {
        "cell_type": "code",
        "id": "a",
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": source,
    } | (changes)


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_clean(path):
    assert list(problems(read(path))) == []


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 3


@pytest.mark.parametrize(
    "cell",
    [
        code_cell(execution_count=1),
        code_cell(outputs=[{"output_type": "stream", "text": "2"}]),
        code_cell(metadata={"scrolled": True}),
        code_cell("open('/home/me/run.zip')"),
    ],
)
def test_traces_are_found(cell):
    notebook = read(NOTEBOOKS[0])
    notebook["cells"].append(cell)
    assert len(list(problems(notebook))) == 1


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_links_between_notebooks_lead_somewhere(path):
    for cell in read(path)["cells"]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", "".join(cell["source"])):
            assert (path.parent / target).exists(), target
