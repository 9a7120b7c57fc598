"""Models that were trained elsewhere, and exported policies, as agents: what they like best among what is legal."""

import copy
import json
import pickle
from dataclasses import replace

import gymnasium
import numpy as np
import onnx
import pytest
import torch
from gymnasium.spaces import Box, Discrete, MultiDiscrete
from onnx import TensorProto, helper, numpy_helper
from sb3_contrib import QRDQN, MaskablePPO, RecurrentPPO
from stable_baselines3 import A2C, DQN, PPO

from mahjong_agents import AgentError, PolicyFileError, make_agent
from mahjong_agents.models import TorchAgent, _Model
from mahjong_agents.policy.file import SHIPPED, PolicyFile
from mahjong_env import make_engine
from mahjong_env.cli import main
from mahjong_env.observation.planes import SHAPE
from mahjong_training.config import EvaluateConfig
from mahjong_training.evaluation.command import evaluate
from mahjong_training.export import write_onnx
from support.marks import everyday
from support.positions import asked_in_mid_hand

SMALL = {"policy_kwargs": {"net_arch": [8]}, "device": "cpu"}


@pytest.fixture(scope="module")
def view():
    return asked_in_mid_hand("hebei", 40, 12)


def twins(agent, file):
    """Yield copies of an agent: while its file is there, without it, and with another in its place."""
    packed = pickle.dumps(agent)
    yield from (copy.deepcopy(agent), pickle.loads(packed))
    file.unlink()
    yield pickle.loads(packed)
    file.write_bytes(b"another")
    yield pickle.loads(packed)


def environment(**arguments):
    return gymnasium.make("mahjong_env/Hebei-v0", opponents="random", **arguments)


@pytest.mark.parametrize("algorithm", [MaskablePPO, PPO, A2C, DQN, QRDQN])
def test_a_model_of_stable_baselines3_plays_what_is_legal(algorithm, view, tmp_path):
    memory = {"buffer_size": 10} if algorithm in (DQN, QRDQN) else {}
    model = algorithm("MlpPolicy", environment(), **memory, **SMALL)
    model.save(tmp_path / "model.zip")
    agent = make_agent(f"sb3:{tmp_path / 'model.zip'}")
    assert agent.name == "sb3:model"
    actions = agent.act(view, np.random.default_rng(0))
    assert view.action_mask[np.arange(len(view)), actions].all()
    assert len(set(actions.tolist())) > 3
    seen = view.observation.reshape(len(view), -1)
    if algorithm is MaskablePPO:
        wanted, _ = model.predict(seen, action_masks=view.action_mask, deterministic=True)
        assert np.array_equal(actions, wanted)
    else:
        wanted, _ = model.predict(seen, deterministic=True)
        legal = view.action_mask[np.arange(len(view)), wanted]
        assert np.array_equal(actions[legal], wanted[legal])


def test_a_model_of_dictionaries(view, tmp_path):
    model = MaskablePPO("MultiInputPolicy", environment(observation="dict"), **SMALL)
    model.save(tmp_path / "model.zip")
    seen = {"observation": view.observation, "action_mask": view.action_mask.astype(np.int8)}
    wanted, _ = model.predict(seen, action_masks=view.action_mask, deterministic=True)
    assert np.array_equal(make_agent(f"sb3:{tmp_path / 'model.zip'}").act(view, np.random.default_rng(0)), wanted)


@pytest.mark.parametrize("flat", [False, True])
def test_a_scripted_and_an_exported_module(view, tmp_path, flat):
    torch.manual_seed(1)
    numbers = SHAPE[0] * SHAPE[1]
    module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(numbers, 109)).eval()
    example = torch.zeros(2, numbers) if flat else torch.zeros(2, *SHAPE)
    torch.jit.trace(module, example).save(tmp_path / "model.pt")
    rows = torch.export.Dim("rows", min=1)
    torch.export.save(torch.export.export(module, (example,), dynamic_shapes=({0: rows},)), tmp_path / "model.pt2")
    with torch.inference_mode():
        scores = module(torch.from_numpy(view.observation.reshape(-1, *example.shape[1:])).float()).numpy()
    wanted = np.where(view.action_mask, scores, -np.inf).argmax(axis=1)
    for name in ("model.pt", "model.pt2"):
        agent = make_agent(f"torch:{tmp_path / name}?flat={str(flat).lower()}")
        assert np.array_equal(agent.act(view, np.random.default_rng(0)), wanted)
        for twin in twins(agent, tmp_path / name):
            assert np.array_equal(twin.act(view, np.random.default_rng(0)), wanted)


@pytest.mark.parametrize("layer", [torch.nn.Dropout(0.5), torch.nn.BatchNorm1d(109)], ids=str)
def test_modules_play_and_do_not_learn(view, tmp_path, layer):
    """A script is told so; what was exported while it learned cannot be, and is refused."""
    module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(SHAPE[0] * SHAPE[1], 109), layer).train()
    torch.jit.script(module).save(tmp_path / "model.pt")
    agent = make_agent(f"torch:{tmp_path / 'model.pt'}")
    first, second = (agent.act(view, np.random.default_rng(0)) for _ in range(2))
    assert np.array_equal(first, second)
    for name in ("learns.pt2", "plays.pt2"):
        torch.export.save(torch.export.export(module, (torch.zeros(2, *SHAPE),)), tmp_path / name)
        module.eval()
    with pytest.raises(AgentError, match="exported in training mode: call eval"):
        make_agent(f"torch:{tmp_path / 'learns.pt2'}")
    make_agent(f"torch:{tmp_path / 'plays.pt2'}").act(view.take(np.arange(2)), np.random.default_rng(0))


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("number", [TensorProto.FLOAT, TensorProto.INT8])
def test_an_onnx_model(view, tmp_path, flat, number):
    size = SHAPE[0] * SHAPE[1]
    weights = np.random.default_rng(1).normal(size=(size, 109)).astype(np.float32)
    nodes = [
        helper.make_node("Cast", ["seen"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("Flatten", ["numbers"], ["flat"]),
        helper.make_node("MatMul", ["flat", "weights"], ["scores"]),
    ]
    shown = helper.make_tensor_value_info("seen", number, ["n", size] if flat else ["n", *SHAPE])
    given = helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["n", 109])
    graph = helper.make_graph(nodes, "linear", [shown], [given], [numpy_helper.from_array(weights, "weights")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "model.onnx")
    wanted = np.where(view.action_mask, view.observation.reshape(len(view), -1) @ weights, -np.inf).argmax(axis=1)
    agent = make_agent(f"onnx:{tmp_path / 'model.onnx'}")
    assert np.array_equal(agent.act(view, np.random.default_rng(0)), wanted)
    for twin in twins(agent, tmp_path / "model.onnx"):
        assert np.array_equal(twin.act(view, np.random.default_rng(0)), wanted)


@pytest.mark.parametrize("variant", everyday(sorted(path.stem for path in SHIPPED.glob("*.zip")), ["hebei"]))
def test_an_exported_policy_gives_the_answers_of_its_file(variant, tmp_path, capsys):
    out = tmp_path / "new" / "p.onnx"
    assert main(["export", "--policy", variant, "--out", str(out)]) == 0
    exported, policy = make_agent(f"onnx:{out}"), make_agent(f"policy:{variant}")
    assert f"onnx:{out} plays it" in capsys.readouterr().out
    assert exported.name == "onnx:p"
    engine, rng, others, decisions = make_engine(variant, 6, seed=3), np.random.default_rng(0), 0, 0
    while (live := np.flatnonzero(engine.seat_to_act >= 0)).size:
        view = engine.view(live)
        liked, every = policy.scores(view), np.arange(len(view))
        np.testing.assert_allclose(exported.scores(view), liked, rtol=1e-4, atol=1e-3)
        actions, found = policy.act(view, rng), exported.act(view, rng)
        # Tiles that are worth the same are so to the last digits only, in whatever way sums are added up.
        np.testing.assert_allclose(liked[every, found], liked[every, actions], rtol=1e-5, atol=1e-4)
        others, decisions = others + (found != actions).sum(), decisions + len(live)
        engine.step(actions, games=live)
    assert others < 0.01 * decisions
    assert decisions > 100


class TestExport:
    @pytest.mark.thorough
    def test_in_several_processes_it_plays_the_same(self, tmp_path):
        """Objects are pickled for them, and a pickle needs no file."""
        write_onnx("hebei", tmp_path / "p.onnx")
        agents = [make_agent(f"onnx:{tmp_path / 'p.onnx'}"), make_agent("random")]
        (tmp_path / "p.onnx").unlink()
        config = EvaluateConfig(variant="hebei", deals=2, teachers=False)
        one, two = (evaluate(replace(config, processes=count), agents=agents) for count in (1, 2))
        assert one.results == two.results

    def test_a_model_is_of_one_variant(self, tmp_path):
        write_onnx("hebei", tmp_path / "p.onnx")
        view = make_engine("wuhan", 3, seed=1).view()
        with pytest.raises(AgentError, match="trained for hebei, not for wuhan"):
            make_agent(f"onnx:{tmp_path / 'p.onnx'}").act(view, np.random.default_rng(0))
        actions = make_agent(f"onnx:{tmp_path / 'p.onnx'}?any_variant=true").act(view, np.random.default_rng(0))
        assert view.action_mask[np.arange(3), actions].all()

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda told: {**told, "inputs": "older"}, "trained with other observations"),
            (lambda told: {**told, "variant_version": 9}, "trained for version 9 of hebei"),
            (lambda told: {**told, "more": 1}, "its metadata are not those of a policy"),
            (lambda told: None, "its metadata are not those of a policy"),
        ],
    )
    def test_another_version_is_refused(self, change, message, tmp_path):
        write_onnx("hebei", tmp_path / "p.onnx")
        model = onnx.load(tmp_path / "p.onnx")
        (told,) = model.metadata_props
        told.value = json.dumps(change(json.loads(told.value)))
        onnx.save(model, tmp_path / "p.onnx")
        with pytest.raises(PolicyFileError, match=message):
            make_agent(f"onnx:{tmp_path / 'p.onnx'}")

    @pytest.mark.parametrize(
        "header", [{}, {"architecture": "torch"}, {"architecture": "actions", "network": {"added": 2}}]
    )
    def test_other_networks_are_not_exported(self, header, tmp_path, capsys):
        saved = PolicyFile("hebei", 0, **{"network": {"width": 4}, "weights": {}, "architecture": "planes"} | header)
        saved.write(tmp_path / "own.zip")
        arguments = ["export", "--policy", str(tmp_path / "own.zip"), "--out", str(tmp_path / "own.onnx")]
        assert main(arguments) == 2
        assert "only networks of `train` over the inputs of this package" in capsys.readouterr().err
        assert not (tmp_path / "own.onnx").exists()


def test_files_that_cannot_be_played(view, tmp_path):
    for kind in ("sb3", "torch", "onnx"):
        with pytest.raises(AgentError, match=f"there is no file .*write {kind}:PATH"):
            make_agent(f"{kind}:{tmp_path / 'none.zip'}")
        broken = tmp_path / f"{kind}.zip"
        broken.write_bytes(b"nothing of the kind")
        with pytest.raises(AgentError, match="that can be read here"):
            make_agent(f"{kind}:{broken}")
    (tmp_path / "torch.pt2").write_bytes(b"nothing of the kind")
    with pytest.raises(AgentError, match=r"torch\.pt2: not a scripted or exported module that can be read here"):
        TorchAgent(str(tmp_path / "torch.pt2"))
    torch.jit.trace(torch.nn.Linear(34, 7), torch.zeros(1, *SHAPE)).save(tmp_path / "other.pt")
    with pytest.raises(AgentError, match="not a number for each of 109 actions"):
        make_agent(f"torch:{tmp_path / 'other.pt'}").act(view, np.random.default_rng(0))
    with pytest.raises(AgentError, match=r"does not accept observations \[38, 34\]"):
        make_agent(f"torch:{tmp_path / 'other.pt'}?flat=true").act(view, np.random.default_rng(0))


class Given(torch.nn.Module):
    """Gives the same whatever it is shown."""

    def __init__(self, given):
        super().__init__()
        self.given = given

    def forward(self, seen: torch.Tensor):
        return self.given


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (torch.full((40, 109), float("nan")), "it gives NaN, not a number for each of 109 actions"),
        ((torch.zeros(40, 109), torch.zeros(40)), "it gives a tuple, not a number"),
        ({"logits": torch.zeros(40, 109)}, "it gives a dict, not a number"),
    ],
)
def test_what_is_no_score_is_named(given, message, tmp_path):
    torch.jit.script(Given(given)).save(tmp_path / "model.pt")
    with pytest.raises(AgentError, match=message):
        make_agent(f"torch:{tmp_path / 'model.pt'}").act(
            make_engine("hebei", 40, seed=1).view(), np.random.default_rng(0)
        )


def test_scores_of_half_the_size(view, tmp_path):
    """Numpy knows float16, but not bfloat16."""
    for kind in (torch.float16, torch.bfloat16):
        torch.jit.script(Given(torch.arange(109).expand(len(view), 109).to(kind))).save(tmp_path / "model.pt")
        actions = make_agent(f"torch:{tmp_path / 'model.pt'}").act(view, np.random.default_rng(0))
        assert np.array_equal(actions, 108 - view.action_mask[:, ::-1].argmax(axis=1))


@pytest.mark.parametrize(
    ("algorithm", "policy", "actions", "message"),
    [
        (PPO, "MlpPolicy", Box(-1, 1, (109,)), r"its actions are Box\(.*, not Discrete\(109\)"),
        (PPO, "MlpPolicy", MultiDiscrete([109, 2]), "its actions are MultiDiscrete.*, not Discrete"),
        (PPO, "MlpPolicy", Discrete(2), r"its actions are Discrete\(2\), not Discrete\(109\)"),
        (RecurrentPPO, "MlpLstmPolicy", Discrete(109), "RecurrentActorCriticPolicy has a memory"),
    ],
)
def test_policies_of_another_kind_are_named(algorithm, policy, actions, message, tmp_path):
    other = environment()
    other.action_space = actions
    algorithm(policy, other, **SMALL).save(tmp_path / "model.zip")
    with pytest.raises(AgentError, match=message):
        make_agent(f"sb3:{tmp_path / 'model.zip'}")


def test_modules_that_fail_in_their_own_ways_are_named(view, tmp_path):
    """A guard of an exported module is an assertion, and what a script raises is a kind of torch's."""
    flat = torch.nn.Linear(SHAPE[0] * SHAPE[1], 109)
    rows = torch.export.Dim("rows", min=1)
    example = torch.zeros(2, SHAPE[0] * SHAPE[1])
    torch.export.save(torch.export.export(flat, (example,), dynamic_shapes=({0: rows},)), tmp_path / "flat.pt2")
    with pytest.raises(AgentError, match=r"flat\.pt2: it does not accept observations .*flat=true"):
        make_agent(f"torch:{tmp_path / 'flat.pt2'}").act(view, np.random.default_rng(0))


def test_a_model_that_likes_nothing_plays_what_is_legal(view):
    class Hopeless(_Model):
        def __init__(self):
            self._path = "hopeless"

        def _scores(self, observation, mask):
            return np.where(mask, -np.inf, 0.0)

    actions = Hopeless().act(view, np.random.default_rng(0))
    assert view.action_mask[np.arange(len(view)), actions].all()
