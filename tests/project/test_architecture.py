"""The architecture holds, and each of its checks can fail (on a tree made up for the purpose)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from support import architecture

ROOT = Path(__file__).parents[2]

Check = Callable[[Path], list[str]]
Grow = Callable[[dict[str, str]], Path]


@pytest.mark.parametrize("check", architecture.CHECKS, ids=lambda check: check.__name__)
def test_the_packages_hold(check: Check):
    assert check(ROOT) == []


def test_all_packages_are_looked_at():
    assert {module.name for module in architecture.modules(ROOT)} >= set(architecture.LAYERS)


@pytest.fixture
def grow(tmp_path: Path) -> Grow:
    """Writes a sound small tree with some files replaced or added, and says where it lies."""
    sound = {
        "mahjong_env/__init__.py": '"""Face."""\nimport gymnasium\nfrom mahjong_env import hebei_v0\n',
        "mahjong_env/tiles.py": '"""Tiles."""\nimport numpy as np\n',
        "mahjong_env/engine.py": '"""Engine."""\nimport enum\nfrom mahjong_env import tiles\nfrom . import state\n',
        "mahjong_env/state.py": '"""State."""\nfrom mahjong_env.tiles import np\n',
        "mahjong_env/hebei_v0.py": '"""Hebei."""\nfrom pettingzoo import AECEnv\nNAME = "hebei"\n',
        "mahjong_env/variants/__init__.py": '"""Registry."""\nfrom mahjong_env.variants import hebei\n',
        "mahjong_env/variants/hebei.py": '"""Hebei."""\nNAME = "hebei"\n',
        "agents/mahjong_agents/__init__.py": '"""Agents."""\nimport mahjong_env\nimport torch\n',
        "training/mahjong_training/__init__.py": '"""Training."""\nfrom mahjong_agents import greedy\n',
    }

    def write(files: dict[str, str]) -> Path:
        for name, text in {**sound, **files}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path

    return write


@pytest.mark.parametrize("check", architecture.CHECKS, ids=lambda check: check.__name__)
def test_a_sound_tree_passes(check: Check, grow: Grow):
    assert check(grow({})) == []


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("mahjong_env/tiles.py", "import mahjong_agents"),
        ("mahjong_env/tiles.py", "def late(): from mahjong_training.learning.ppo import learn"),
        ("mahjong_env/tiles.py", "importlib.import_module('mahjong_agents.greedy')"),
        ("agents/mahjong_agents/greedy.py", "from mahjong_training.learning import ppo"),
    ],
)
def test_an_import_against_the_layers_is_found(file: str, line: str, grow: Grow):
    (violation,) = architecture.imports_against_the_layers(grow({file: line}))
    assert violation.startswith(f"{file}:1 ")


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("mahjong_env/engine/draw.py", "from mahjong_env.state.flat import Flat"),
        ("mahjong_env/engine/draw.py", "import mahjong_env.state.flat"),
        ("mahjong_env/variants/hebei.py", "def hand(state, index): return state._flat.hand[index]"),
        ("agents/mahjong_agents/greedy.py", "def look(engine): return engine.state._flat"),
    ],
)
def test_flat_memory_outside_its_layer_is_found(file: str, line: str, grow: Grow):
    modules = {"mahjong_env/state/flat.py": "Flat = 1", "mahjong_env/state/arrays.py": "def f(s): return s._flat.hand"}
    (violation,) = architecture.flat_memory_elsewhere(grow({**modules, file: line}))
    assert violation.startswith(f"{file}:1 ")


def test_rules_of_claims_that_know_games_are_found(grow: Grow):
    file = "mahjong_env/engine/claim_rules.py"
    sound = "from mahjong_env.basics.tiles import NUM_KINDS\nimport numpy as np\n"
    assert architecture.pure_modules_that_know_games(grow({file: sound})) == []
    (violation,) = architecture.pure_modules_that_know_games(grow({file: f"{sound}from mahjong_env import state"}))
    assert violation.startswith(f"{file}:3 ")


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("mahjong_env/hands/codes.py", "from mahjong_env.state.arrays import State"),
        ("mahjong_env/state/arrays.py", "def late(): from mahjong_env.engine import batch"),
        ("mahjong_env/engine/batch.py", "import mahjong_env.environments.aec"),
    ],
)
def test_an_import_against_the_groups_is_found(file: str, line: str, grow: Grow):
    modules = {
        "mahjong_env/state/arrays.py": "State = 1",
        "mahjong_env/engine/batch.py": "",
        "mahjong_env/environments/aec.py": "",
    }
    (violation,) = architecture.imports_against_the_groups(grow({**modules, file: line}))
    assert violation.startswith(f"{file}:1 ")


def test_types_may_be_imported_against_the_groups(grow: Grow):
    files = {
        "mahjong_env/hands/codes.py": "if TYPE_CHECKING:\n    from mahjong_env.state.arrays import State",
        "mahjong_env/state/arrays.py": "State = 1",
    }
    assert architecture.imports_against_the_groups(grow(files)) == []


def test_a_folder_without_a_place_is_found(grow: Grow):
    (violation,) = architecture.folders_without_a_place(grow({"mahjong_env/utils/__init__.py": '"""Drawer."""'}))
    assert violation.startswith("mahjong_env/utils:1 ")


def test_a_circle_of_imports_is_found(grow: Grow):
    circle = {
        "training/mahjong_training/learning/curve.py": "from mahjong_training.evaluation.tables import table",
        "training/mahjong_training/evaluation/tables.py": "def late(): from mahjong_training.learning import curve",
    }
    (violation,) = architecture.circles_of_imports(grow(circle))
    assert violation.startswith("training/mahjong_training/evaluation/tables.py:1 ")


@pytest.mark.parametrize(
    "line",
    [
        "import gymnasium",
        "def late(): import scipy.stats",
        "from pettingzoo.utils import wrappers",
        "from mahjong_env import hebei_v0",
        "from .environments.aec import RawEnv",
        "from . import VARIANTS",
    ],
)
def test_an_engine_module_that_needs_more_than_numpy_is_found(line: str, grow: Grow):
    root = grow({"mahjong_env/engine.py": line, "mahjong_env/environments/aec.py": ""})
    (violation,) = architecture.engine_imports_beyond_numpy(root)
    assert violation.startswith("mahjong_env/engine.py:1 ")


def test_a_shell_may_need_an_extra_only_when_asked(grow: Grow):
    late = "if TYPE_CHECKING:\n    import rlcard\ndef bench():\n    import rlcard\n"
    assert architecture.core_imports_beyond_its_requirements(grow({"mahjong_env/cli/bench.py": late})) == []
    early = grow({"mahjong_env/cli/bench.py": "import rlcard"})
    (violation,) = architecture.core_imports_beyond_its_requirements(early)
    assert violation.startswith("mahjong_env/cli/bench.py:1 ")


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("mahjong_env/engine.py", "if rules.name == 'wuhan': pass"),
        ("mahjong_env/engine.py", "message = f'{seat} may not do so in Fuzhou'"),
        ("mahjong_env/engine.py", "import mahjong_env.variants.taiwan"),
        ("mahjong_env/engine.py", "from mahjong_env import variants as hangzhou_rules"),
        ("mahjong_env/engine.py", "def is_hebei(): pass"),
        ("mahjong_env/engine.py", "state.hebei_dealer = 1"),
        ("mahjong_env/engine.py", "def f(taiwan=1): pass"),
        ("mahjong_env/engine.py", "f(taiwan=1)"),
        ("mahjong_env/__init__.py", "DEFAULT = 'hebei'"),
        ("agents/mahjong_agents/greedy.py", "class WuhanGreedy: pass"),
        ("training/mahjong_training/__main__.py", "variant: str = 'hebei'"),
        ("mahjong_env/hebei_v0.py", "from mahjong_env.variants import wuhan"),
        ("mahjong_env/variants/hebei.py", "from mahjong_env.variants import wuhan"),
    ],
)
def test_a_variant_named_elsewhere_is_found(file: str, line: str, grow: Grow):
    (violation,) = architecture.variants_named_elsewhere(grow({file: line}))
    assert violation.startswith(f"{file}:1 ")


def test_a_new_variant_is_watched_without_being_listed(grow: Grow):
    root = grow({"mahjong_env/sichuan_v0.py": "", "mahjong_env/engine.py": "is_sichuan = True"})
    (violation,) = architecture.variants_named_elsewhere(root)
    assert "is_sichuan" in violation


def test_prose_may_name_a_variant(grow: Grow):
    text = '"""As in Hebei."""\ndef f():\n    """Wuhan does not."""  # nor Taiwan\nLAO = 1\n"""Hangzhou\'s."""\n'
    assert architecture.variants_named_elsewhere(grow({"mahjong_env/engine.py": text})) == []


@pytest.mark.parametrize(
    "definition",
    ["def act(): pass", "class Agent: pass", 'class Agent:\n    """An agent."""\n    def act(self): pass'],
)
def test_a_public_thing_without_a_docstring_is_found(definition: str, grow: Grow):
    root = grow({"agents/mahjong_agents/base.py": f'"""Base."""\n{definition}\n'})
    (violation,) = architecture.public_without_docstring(root)
    assert violation.startswith("agents/mahjong_agents/base.py:")


def test_a_module_without_a_docstring_is_found(grow: Grow):
    assert architecture.public_without_docstring(grow({"agents/mahjong_agents/base.py": "x = 1"})) == [
        "agents/mahjong_agents/base.py:1 has no docstring"
    ]


def test_private_things_and_overrides_need_no_docstring(grow: Grow):
    text = '"""Base."""\ndef _f(): pass\nclass A:\n    """A."""\n'
    text += "    def __len__(self): pass\n    @override\n    def f(self): pass\n"
    assert architecture.public_without_docstring(grow({"agents/mahjong_agents/base.py": text})) == []


@pytest.mark.parametrize("face", ["from mahjong_env.scoring import score", "def score(): pass"])
def test_a_module_named_like_a_function_is_found(face: str, grow: Grow):
    root = grow({"mahjong_env/__init__.py": face, "mahjong_env/score.py": "", "mahjong_env/scoring.py": ""})
    (violation,) = architecture.modules_named_like_functions(root)
    assert "mahjong_env offers score, but mahjong_env.score is a module" in violation
