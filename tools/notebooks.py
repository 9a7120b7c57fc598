"""Executes the notebooks and keeps their outputs: ``make notebooks`` at full size, a test at a tenth of it.

Sizes are in cells with the tag "sizes", one name and number in each line. Every notebook begins with buttons that open
it on Colab and on Kaggle, and a cell that installs the package there; this module writes both.
"""

from __future__ import annotations

import re
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
REPOSITORY = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Repository"]
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
_SIZE = re.compile(r"^(\w+ = )([\d_]+)$", re.MULTILINE)
_SMALLEST = 4
_TEMPORARY = re.compile(re.escape(tempfile.gettempdir()) + r"[/\\][^/\\\s]+[/\\]")


def buttons(name: str) -> str:
    """Return the text of the cell with links to Colab and Kaggle."""
    at = f"{REPOSITORY.removeprefix('https://')}/blob/main/notebooks/{name}.ipynb"
    colab = f"https://colab.research.google.com/{at.replace('github.com', 'github', 1)}"
    kaggle = f"https://kaggle.com/kernels/welcome?src=https://{at}"
    return (
        f"[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]({colab})\n"
        f"[![Open in Kaggle](https://kaggle.com/static/images/open-in-kaggle.svg)]({kaggle})"
    )


def install() -> str:
    """Return the code of the cell that installs the package if it is not installed yet."""
    return (
        "import importlib.util\n\n"
        'if importlib.util.find_spec("mahjong_env") is None:  # on Colab and Kaggle\n'
        f'    %pip install --quiet "mahjong-env[train,evaluate] @ git+{REPOSITORY}"'
    )


def with_head(notebook: Any, name: str) -> Any:
    """Return the notebook with its buttons and the cell that installs the package below the title."""
    cells = [cell for cell in notebook.cells if cell["id"] not in ("buttons", "install")]
    head = [
        nbformat.v4.new_markdown_cell(buttons(name), id="buttons"),
        nbformat.v4.new_code_cell(install(), id="install"),
    ]
    notebook.cells = [cells[0], *head, *cells[1:]]
    return notebook


def smaller(notebook: Any, divisor: int) -> Any:
    """Return the notebook with its sizes divided by a number."""
    for cell in notebook.cells:
        if "sizes" in cell.metadata.get("tags", ()):
            cell.source = _SIZE.sub(lambda line: f"{line[1]}{max(int(line[2]) // divisor, _SMALLEST)}", cell.source)
    return notebook


def executed(notebook: Any, folder: Path) -> Any:
    """Return the notebook with its outputs, without what differs from machine to machine.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell failed.
    """
    NotebookClient(notebook, timeout=3600, record_timing=False, resources={"metadata": {"path": str(folder)}}).execute()
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    for cell in notebook.cells:
        if cell.cell_type == "code":
            # Messages of libraries (progress, warnings) are not results.
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
            for output in cell.outputs:
                if "text" in output:
                    output.text = _TEMPORARY.sub("", output.text)
    return notebook


if __name__ == "__main__":
    for path in NOTEBOOKS:
        if not sys.argv[1:] or path.stem in sys.argv[1:]:
            notebook = with_head(nbformat.read(path, 4), path.stem)
            nbformat.write(executed(notebook, path.parent), path)
            sys.stdout.write(f"executed: {path.relative_to(ROOT)}, {path.stat().st_size:,} bytes\n")
