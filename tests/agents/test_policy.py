"""Policy files, and those that are installed: what they keep, what is refused, and that agents play what they say."""

from __future__ import annotations

import io
import json
import pickle
import re
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import torch

from mahjong_agents import AgentError, PolicyFileError, look_ahead, make_agent
from mahjong_agents.policy import plane_inputs
from mahjong_agents.policy.agent import PolicyAgent
from mahjong_agents.policy.file import SHIPPED, PolicyFile, find_policy
from mahjong_agents.policy.plane_inputs import inputs_fingerprint, policy_inputs
from mahjong_agents.policy.plane_network import NetworkSpec, PolicyNetwork
from mahjong_agents.policy.torch_network import TorchNetwork, arrays_of
from mahjong_env import OBSERVATION_VERSION, VARIANTS, make_engine, rules
from proof.batches import random_knobs

SPEC = NetworkSpec(width=16, layers=1)


@pytest.fixture
def network():
    torch.manual_seed(3)
    network = PolicyNetwork(SPEC)
    torch.nn.init.normal_(network.dense.weight)  # fresh heads are all but zero, and would hardly choose
    return network


@pytest.fixture
def saved(network):
    return PolicyFile("hebei", 0, {"width": 16, "layers": 1}, arrays_of(network), knobs={"players": 3})


@pytest.fixture
def path(saved, tmp_path):
    saved.write(tmp_path / "best.zip")
    return tmp_path / "best.zip"


def rewrite(path, **changes):
    """The same file with other entries in its header."""
    with zipfile.ZipFile(path) as archive:
        header, weights = json.loads(archive.read("policy.json")), archive.read("weights.npz")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("policy.json", json.dumps(header | changes))
        archive.writestr("weights.npz", weights)


def npz(**arrays):
    data = io.BytesIO()
    np.savez(data, **arrays)
    return data.getvalue()


class TestPlaying:
    def test_plays_the_most_probable_legal_action(self, path, network):
        agent = make_agent(f"policy:{path}")
        view = make_engine("hebei", 30, seed=1).view()
        inputs = torch.from_numpy(policy_inputs(view, look_ahead(view))).float()
        with torch.no_grad():
            logits = network(inputs)[0].numpy()
        wanted = np.where(view.action_mask, logits, -np.inf).argmax(axis=1)
        np.testing.assert_array_equal(agent.act(view, np.random.default_rng(0)), wanted)
        assert len(set(wanted.tolist())) > 3

    def test_samples_with_the_probabilities_of_the_network(self, path, network):
        view = make_engine("hebei", 1, seed=1).view().take(np.zeros(4000, np.intp))
        drawn = PolicyAgent(path, sample=True).act(view, np.random.default_rng(0))
        inputs = torch.from_numpy(policy_inputs(view.take([0]), look_ahead(view.take([0])))).float()
        with torch.no_grad():
            logits = network(inputs)[0].masked_fill(~torch.from_numpy(view.action_mask[:1]), -1e8)
        probabilities = torch.softmax(logits, 1)[0].numpy()
        shares = np.bincount(drawn, minlength=109) / 4000
        assert np.abs(shares - probabilities).max() < 0.04  # five standard deviations at most

    def test_a_hand_is_played_to_its_end_at_tables_of_any_variant(self, path):
        agent = make_agent(f"policy:{path}?any_variant=true")
        for variant in VARIANTS:
            engine = make_engine(variant, 3, seed=1)
            while (live := np.flatnonzero(engine.seat_to_act >= 0)).size:
                engine.step(agent.act(engine.view(games=live), np.random.default_rng(0)), games=live)

    def test_another_variant_is_refused(self, path):
        view = make_engine("taiwan", 2, seed=1).view()
        with pytest.raises(PolicyFileError, match="was trained for hebei, not for taiwan"):
            make_agent(f"policy:{path}").act(view, np.random.default_rng(0))


class TestFiles:
    def test_what_is_written_is_read(self, path, saved):
        found = PolicyFile.read(path)
        assert (found.variant, found.variant_version, found.inputs) == ("hebei", 0, saved.inputs)
        assert found.knobs == {"players": 3}
        assert found.weights.keys() == saved.weights.keys()
        for name, array in saved.weights.items():
            np.testing.assert_array_equal(found.weights[name], array)

    def test_a_run_folder_and_a_name_mean_its_best_policy(self, path, tmp_path, monkeypatch):
        assert find_policy(str(path.parent)) == path
        monkeypatch.chdir(tmp_path)
        named = tmp_path / "runs" / "mine" / "best.zip"
        named.parent.mkdir(parents=True)
        named.write_bytes(path.read_bytes())
        assert find_policy("mine").resolve() == named
        assert make_agent("policy:mine").name == "mine/best"

    @pytest.mark.parametrize(
        ("spec", "message"),
        [
            ("policy:runs/mine/best.zip", "no policy 'runs/mine/best.zip': there is neither such a file"),
            (
                "policy:yours",
                r"no policy 'yours': .* train one first \(make train\), or use a shipped one .*policy:hebei,",
            ),
            (
                "policy:",
                r"'policy:' names no policy: write policy:FILE, policy:RUN_FOLDER, or .* shipped one .*policy:hebei,",
            ),
        ],
    )
    def test_where_there_is_none_it_is_said_how_to_get_one(self, spec, message, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        with pytest.raises(PolicyFileError, match=message):
            make_agent(spec)

    @pytest.mark.parametrize("size", [0, 3, 1000])
    def test_a_torn_file_is_refused(self, path, size):
        path.write_bytes(path.read_bytes()[:size])
        with pytest.raises(PolicyFileError, match=r"best.zip: not a policy file, or damaged"):
            PolicyAgent(path)

    def test_an_onnx_model_is_named_as_one(self, tmp_path):
        (tmp_path / "mine.onnx").write_bytes(b"model")
        with pytest.raises(PolicyFileError, match=r"not a policy file.*; for an ONNX model write onnx:.*mine\.onnx$"):
            make_agent(f"policy:{tmp_path / 'mine.onnx'}")

    def test_other_zips_are_refused(self, tmp_path):
        for name, said in (("policy.pth", "Stable-Baselines3 model"), ("x.txt", "a zip, but not of a policy")):
            with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
                archive.writestr(name, "")
            with pytest.raises(PolicyFileError, match=said):
                PolicyAgent(tmp_path / "other.zip")

    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({"format": 99}, "format 99; this version reads format 2"),
            ({"inputs": "0123"}, "trained with other observations"),
            ({"variant": "riichi"}, "trained for 'riichi'; known are"),
            ({"variant_version": 5}, "trained for version 5 of hebei; this is version 0"),
            ({"network": {"width": 8, "layers": 1}}, "its weights do not fit its network"),
            ({"network": {"depth": 8}}, "its weights do not fit its network"),
            ({"surprise": 1}, "damaged"),
        ],
    )
    def test_a_file_of_another_version_is_refused(self, path, changes, said):
        rewrite(path, **changes)
        with pytest.raises(PolicyFileError, match=said):
            PolicyAgent(path)

    @pytest.mark.parametrize(("which", "name"), [(0, "policy.json"), (1, "weights.npz")])
    def test_what_would_fill_the_memory_is_refused_before_it_is_unpacked(self, path, which, name):
        with zipfile.ZipFile(path) as archive:
            contents = [archive.read("policy.json"), archive.read("weights.npz")]
        contents[which] = bytes(2**28 + 1)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for entry, content in zip(("policy.json", "weights.npz"), contents, strict=True):
                archive.writestr(entry, content)
        with pytest.raises(PolicyFileError, match=rf"best.zip: .*{name} would take 256.0 MiB unpacked"):
            PolicyAgent(path)

    def test_what_could_not_be_read_again_is_not_written(self, saved, monkeypatch, tmp_path):
        monkeypatch.setattr("mahjong_agents.policy.file._MOST_BYTES", 2**10)
        with pytest.raises(PolicyFileError, match=r"its weights take .* bytes; the limit is 1024 bytes"):
            saved.write(tmp_path / "large.zip")
        assert not (tmp_path / "large.zip").exists()

    def test_a_pickle_is_refused_without_advice_to_trust_it(self, path):
        with zipfile.ZipFile(path) as archive:
            header = archive.read("policy.json")
        for weights in (pickle.dumps({"dense.weight": [1]}), npz(dense=np.array([None]))):
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("policy.json", header)
                archive.writestr("weights.npz", weights)
            with pytest.raises(PolicyFileError, match=r"best.zip: not a policy file, or damaged") as refused:
                PolicyAgent(path)
            assert "allow_pickle" not in str(refused.value)

    @pytest.mark.parametrize("value", [np.nan, -np.inf, 3e38, -1e7])
    @pytest.mark.parametrize("place", ["hebei", None])
    def test_weights_that_would_give_no_numbers_are_refused_by_name(self, path, place, value):
        whole = PolicyFile.read(find_policy(place) if place else path)
        name = sorted(whole.weights)[-1]
        weights = {**whole.weights, name: whole.weights[name].copy()}
        weights[name].flat[0] = value
        replace(whole, weights=weights).write(path)
        with pytest.raises(PolicyFileError, match=rf"best.zip: its weights '{name}' are not all numbers from -1e\+06"):
            PolicyAgent(path)

    def test_a_network_that_gives_no_numbers_is_named(self, network):
        for parameter in network.parameters():
            torch.nn.init.constant_(parameter, 3e38)
        agent = PolicyAgent.playing(TorchNetwork(network), name="the large one")
        view = make_engine("hebei", 2, seed=1).view()
        for play in (agent.act, agent.explain):
            with pytest.raises(PolicyFileError, match=r"policy the large one gives no numbers \(NaN\)"):
                play(view, np.random.default_rng(0))


# --- The policies that are installed with the package -----------------------------------------------------------------


NAMES = sorted(path.stem for path in SHIPPED.glob("*.zip"))


def test_all_of_them_take_less_than_five_megabytes():
    assert NAMES
    assert set(NAMES) <= set(VARIANTS)
    assert sum(path.stat().st_size for path in SHIPPED.iterdir()) < 5 * 2**20


@pytest.mark.parametrize("name", NAMES)
class TestPolicy:
    def test_is_found_by_the_name_of_its_variant(self, name):
        agent = make_agent(f"policy:{name}")
        engine, rng = make_engine(name, 20, seed=1), np.random.default_rng(0)
        while (live := np.flatnonzero(engine.seat_to_act >= 0)).size:
            engine.step(agent.act(engine.view(live), rng), games=live)
        assert find_policy(name) == SHIPPED / f"{name}.zip"

    def test_it_plays_what_it_likes_best(self, name):
        view, agent = make_engine(name, 20, seed=1).view(), make_agent(f"policy:{name}")
        liked, chosen = agent.scores(view), agent.act(view, np.random.default_rng(0))
        np.testing.assert_array_equal(liked[np.arange(20), chosen], liked.max(axis=1))
        assert (liked.max(axis=1) > np.where(np.isfinite(liked), liked, np.inf).min(axis=1)).all()

    def test_it_plays_the_same_alone_and_among_others(self, name):
        agent, engine, rng = make_agent(f"policy:{name}"), make_engine(name, 64, seed=11), np.random.default_rng(0)
        for turn in range(60):
            live = np.flatnonzero(engine.seat_to_act >= 0)
            chosen = agent.act(engine.view(live), rng)
            for game in live[::3] if turn % 4 == 0 else ():
                assert agent.act(engine.view([game]), rng) == chosen[live == game]
            engine.step(chosen, games=live)

    def test_its_card_says_how_it_was_made_and_how_strong_it_is(self, name):
        card, saved = (SHIPPED / f"{name}.md").read_text(encoding="utf-8"), PolicyFile.read(SHIPPED / f"{name}.zip")
        assert saved.variant == name
        assert f"mahjong-env train --variant {name}" in card
        assert f"| learned from | {saved.training['hands']:,} hands, {saved.training['steps']:,} decisions" in card
        for level in ("random", "greedy", "closed-greedy"):
            assert re.search(rf"^\| {level} \| [\d,]+ \| [+-][\d.]+ ± [\d.]+ \| [+-][\d.]+ ± [\d.]+ \|", card, re.M), (
                level
            )


def test_a_policy_without_a_name_is_the_shipped_one_or_else_the_better_greedy():
    for variant, knobs, of_name in (("wuhan", {}, "policy:wuhan"), ("hebei", {"cap": 8}, "closed-greedy")):
        view = make_engine(variant, 40, seed=1, **knobs).view()
        found, wanted = (make_agent(text).act(view, np.random.default_rng(0)) for text in ("policy", of_name))
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("setting", ["sample=true", "device=cpu", "features=nosuch:Thing"])
def test_settings_are_those_of_a_policy_that_is_named(setting):
    with pytest.raises(PolicyFileError, match="a policy that is named"):
        make_agent(f"policy?{setting}")


def test_a_device_is_one_that_there_is():
    with pytest.raises(AgentError, match="'device' is auto or cpu or cuda, not 'tpu'"):
        make_agent("policy:hebei?device=tpu")


@pytest.mark.thorough
@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_under_house_rules_that_nothing_was_learned_for_shipped_agents_play_as_the_better_greedy(variant):
    """Under fifty sets of them; a policy that is named plays all the same, as whoever names it wants."""
    rng, others = np.random.default_rng(7), 0
    for seed in range(50):
        played = rules(variant, **random_knobs(variant, rng))
        if VARIANTS.without_house_rules(played):
            continue
        view, others = make_engine(played, 6, seed=seed).view(), others + 1
        wanted = make_agent("reference").act(view, np.random.default_rng(0))
        for text in ("policy", "folding"):
            np.testing.assert_array_equal(make_agent(text).act(view, np.random.default_rng(0)), wanted)
    assert others > 40


def test_another_version_of_the_planes_leaves_the_policies_that_see_no_plane_as_they_are(monkeypatch):
    before = inputs_fingerprint()
    monkeypatch.setattr(plane_inputs, "OBSERVATION_VERSION", OBSERVATION_VERSION + 1)
    assert inputs_fingerprint() != before  # networks over planes are refused
    for name in NAMES:
        assert PolicyFile.read(SHIPPED / f"{name}.zip").variant == name
