"""The wheel that users install holds everything, and plays with numpy, gymnasium and pettingzoo alone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import mahjong_env
from support.architecture import LAYERS

ROOT = Path(__file__).parents[2]
FOLDERS = {layer: ROOT / home / layer for layer, home in LAYERS.items()}
"""The packages; nothing else is in the wheel, tools, experiments and tests least of all."""
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
COMMANDS = tuple(PROJECT["entry-points"]["mahjong_env.commands"])
OLDEST = [re.sub(r">=([\d.]+).*", r"==\1", requirement) for requirement in PROJECT["dependencies"]]
"""What the core requires, each in the oldest version that will do."""

# One worker builds and installs, once, for all tests of this file.
pytestmark = pytest.mark.xdist_group("wheel")


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """The output of a command; its errors are in the failure message."""
    env = {**os.environ, **environment}
    done = subprocess.run([*map(str, command)], cwd=cwd, env=env, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, f"{command} failed:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a copy of the sources, so that no earlier build in the checkout can add to it."""
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for folder in FOLDERS.values():
        shutil.copytree(folder, source / folder.relative_to(ROOT), ignore=shutil.ignore_patterns("__pycache__"))
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "dist", ".", cwd=source)
    (built,) = (source / "dist").glob("*.whl")
    return built


def with_installed(home: Path, *packages: str | Path) -> Path:
    """The interpreter of a new environment into which these packages have been installed."""
    venv.create(home, with_pip=True)
    interpreter = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages, cwd=home)
    return interpreter


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an empty environment into which the wheel alone has been installed."""
    return with_installed(tmp_path_factory.mktemp("venv"), wheel)


@pytest.mark.thorough
def test_everything_is_inside_and_the_core_requires_three_packages(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
        (metadata,) = (archive.read(name).decode() for name in inside if name.endswith(".dist-info/METADATA"))
    expected = {
        path.relative_to(folder.parent).as_posix()
        for folder in FOLDERS.values()
        for pattern in ("*.py", "*.npz", "*.zip", "*.md", "*.json", "*.txt", "*.html", "*.css", "*.js", "py.typed")
        for path in folder.rglob(pattern)
        if path.name != "README.md"
    }
    assert expected <= inside
    assert {f"{package}/{name}" for package in FOLDERS for name in ("__init__.py", "py.typed")} <= inside
    assert "mahjong_env/hands/tables.npz" in inside
    assert {name.partition("/")[0] for name in inside if ".dist-info/" not in name} == set(FOLDERS)
    told = Parser().parsestr(metadata)
    assert told["Version"] == mahjong_env.__version__
    requirements = told.get_all("Requires-Dist") or []
    core = {re.split(r"[^\w-]", line)[0] for line in requirements if "extra ==" not in line}
    assert core == {"numpy", "gymnasium", "pettingzoo"}


@pytest.mark.thorough
def test_the_source_distribution_has_what_the_tests_read(tmp_path: Path):
    left_out = (".git", ".venv*", ".*_cache", ".hypothesis", "__pycache__", "build", "dist", "runs")
    source = shutil.copytree(ROOT, tmp_path / "source", ignore=shutil.ignore_patterns(*left_out))
    shutil.rmtree(source / "mahjong_env.egg-info", ignore_errors=True)  # its list of files would be added
    expected = {
        path.relative_to(source).as_posix()
        for name in (".ci", ".github", "benchmarks", "docs", "experiments", "notebooks", "tests", "tools")
        for path in (source / name).rglob("*")
        if path.is_file()
    }
    run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", "dist", ".", cwd=source)
    (built,) = (source / "dist").glob("*.tar.gz")
    with tarfile.open(built) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert expected <= inside
    assert {"Makefile", "CHANGELOG.md", "CITATION.cff", "README.zh.md", "pyproject.toml"} <= inside


@pytest.mark.thorough
def test_plays_without_any_extra(python: Path, tmp_path: Path):
    # -I: neither this checkout nor PYTHONPATH can lend a module.
    printed = run(python, "-I", ROOT / "tests" / "support" / "play_core.py", cwd=tmp_path)
    assert str(python.parents[1]) in printed


CASES = f"""
from pathlib import Path
import mahjong_env, numpy
from mahjong_env.testing import check_cases
print(mahjong_env.__file__, numpy.__version__)
for variant in mahjong_env.VARIANTS:
    check_cases(variant, *(Path({str(ROOT)!r}, "tests", "cases", variant + end) for end in (".toml", "_play.toml")))
"""


@pytest.mark.thorough
@pytest.mark.skipif(sys.version_info >= (3, 13), reason="the oldest numpy has no wheels for it")
def test_plays_and_scores_with_the_oldest_versions_permitted(wheel: Path, tmp_path: Path):
    """Numpy 1 has other rules for types: an int8 array times `np.intp(35)` is int8 there."""
    interpreter = with_installed(tmp_path / "venv", wheel, *OLDEST)
    run(interpreter, "-I", ROOT / "tests" / "support" / "play_core.py", cwd=tmp_path)
    told = run(interpreter, "-I", "-c", CASES, cwd=tmp_path).split()
    assert told[0].startswith(str(tmp_path))
    assert f"numpy=={told[1]}".startswith(OLDEST[0])


@pytest.mark.thorough
def test_the_command_line_is_installed(python: Path, tmp_path: Path):
    command = python.parent / f"mahjong-env{'.exe' if os.name == 'nt' else ''}"
    told = run(command, "--help", cwd=tmp_path)
    assert told.startswith("usage: mahjong-env ")
    assert "`mahjong-env COMMAND --help`" in " ".join(told.split())
    hand = ["--hand", "123m 456m 789m 22p 55s", "--winning-tile", "2p", "--source", "discard", "--from-seat", "2"]
    assert "One Dragon" in run(command, "score", "--variant", "hebei", *hand, cwd=tmp_path)
    assert "Hebei" in run(command, "rules", "--variant", "hebei", cwd=tmp_path)
    for name in ("show", "play", "score", "rules", *COMMANDS):
        assert re.search(rf"^    {name}( +\w|$)", told, re.M), told


@pytest.mark.thorough
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_without_its_extra_names_it(python: Path, tmp_path: Path, name: str):
    done = subprocess.run(
        [python, "-m", "mahjong_env", name, "--help"], cwd=tmp_path, capture_output=True, text=True, encoding="utf-8"
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"error: .* needs? .*pip install 'mahjong-env\[[a-z,]+\]'\n", done.stderr), done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "option"), [("train", "--gamma"), ("train-sb3", "--vf-coef"), ("evaluate", "--until")]
)
def test_a_command_with_its_extra(python: Path, tmp_path: Path, name: str, option: str):
    # The extras of the environment that runs the tests, behind the installed wheel.
    extras = (
        f"import site, sys; site.addsitedir({sysconfig.get_path('purelib')!r}); sys.argv[1:] = [{name!r}, '--help'];"
    )
    asked = f"{extras} import mahjong_env.cli as cli; print(cli.__file__); sys.exit(cli.main())"
    printed = run(python, "-I", "-c", asked, cwd=tmp_path)
    assert printed.startswith(str(python.parents[1]))
    assert option in printed


@pytest.mark.thorough
def test_advertised_agents_can_be_loaded(python: Path, tmp_path: Path):
    """None of them asks for an extra; torch is asked for where a policy's file needs it."""
    load = (
        "from importlib.metadata import entry_points\n"
        "for entry in sorted(entry_points(group='mahjong_env.agents')):\n"
        "    print(entry.name, callable(entry.load()))\n"
    )
    told = run(python, "-I", "-c", load, cwd=tmp_path).splitlines()
    assert told == [f"{name} True" for name in sorted(PROJECT["entry-points"]["mahjong_env.agents"])]


# --- In a folder whose own modules have the names of this repository's folders --------------------------------------


NAMES = ("agents", "training", "benchmarks", "tools", "experiments")
OURS = os.pathsep.join(str(ROOT / folder) for folder in ("", "agents", "training", "benchmarks"))

GYMNASIUM = """
import gymnasium, mahjong_env
env = gymnasium.make("mahjong_env/Hebei-v0", opponents="greedy")
observation, info = env.reset(seed=0)
env.step(info["action_mask"].argmax())
"""
AGENTS = """
from mahjong_agents import make_agent
from mahjong_env import make_engine
import numpy as np
view = make_engine("hebei", 2, seed=0).view()
for spec in ("greedy", "policy:hebei", "value"):
    make_agent(spec).act(view, np.random.default_rng(0))
"""
EVALUATE = ["-m", "mahjong_env", "evaluate", "--variant", "hebei", "--deals", "1", "--agents", "greedy", "random"]


@pytest.fixture
def folder(tmp_path):
    """A user's folder: agents.py, training.py and so on, and packages of these names, none of which can be imported."""
    for name in NAMES:
        (tmp_path / name).mkdir()
        for path in (tmp_path / f"{name}.py", tmp_path / name / "__init__.py"):
            path.write_text(f"raise RuntimeError('the folder: its own {name} was imported')\n", encoding="utf-8")
    return tmp_path


@pytest.mark.thorough
def test_everything_works_in_a_folder_with_such_names(folder):
    def python(*arguments):
        return run(sys.executable, *arguments, cwd=folder, PYTHONPATH=OURS)

    with pytest.raises(AssertionError, match="own agents was imported"):
        python("-c", "import agents")
    python("-c", GYMNASIUM + AGENTS)
    assert "greedy" in python(*EVALUATE)
    assert "rule-values" in python("-m", "mahjong_env", "--help")
