"""Agents that play models trained elsewhere: zips of Stable-Baselines3, torch modules, ONNX files.

The models see the observation that the environments give. Illegal actions are never taken, whether or not a model knows
masks.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.base import PolicyFileError
from mahjong_agents.policy.agent import PolicyAgent
from mahjong_agents.policy.file import PolicyFile
from mahjong_agents.policy.inputs import Inputs, action_inputs
from mahjong_env import NUM_ACTIONS, AgentError, MissingExtraError, View

POLICY: Final = "mahjong_env.policy"
"""The metadata key of ONNX models that `mahjong-env export` has written: a policy file's header as JSON."""


class OpenedFile:
    """A model that a library has read from a file and cannot pickle; pickles and copies read the file again.

    Pickles hold the bytes of the file, as there may be no such file where they are read, perhaps on another machine.

    Attributes:
        model: the model that the library has read.
    """

    def __init__(self, read: Callable[[Path | bytes], Any], path: Path, data: bytes | None = None) -> None:
        """Read a file.

        Args:
            read: the function that makes the model from a path or from the bytes of a file; it must be picklable, as
                functions of a module are.
            path: the file.
            data: the bytes of the file when it was first read; None if it is read now for the first time. A file that
                still holds the same bytes is read by its path, as a model may have other files beside it.
        """
        self._read, self._path = read, path
        self._data = path.read_bytes() if data is None else data
        is_there = data is None or (path.is_file() and path.read_bytes() == data)
        self.model = read(path if is_there else self._data)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments that make the same model again."""
        return OpenedFile, (self._read, self._path, self._data)


class _Model(ABC):
    """The base class of agents that take the legal action with a model's highest score.

    Attributes:
        name: the kind of model and the name of its file.
    """

    def __init__(self, kind: str, place: str) -> None:
        self._path = Path(place)
        if not self._path.is_file():
            raise AgentError(f"there is no file {place!r}; write {kind}:PATH")
        self.name = f"{kind}:{self._path.stem}"

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        """Choose the actions with the highest scores; see `mahjong_agents.Agent.act`.

        Raises:
            AgentError: the model takes other observations, or does not give a number for each action.
        """
        shape = list(view.observation.shape[1:])
        wanted = f"not a number for each of {NUM_ACTIONS} actions"
        try:
            given = self._scores(view.observation, view.action_mask)
        except (RuntimeError, ValueError, KeyError, TypeError) as error:
            raise AgentError(f"{self._path}: it does not accept observations {shape}: {error}") from error
        try:
            scores = np.asarray(given, np.float64)
        except (ValueError, TypeError) as error:
            raise AgentError(f"{self._path}: it gives a {type(given).__name__}, {wanted}") from error
        if scores.shape != (len(view), NUM_ACTIONS):
            raise AgentError(f"{self._path}: it gives {list(scores.shape)}, {wanted}")
        if np.isnan(scores).any():
            raise AgentError(f"{self._path}: it gives NaN, {wanted}")
        # -inf is a score as well: a model that masks by itself may find nothing legal.
        finite = np.maximum(scores, np.finfo(np.float64).min)
        liked: NDArray[np.int64] = np.where(view.action_mask, finite, -np.inf).argmax(axis=1)
        return liked

    @abstractmethod
    def _scores(self, observation: NDArray[np.int8], mask: NDArray[np.bool_]) -> Any:
        """Return [n, 109] the score of each action."""


class Sb3Agent(_Model):
    """Plays a model that an algorithm of Stable-Baselines3 or sb3-contrib has saved: ``sb3:model.zip``.

    It can be a policy with an actor (PPO, A2C, TRPO, MaskablePPO) or with values of actions (DQN, QR-DQN), but not one
    with memory.
    """

    def __init__(self, place: str) -> None:
        """Load the policy of a model. Such files hold pickles, which can run code: load only files that you trust.

        Raises:
            AgentError: there is no such file, or it is not such a model.
            MissingExtraError: Stable-Baselines3 is not installed.
        """
        try:
            from stable_baselines3.common.save_util import load_from_zip_file
        except ImportError as error:
            raise MissingExtraError("models of Stable-Baselines3 need it: pip install 'mahjong-env[train]'") from error
        super().__init__("sb3", place)
        try:
            loaded, parameters, _ = load_from_zip_file(self._path, device="cpu")
            data: dict[str, Any] = loaded or {}
            kind, spaces = data["policy_class"], (data["observation_space"], data["action_space"])
            policy = kind(*spaces, lambda _: 0.0, **data["policy_kwargs"])
            policy.load_state_dict(parameters["policy"])
        except Exception as error:  # what damaged pickles and archives raise has no common parent
            raise AgentError(f"{place}: not a Stable-Baselines3 model that can be read here ({error})") from error
        if not any(hasattr(policy, name) for name in ("get_distribution", "q_net", "quantile_net")):
            raise AgentError(f"{place}: {kind.__name__} gives neither probabilities nor values of actions")
        if hasattr(policy, "lstm_actor"):
            raise AgentError(f"{place}: {kind.__name__} has a memory, which is not kept between decisions here")
        if getattr(spaces[1], "n", None) != NUM_ACTIONS or spaces[1].shape != ():
            raise AgentError(f"{place}: its actions are {spaces[1]}, not Discrete({NUM_ACTIONS})")
        self._policy = policy.eval()

    def _scores(self, observation: NDArray[np.int8], mask: NDArray[np.bool_]) -> Any:
        space = self._policy.observation_space
        if hasattr(space, "spaces"):
            shown: Any = {"observation": observation, "action_mask": mask.astype(np.int8)}
            shown = {name: shown[name].reshape(-1, *each.shape) for name, each in space.spaces.items()}
        else:
            shown = observation.reshape(len(observation), *space.shape)
        seen, _ = self._policy.obs_to_tensor(shown)
        with _torch().inference_mode():
            if hasattr(self._policy, "q_net"):
                return self._policy.q_net(seen)
            if hasattr(self._policy, "quantile_net"):
                return self._policy.quantile_net(seen).mean(dim=1)
            return self._policy.get_distribution(seen).distribution.logits


class TorchAgent(_Model):
    """Plays a scripted (``torch:model.pt``) or exported (``torch:model.pt2``) module, without needing its code."""

    def __init__(self, place: str, *, flat: bool = False) -> None:
        """Load a module that takes [n, C, 34] float32, or [n, C * 34] if it is ``flat``, and returns [n, 109].

        Raises:
            AgentError: there is no such file, or it is not such a module.
            MissingExtraError: torch is not installed.
        """
        super().__init__("torch", place)
        _torch()
        self._is_flat = flat
        try:
            self._file = OpenedFile(_exported if self._path.suffix == ".pt2" else _scripted, self._path)
        except Exception as error:  # what damaged archives raise has no common parent
            raise AgentError(f"{place}: not a scripted or exported module that can be read here ({error})") from error

    def _scores(self, observation: NDArray[np.int8], mask: NDArray[np.bool_]) -> Any:
        torch = _torch()
        seen = torch.from_numpy(observation).float()
        try:
            with torch.inference_mode():
                given = self._file.model(seen.flatten(1) if self._is_flat else seen)
                return given.double() if isinstance(given, torch.Tensor) else given  # numpy has no bfloat16
        except Exception as error:  # guards of shapes are assertions, and scripts raise errors of their own kind
            hint = "" if self._is_flat else " (torch:FILE?flat=true shows it [n, C * 34])"
            raise ValueError(f"{error}{hint}") from error


class OnnxAgent(_Model):
    """Plays an ONNX model (``onnx:model.onnx``) whose first input is [n, C, 34] or [n, C * 34], float32 or int8.

    Attributes:
        file: the model, an ``onnxruntime.InferenceSession``.
    """

    def __init__(self, place: str) -> None:
        """Load a model whose first output is [n, 109].

        Raises:
            AgentError: there is no such file, or it is not such a model.
            MissingExtraError: onnxruntime is not installed.
        """
        super().__init__("onnx", place)
        try:
            self.file = OpenedFile(_session, self._path)
        except MissingExtraError:
            raise
        except Exception as error:  # the library's errors have no common parent
            raise AgentError(f"{place}: not an ONNX model that can be read here ({error})") from error

    def _scores(self, observation: NDArray[np.int8], mask: NDArray[np.bool_]) -> Any:
        session = self.file.model
        wanted = session.get_inputs()[0]
        shown = observation.reshape(len(observation), -1) if len(wanted.shape) == 2 else observation
        if wanted.type != "tensor(int8)":
            shown = shown.astype(np.float32)
        try:
            return session.run(None, {wanted.name: shown})[0]
        except Exception as error:  # as above
            raise ValueError(error) from error


def onnx_agent(place: str, *, any_variant: bool = False) -> PolicyAgent | OnnxAgent:
    """Return the agent that plays an ONNX model: an exported policy, or a model that was trained elsewhere.

    Args:
        place: the file.
        any_variant: also play variants that an exported policy was not trained for.

    Raises:
        AgentError: there is no such file, it is not such a model, or it is a policy of another version.
        MissingExtraError: onnxruntime is not installed.
    """
    agent = OnnxAgent(place)
    header = agent.file.model.get_modelmeta().custom_metadata_map.get(POLICY)
    if header is None:
        return agent
    try:
        saved = PolicyFile(weights={}, **json.loads(header))
    except (TypeError, ValueError) as error:
        raise PolicyFileError(f"{place}: its metadata are not those of a policy ({error})") from error
    saved.check(Path(place))
    policy = PolicyAgent.playing(OnnxNetwork(agent.file), name=agent.name)
    policy.variant = None if any_variant else saved.variant
    return policy


class OnnxNetwork:
    """A model that `mahjong-env export` has written, as a `mahjong_agents.policy.network.Network`."""

    def __init__(self, file: OpenedFile) -> None:
        """Take the model, an ``onnxruntime.InferenceSession``."""
        self._file = file

    def inputs(self, view: View) -> Inputs:
        """Return the inputs of the model."""
        return action_inputs(view)

    def scores(self, inputs: Inputs) -> NDArray[np.float32]:
        """Return [m] float32 the logits of all legal actions."""
        shown = {**inputs.per_action, **inputs.per_decision, "row": inputs.row.astype(np.int64)}
        try:
            scores: NDArray[np.float32] = self._file.model.run(None, shown)[0]
        except Exception as error:  # the library's errors have no common parent
            raise PolicyFileError(f"the ONNX model does not take what its metadata say: {error}") from error
        return scores


def _scripted(file: Path | bytes) -> Any:
    return _torch().jit.load(BytesIO(file) if isinstance(file, bytes) else str(file), map_location="cpu").eval()


_LEARNS_AT: Final = {"dropout": 2, "batch_norm": 5}
"""Operations that behave differently in training, and the number of the argument that says so."""


def _exported(file: Path | bytes) -> Any:
    program = _torch().export.load(BytesIO(file) if isinstance(file, bytes) else file)
    for node in program.graph.nodes:
        place = next((place for name, place in _LEARNS_AT.items() if f"aten.{name}." in str(node.target)), None)
        if place is not None and len(node.args) > place and node.args[place] is True:
            raise ValueError("it was exported in training mode: call eval() of the module before exporting it")
    return program.module()


def _session(file: Path | bytes) -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtraError("ONNX models need onnxruntime: pip install 'mahjong-env[onnx]'") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # several threads would wait in busy loops, which slows machines that are shared
    model = file if isinstance(file, bytes) else str(file)
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError("models of torch need torch: pip install 'mahjong-env[train]'") from error
    return torch
