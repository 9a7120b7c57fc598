"""What is looked at before Ray is asked for: addresses, versions, and Ray itself."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mahjong_env import MissingExtraError
from mahjong_env.cli import main
from mahjong_training.cluster.nodes import verdict
from mahjong_training.cluster.session import _begin, check_address
from mahjong_training.cluster.versions import differences, versions
from mahjong_training.errors import TrainingError


@pytest.mark.parametrize("address", ["", "here", "host", "host:port", "a b:1", "http://host:8265", "host:1234567"])
def test_what_is_no_address(address):
    with pytest.raises(TrainingError, match="is no address of a cluster; valid are local"):
        check_address(address)


def test_rays_client_is_not_supported():
    with pytest.raises(
        TrainingError, match=r"^--ray ray://host:10001: Ray's client is not supported; run this command"
    ):
        check_address("ray://host:10001")


def test_a_cluster_has_the_workers_that_it_has():
    with pytest.raises(TrainingError, match="--processes 4 goes with --ray local"):
        check_address("host:6379", processes=4)


def test_an_address_where_nobody_answers(capsys):
    pytest.importorskip("ray", reason="without Ray its absence is said first")
    words = ["evaluate", "--variant", "hebei", "--agents", "random", "--deals", "2", "--ray", "127.0.0.1:9"]
    assert main(words) == 2
    assert "there is no cluster at this address (Connection refused)" in capsys.readouterr().err


def test_a_cluster_that_cannot_be_begun_is_an_error_in_words():
    class Ray:
        @staticmethod
        def init(**settings):
            raise Exception("The current node timed out during startup.\nMore.")  # noqa: TRY002 Ray has it so

    with pytest.raises(TrainingError, match=r"^--ray local: no connection .*\(The current node timed out"):
        _begin(Ray, "local", 1, None)


def test_a_missing_ray_is_named_before_anything_is_played(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"make distributed, .* pip install 'mahjong-env\[distributed\]'"):
        check_address("local")
    assert main(["evaluate", "--variant", "hebei", "--ray", "local"]) == 2
    assert capsys.readouterr().err.startswith("error: --ray needs Ray")


class TestVersions:
    def test_those_of_this_process(self):
        found = versions()
        assert found["Python"] == f"{sys.version_info.major}.{sys.version_info.minor}"
        assert all(found[name] for name in ("mahjong_env", "code of mahjong_env", "numpy"))

    def test_another_process_finds_the_same(self):
        code = "from mahjong_training.cluster.versions import versions; print(dict(versions()))"
        said = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8"
        ).stdout
        assert said.strip() == str(dict(versions()))

    def test_differences_are_named(self):
        ours = {"Python": "3.11", "numpy": "2.4.6", "torch": ""}
        assert differences(ours, ours) == []
        assert differences(ours, {**ours, "torch": "2.13.0"}) == []  # what we lack nobody else needs
        assert differences(ours, {"Python": "3.12", "numpy": ""}) == [
            "Python is 3.12 and not 3.11",
            "numpy is missing and not 2.4.6",
        ]

    def test_verdicts(self):
        assert verdict(versions(), versions()) == ""
        assert verdict("No module named 'training'", versions()) == "lacks mahjong_env (No module named 'training')"
        assert verdict({**versions(), "mahjong_env": "9"}, versions()).startswith("mahjong_env is 9 and not ")
