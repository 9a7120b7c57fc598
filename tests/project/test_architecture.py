"""The architecture holds, and each of its checks can fail (on a tree made up for the purpose)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from support import architecture
from support.architecture import CHECKS

HERE = architecture.modules(Path(__file__).parents[2])
SOUND = {
    "mahjong_env/__init__.py": "import gymnasium\nfrom mahjong_env import hebei_v0\n",
    "mahjong_env/basics/__init__.py": "",
    "mahjong_env/basics/tiles.py": '"""As in Hebei."""\nimport numpy as np\n"""Wuhan does not."""  # nor Taiwan\n',
    "mahjong_env/state/__init__.py": "",
    "mahjong_env/state/flat.py": "from mahjong_env.basics.tiles import np\nFlat = 1",
    "mahjong_env/state/arrays.py": "def f(s): return s._flat.hand",
    "mahjong_env/engine/__init__.py": "",
    "mahjong_env/engine/claim_rules.py": "import numpy as np\nfrom mahjong_env.basics.tiles import np",
    "mahjong_env/engine/batch.py": "import enum\nfrom mahjong_env.basics import tiles\nfrom ..state import arrays\n",
    "mahjong_env/hands.py": "if TYPE_CHECKING:\n    from mahjong_env.engine.batch import Engine",
    "mahjong_env/environments/aec.py": "from pettingzoo import AECEnv\ndef late(): import rlcard\n",
    "mahjong_env/hebei_v0.py": 'from pettingzoo import AECEnv\nNAME = "hebei"\n',
    "mahjong_env/variants/__init__.py": "from mahjong_env.variants import hebei\n",
    "mahjong_env/variants/hebei.py": 'NAME = "hebei"\n',
    "agents/mahjong_agents/__init__.py": "import mahjong_env\nimport torch\n",
    "training/mahjong_training/__init__.py": "from mahjong_agents import greedy\n",
}


def violations(check, root):
    return list(check(architecture.modules(root)))


@pytest.fixture
def grow(tmp_path):
    """Writes a sound small tree with some files replaced or added, and says where it lies."""

    def write(files):
        for name, text in {**SOUND, **files}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path

    return write


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_packages_hold(check, grow):
    assert list(check(HERE)) == []
    assert violations(check, grow({})) == []
    assert {module.name for module in HERE} >= set(architecture.LAYERS)


TILES, BATCH, FACE = "mahjong_env/basics/tiles.py", "mahjong_env/engine/batch.py", "mahjong_env/__init__.py"
GREEDY, RULES = "agents/mahjong_agents/greedy.py", "mahjong_env/engine/claim_rules.py"
BROKEN = {
    architecture.imports_upwards: [
        (TILES, "import mahjong_agents"),
        (TILES, "def late(): from mahjong_training.learning.ppo import learn"),
        (TILES, "importlib.import_module('mahjong_agents.greedy')"),
        (TILES, "from mahjong_env.state.arrays import State"),
        (TILES, "def late(): from ..engine import batch"),
        (BATCH, "import mahjong_env.environments.aec"),
        (GREEDY, "from mahjong_training.learning import ppo"),
        ("mahjong_env/utils/__init__.py", ""),
    ],
    architecture.needs_too_much: [
        (BATCH, "import gymnasium"),
        (BATCH, "def late(): import scipy.stats"),
        (BATCH, "from mahjong_env import hebei_v0"),
        (BATCH, "from .. import VARIANTS"),
        ("mahjong_env/cli/bench.py", "import rlcard"),
    ],
    architecture.private_memory: [
        (BATCH, "from mahjong_env.state.flat import Flat"),
        ("mahjong_env/variants/hebei.py", "def hand(state, index): return state._flat.hand[index]"),
        (RULES, "from mahjong_env import state"),
    ],
    architecture.variants_named_elsewhere: [
        (BATCH, "if rules.name == 'wuhan': pass"),
        (BATCH, "message = f'{seat} may not do so in Fuzhou'"),
        (BATCH, "import mahjong_env.variants.taiwan"),
        (BATCH, "from mahjong_env import variants as hangzhou_rules"),
        (BATCH, "def is_hebei(): pass"),
        (BATCH, "state.hebei_dealer = 1"),
        (BATCH, "f(taiwan=1)"),
        (FACE, "DEFAULT = 'hebei'"),
        (GREEDY, "class WuhanGreedy: pass"),
        ("mahjong_env/variants/hebei.py", "from mahjong_env.variants import wuhan"),
        ("mahjong_env/sichuan_v0.py", "is_fuzhou = True"),
    ],
    architecture.modules_named_like_functions: [
        ("mahjong_env/state/__init__.py", "from mahjong_env.basics import arrays"),
        ("mahjong_env/state/__init__.py", "def arrays(): pass"),
    ],
}


@pytest.mark.parametrize(
    ("check", "file", "line"), [(check, *broken) for check, every in BROKEN.items() for broken in every]
)
def test_a_violation_is_found(check, file, line, grow):
    (violation,) = violations(check, grow({file: line}))
    assert violation.startswith(f"{file}:1 ")


def test_a_new_variant_is_watched_without_being_listed(grow):
    root = grow({"mahjong_env/sichuan_v0.py": "", BATCH: "is_sichuan = True"})
    (violation,) = violations(architecture.variants_named_elsewhere, root)
    assert "is_sichuan" in violation


# --- Nothing that one system only has is needed ---------------------------------------------------------------------


ROOT = Path(__file__).parents[2]
FOLDERS = ("mahjong_env", "agents", "training", "benchmarks", "tools", "experiments", "notebooks", "docs")
ONE_SYSTEM = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "termios", "tty", "msvcrt", "winreg", "winsound"}
ONE_SYSTEM |= {"os.fork", "os.killpg", "os.setsid", "signal.pause", "get_context('fork')", "set_start_method('fork')"}


def problems(source):
    """What a source would not do on another system; a sentence each."""
    if not any(name.partition("(")[0].rpartition(".")[2] in source for name in ONE_SYSTEM):
        return  # parsing takes longer
    tree = ast.parse(source)
    guarded = {id(node) for found in ast.walk(tree) if isinstance(found, ast.Try) for node in ast.walk(found)}
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in guarded:
            names = [getattr(node, "module", None), *(alias.name for alias in node.names)]
        elif isinstance(node, ast.Attribute | ast.Call):
            names = [ast.unparse(node), ast.unparse(node).rpartition(".")[2]]
        yield from (f"line {node.lineno}: {name} is not on every system" for name in ONE_SYSTEM & set(names))


def test_no_source_depends_on_the_system():
    sources = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    assert len(sources) > 200
    assert {str(path): found for path in sources if (found := list(problems(path.read_text(encoding="utf-8"))))} == {}


def test_what_depends_on_the_system_is_found():
    bad = "import fcntl\nfrom pwd import getpwnam\nmultiprocessing.get_context('fork')\nos.fork()"
    assert sorted({problem.partition(":")[0] for problem in problems(bad)}) == [f"line {n}" for n in (1, 2, 3, 4)]
    good = "try:\n    import fcntl\nexcept ImportError:\n    fcntl = None\nmultiprocessing.get_context('spawn')"
    assert list(problems(good)) == []
