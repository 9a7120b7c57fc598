"""Networks of a researcher's own, the two examples among them: they learn, are saved, and play, by their address."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from mahjong_agents import AgentError, GreedyAgent, PolicyFileError, make_agent
from mahjong_agents.policy.agent import PolicyAgent
from mahjong_agents.policy.file import TORCH, PolicyFile
from mahjong_agents.policy.torch_network import TorchNetwork, find_network, inputs_of
from mahjong_env.cli import main
from mahjong_env.state.arrays import Event
from mahjong_training.config import TrainConfig
from mahjong_training.errors import TrainingError
from mahjong_training.learning import ppo
from mahjong_training.learning import run as ppo_run
from mahjong_training.learning.base_run import BaseRun
from mahjong_training.learning.run_folder import RunFolder
from support.fake_device import fake_device
from support.positions import asked_in_mid_hand

EXAMPLES = Path(__file__).parents[3] / "notebooks" / "examples"
ATTENTION = f"{EXAMPLES / 'attention_network.py'}:Attention"
RECURRENT = f"{EXAMPLES / 'recurrent_network.py'}:Recurrent"
TINY = (
    *("--hands", "6", "--tables", "2", "--critic-hands", "2", "--evaluations", "1", "--evaluation-deals", "1"),
    *("--gate-deals", "2", "--evaluation-agents", "random", "--opponents", "snapshot", "--learning-rate", "1e-3"),
)


def late_view(variant="hebei"):
    return asked_in_mid_hand(variant, 10, 40, "greedy", auto_reset=False)


@pytest.mark.thorough
@pytest.mark.parametrize("network", [f"{ATTENTION}?width=8", f"{RECURRENT}?width=8"])
def test_an_example_learns_is_saved_and_plays(network, tmp_path, capsys):
    out = tmp_path / "run"
    assert main(["train", "--variant", "hebei", "--network", network, "--out", str(out), *TINY]) == 0
    first, last = (PolicyFile.read(out / name) for name in ("initial.zip", "last.zip"))
    assert last.architecture == TORCH
    assert last.network == {"class": network.partition("?")[0], "options": {"width": "8"}}
    assert any((array != first.weights[name]).any() for name, array in last.weights.items())
    policy = f"policy:{out / 'last.zip'}?network={last.network['class']}"
    assert main(["evaluate", "--variant", "hebei", "--agents", policy, "random", "--deals", "2"]) == 0
    assert "run/last" in capsys.readouterr().out
    assert main(["train", "--variant", "hebei", "--out", str(out), "--resume", *TINY, "--hands", "8"]) == 0


@pytest.mark.parametrize("network", [ATTENTION, RECURRENT])
def test_an_example_sees_the_events_in_their_order_and_nothing_of_the_padding(network):
    torch.manual_seed(0)
    module = find_network(network)
    for weights in module.parameters():
        torch.nn.init.normal_(weights, std=0.2)
    view = late_view()
    inputs = inputs_of(module, view)
    events = inputs.per_decision["events"]
    assert np.array_equal(events[:, : view.events.shape[1]], view.events)
    played = TorchNetwork(module)
    scores = played.scores(inputs)
    row = len(view) // 2
    alone = played.scores(played.inputs(view.take(np.array([row]))))
    np.testing.assert_allclose(alone, scores[inputs.row == row], rtol=1e-3, atol=1e-3)

    def scored(changed):
        return played.scores(replace(inputs, per_decision={**inputs.per_decision, "events": changed}))

    nothing = np.full_like(events[:, :5], -1)
    nothing[..., 0] = Event.NOTHING
    np.testing.assert_allclose(scored(np.concatenate([events, nothing], axis=1)), scores, rtol=1e-3, atol=1e-3)
    turned, is_discard = events.copy(), events[..., 0] == Event.DISCARD
    rows, last = np.arange(len(view))[:, None], np.count_nonzero(events[..., 0], axis=1)[:, None] - np.arange(1, 5)
    turned[rows, last] = events[rows, last[:, ::-1]]
    assert np.abs(scored(turned) - scores).max() > 1e-3
    for column, other in ((1, 2), (2, 20), (3, 1)):  # who, what, and whether it had just been drawn
        changed = events.copy()
        changed[..., column] = np.where(is_discard, other - changed[..., column] * (column == 3), changed[..., column])
        assert np.abs(scored(changed) - scores).max() > 1e-3


def test_attention_begins_as_greedy():
    torch.manual_seed(0)
    view = late_view("wuhan")
    agent = PolicyAgent.playing(TorchNetwork(find_network(ATTENTION)), name="fresh")
    actions = agent.act(view, np.random.default_rng(0))
    assert (actions == GreedyAgent().act(view, np.random.default_rng(0))).mean() > 0.7


class Linear(torch.nn.Module):
    """The smallest network; what it is shown and returns may be spoilt."""

    def __init__(self, shown=lambda view: view.hand, found=lambda scores: scores):
        super().__init__()
        self.layer, self.shown, self.found = torch.nn.Linear(34, 109), shown, found

    def inputs(self, view):
        return self.shown(view)

    def scores(self, inputs):
        return self.found(self.layer(inputs.per_decision["inputs"].float()))


class TestProtocol:
    def test_illegal_actions_are_left_out(self):
        view = late_view()
        network = Linear()
        agent = PolicyAgent.playing(TorchNetwork(network), name="linear", sample=True)
        actions = agent.act(view, np.random.default_rng(0))
        assert view.action_mask[np.arange(len(view)), actions].all()
        with torch.no_grad():
            logits = network.layer(torch.from_numpy(view.hand).float()).numpy()
        np.testing.assert_allclose(agent.scores(view), np.where(view.action_mask, logits, -np.inf), rtol=1e-5)

    def test_many_decisions_are_played_in_batches(self, monkeypatch):
        view, network, sizes = late_view(), Linear(), []
        network.found = lambda scores: sizes.append(len(scores)) or scores
        played = TorchNetwork(network)
        whole = played.scores(played.inputs(view))
        monkeypatch.setattr("mahjong_agents.policy.torch_network._MOST_DECISIONS", 3)
        np.testing.assert_allclose(played.scores(played.inputs(view)), whole, rtol=1e-5)
        assert sizes[0] == len(view) > 3
        assert sizes[1:] == [min(3, len(view) - start) for start in range(0, len(view), 3)]

    def test_a_network_plays_where_it_lies(self):
        torch.manual_seed(0)
        view, module = late_view(), find_network(ATTENTION)
        here = TorchNetwork(module).scores(TorchNetwork(module).inputs(view))
        with fake_device() as device:
            there = TorchNetwork(module.to(device))
            np.testing.assert_allclose(there.scores(there.inputs(view)), here, rtol=1e-4, atol=1e-4)

    @pytest.mark.parametrize(
        ("network", "message"),
        [
            (Linear(shown=lambda view: None), "inputs of a network are an array, arrays by name, or Inputs"),
            (Linear(shown=lambda view: view.hand[:1]), r"the input 'inputs' of a network has shape \(1, 34\)"),
            (Linear(found=lambda scores: scores[:, :50]), r"scores of a network are \[m\] or \[n, 109\], not"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, network, message):
        with pytest.raises(AgentError, match=message):
            PolicyAgent.playing(TorchNetwork(network), name="unfit").act(late_view(), np.random.default_rng(0))

    @pytest.mark.parametrize(
        ("network", "message"),
        [
            ("small", "no network is called 'small'; valid are module:Class, file.py:Class"),
            (f"{EXAMPLES / 'nowhere.py'}:Attention", "there is no file"),
            (f"{EXAMPLES / 'my_features.py'}:Late", "torch modules with methods inputs and scores"),
            (f"{ATTENTION}?depth=3", "has no option 'depth'"),
        ],
    )
    def test_what_is_no_network_is_refused(self, network, message):
        with pytest.raises(AgentError, match=message):
            find_network(network)


@pytest.mark.parametrize(
    "part", ["torch.nn.Dropout(0.1)", "torch.nn.BatchNorm1d(1)", "torch.nn.GRU(1, 1, num_layers=2, dropout=0.1)"]
)
def test_what_learns_and_plays_otherwise_is_refused(part, tmp_path):
    """The ratio of PPO would be another than 1 before anything has changed."""
    text = f"""import torch
class Chance(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.line, self.part = torch.nn.Linear(1, 109), {part}
    def inputs(self, view):
        return view.left[:, None].astype("float32")
    def scores(self, inputs):
        return self.line(inputs)
"""
    (tmp_path / "chance.py").write_text(text, encoding="utf-8")
    tried = [(part, True), ("torch.nn.Dropout(0)", False), ("torch.nn.LayerNorm(1)", False)]
    for number, (kept, refused) in enumerate(tried):
        network = tmp_path / f"{number}.py"
        network.write_text(text.replace(part, kept), encoding="utf-8")
        config = TrainConfig(variant="hebei", network=f"{network}:Chance", hands=8, tables=2, out=tmp_path / "run")
        if refused:
            with pytest.raises(TrainingError, match=r"part \(dropout or batch norm\) behaves differently in learning"):
                ppo_run.PpoRun(config, RunFolder(tmp_path / "run"))
        else:
            ppo_run.PpoRun(config, RunFolder(tmp_path / "run")).close()


class TestFiles:
    @pytest.fixture
    def path(self, tmp_path):
        module = find_network(f"{RECURRENT}?width=4")
        header = {"class": RECURRENT, "options": {"width": "4"}}
        weights = {name: array.numpy() for name, array in module.state_dict().items()}
        PolicyFile("hebei", 0, header, weights, architecture=TORCH).write(tmp_path / "own.zip")
        return tmp_path / "own.zip"

    def test_the_code_is_what_is_named_and_never_what_the_file_names(self, path):
        with pytest.raises(PolicyFileError, match=r"if you trust that code, .*own.zip\?network=.*:Recurrent"):
            make_agent(f"policy:{path}")
        assert make_agent(f"policy:{path}?network={RECURRENT}&device=cpu").variant == "hebei"

    @pytest.mark.parametrize(
        ("query", "message"),
        [
            (f"network={ATTENTION}", "its weights do not fit its network"),
            (f"network={EXAMPLES / 'moved.py'}:Recurrent", "there is no file"),
            (f"network={RECURRENT}&device=tpu", "'device' is auto or cpu or cuda, not 'tpu'"),
        ],
    )
    def test_another_class_is_refused(self, path, query, message):
        with pytest.raises(AgentError, match=message):
            make_agent(f"policy:{path}?{query}")

    def test_networks_of_this_package_need_no_class(self):
        with pytest.raises(PolicyFileError, match="its network is one of this package"):
            make_agent(f"policy:hebei?network={RECURRENT}")


CONFIG = TrainConfig(variant="hebei", network=f"{RECURRENT}?width=4", hands=6, tables=2, critic_hands=2, batch_size=64)


@pytest.mark.thorough
def test_the_result_is_the_same_with_any_number_of_processes_and_begins_as_a_teacher(tmp_path, monkeypatch):
    monkeypatch.setattr(
        BaseRun, "measure", lambda run, *said: run.folder.last.write_bytes(run.policy_file().to_bytes())
    )
    runs = [ppo_run.run(replace(CONFIG, out=tmp_path / str(number), processes=number, parts=2)) for number in (1, 2)]
    one, other = (PolicyFile.read(run.last).weights for run in runs)
    np.testing.assert_equal(one, other)
    teacher = f"policy:{runs[0].last}?network={RECURRENT}"
    begun = ppo_run.run(replace(CONFIG, out=tmp_path / "3", teacher=teacher)).initial
    np.testing.assert_equal(PolicyFile.read(begun).weights, one)


@pytest.mark.parametrize("there", [True, False])
def test_on_a_gpu_it_is_asked_for_all_tables_at_once(there, tmp_path, monkeypatch):
    with fake_device() as device:
        monkeypatch.setattr(ppo, "find_device", lambda name: device if there else torch.device("cpu"))
        run = ppo_run.PpoRun(replace(CONFIG, processes=3, parts=None), RunFolder(tmp_path / "run"))
        assert (run.parts, run.executor.workers) == ((1, 1) if there else (3, 3))
