"""Files of learned policies: one zip, without pickles, of what the policy was trained for and of its weights."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.base import PolicyFileError
from mahjong_agents.policy.custom_features import Features
from mahjong_agents.policy.inputs import fingerprint as action_fingerprint
from mahjong_agents.policy.network import ARCHITECTURE as ACTIONS
from mahjong_agents.policy.plane_inputs import inputs_fingerprint
from mahjong_env import VARIANTS
from mahjong_env.basics.files import read_arrays, read_entry, replacing
from mahjong_env.basics.memory import size_text

FORMAT: Final = 2
PLANES: Final = "planes"
"""The name that policy files give networks over whole observations."""
TORCH: Final = "torch"
"""The name that policy files give a researcher's own torch modules."""
SHIPPED: Final = Path(__file__).parent / "weights"
"""The folder of the policies that are installed with this package, one for each variant."""
_HEADER, _WEIGHTS = "policy.json", "weights.npz"
_MOST_BYTES: Final = 2**28
"""The most bytes of weights: five thousand times those of the shipped policies; they unpack in about a second."""
_MOST_OF_A_HEADER: Final = 2**20
_MOST_WEIGHT: Final = 1e6
"""The greatest weight. No learned weight comes near it, and it keeps a network's sums far below the largest float32."""


@dataclass(frozen=True)
class PolicyFile:
    """A learned policy on disk.

    Attributes:
        variant: the name of the variant that it was trained for.
        variant_version: `Rules.version` at the time of training.
        network: the sizes of the network (`mahjong_agents.policy.plane_network.NetworkSpec`; the width of an
            `mahjong_agents.policy.network`); for a torch module, its ``class`` (file.py:Class or module:Class) and the
            ``options`` that it was made with.
        weights: the network's arrays by name.
        knobs: the house rules that it was trained with.
        inputs: `fingerprint_of` the architecture at the time of training; "" for the present one.
        training: how it was trained, for human readers.
        architecture: the kind of network: "planes" for `mahjong_agents.policy.plane_network`, "actions" for
            `mahjong_agents.policy.network`, "torch" for `mahjong_agents.policy.torch_network`.
    """

    variant: str
    variant_version: int
    network: Mapping[str, Any]
    weights: Mapping[str, NDArray[Any]]
    knobs: Mapping[str, Any] = field(default_factory=dict)
    inputs: str = ""
    training: Mapping[str, Any] = field(default_factory=dict)
    architecture: str = PLANES

    def __post_init__(self) -> None:
        """Fill in `inputs` if it is empty."""
        if not self.inputs:
            object.__setattr__(self, "inputs", fingerprint_of(self.architecture))

    def to_bytes(self) -> bytes:
        """Return the file's contents.

        Raises:
            PolicyFileError: the network is larger than what `read` accepts.
        """
        if (size := sum(array.nbytes for array in self.weights.values())) > _MOST_BYTES:
            raise PolicyFileError(f"its weights take {size_text(size)}; the limit is {size_text(_MOST_BYTES)}")
        header = {key: value for key, value in asdict(self).items() if key != "weights"}
        weights, data = io.BytesIO(), io.BytesIO()
        np.savez(weights, **dict(self.weights))  # type: ignore[arg-type]  # taken for allow_pickle
        with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(_HEADER, json.dumps({"format": FORMAT} | header, indent=2))
            archive.writestr(_WEIGHTS, weights.getvalue())
        return data.getvalue()

    def write(self, path: Path) -> None:
        """Write the file; an older file of this name is replaced as a whole or not at all."""
        with replacing(path) as file:
            file.write(self.to_bytes())

    @classmethod
    def read(cls, path: Path) -> PolicyFile:
        """Read a file.

        Raises:
            PolicyFileError: it is missing or corrupt, is not a policy file, or belongs to another version of the
                variant or of the inputs.
        """
        try:
            with zipfile.ZipFile(path) as archive:
                names = set(archive.namelist())
                if not {_HEADER, _WEIGHTS} <= names:
                    what = f"a zip, but not of a policy: {_HEADER} and {_WEIGHTS} are not in it"
                    if "policy.pth" in names:
                        what = "a Stable-Baselines3 model; the policy files that training writes are best.zip, last.zip"
                    raise PolicyFileError(f"{path}: {what}")
                header = json.loads(read_entry(archive, _HEADER, _MOST_OF_A_HEADER))
                weights = read_arrays(read_entry(archive, _WEIGHTS, _MOST_BYTES), _MOST_BYTES)
            if (found := header.pop("format")) != FORMAT:
                raise PolicyFileError(f"{path}: a policy file of format {found}; this version reads format {FORMAT}")
            if not header.get("inputs"):
                raise PolicyFileError(f"{path}: the file does not say which inputs its policy was trained with")
            policy = cls(weights=weights, **header)
            policy.check(path)
        except PolicyFileError:
            raise
        except FileNotFoundError:
            raise PolicyFileError(f"{path}: there is no such policy file") from None
        except Exception as error:  # zipfile, zlib, json and numpy raise a dozen different kinds
            hint = f"; for an ONNX model write onnx:{path}" if path.suffix == ".onnx" else ""
            raise PolicyFileError(f"{path}: not a policy file, or damaged ({error}){hint}") from error
        return policy

    def check(self, path: Path) -> None:
        """Check that the file at a path can be used with this version.

        Raises:
            PolicyFileError: its variant is unknown, it belongs to another version of the variant or of the inputs, or
                its weights are not all numbers from -1e6 to 1e6.
        """
        for name, array in self.weights.items():
            if array.dtype.kind not in "fiu" or not (np.abs(array) <= _MOST_WEIGHT).all():  # false for NaN, too
                raise PolicyFileError(
                    f"{path}: its weights {name!r} are not all numbers from {-_MOST_WEIGHT:g} to {_MOST_WEIGHT:g}"
                )
        here = fingerprint_of(self.architecture)
        if self.inputs != here:
            raise PolicyFileError(
                f"{path}: trained with other observations (inputs {self.inputs}, here {here}); "
                "train it again with this version"
            )
        if self.variant not in VARIANTS:
            raise PolicyFileError(f"{path}: trained for {self.variant!r}; known are {', '.join(sorted(VARIANTS))}")
        version = VARIANTS[self.variant].version
        if self.variant_version != version:
            raise PolicyFileError(
                f"{path}: trained for version {self.variant_version} of {self.variant}; this is version {version}"
            )

    def check_own(self, path: Path, features: Features | None, network: str | None) -> None:
        """Check that the caller names exactly the added inputs and the network class that it was trained with.

        They are somebody's code, which a policy file never runs by itself: the caller who loads the policy must name
        them.

        Raises:
            PolicyFileError: the caller names others, or none; or the file does not say what its network is.
        """
        if not isinstance(self.network, Mapping):
            raise PolicyFileError(f"{path}: its weights do not fit its network (no sizes, but {self.network!r})")
        needed, given = self.network.get("added", 0), 0 if features is None else len(features.facts)
        if needed != given and features is not None:
            raise PolicyFileError(f"{path}: trained with {needed} added inputs; {features!r} adds {given}")
        known = self.network.get("facts")  # older files do not say
        if features is not None and known is not None and known != (adds := {**features.facts}):
            raise PolicyFileError(f"{path}: trained with the added inputs {known}, names and scales; these are {adds}")
        if needed != given:
            named = self.training.get("features")
            raise PolicyFileError(
                f"{path}: trained with {needed} added inputs, {named}; if you trust that code, "
                f"load it with them: policy:{path}?features={named}"
            )
        if self.architecture == TORCH and network is None:
            named = self.network.get("class")
            raise PolicyFileError(
                f"{path}: its network is {named}, which is not part of this package; if you trust that code, "
                f"load it with it: policy:{path}?network={named}"
            )
        if self.architecture != TORCH and network is not None:
            raise PolicyFileError(f"{path}: its network is one of this package; leave out network={network}")


def fingerprint_of(architecture: str) -> str:
    """Return a text that changes whenever the inputs of a kind of network change.

    Raises:
        ValueError: there is no such kind.
    """
    fingerprints = {ACTIONS: action_fingerprint(), PLANES: inputs_fingerprint()}
    # A researcher's own network may read anything of a view.
    fingerprints[TORCH] = f"{fingerprints[ACTIONS]}-{fingerprints[PLANES]}"
    if architecture not in fingerprints:
        raise ValueError(f"there is no kind of network {architecture!r}; known are {', '.join(fingerprints)}")
    return fingerprints[architecture]


def find_policy(place: str) -> Path:
    """Return the policy file that a text refers to.

    Args:
        place: the name of a shipped policy, which is that of its variant; a file; a run folder (its ``best.zip``); or
            the name of a folder in ``runs/``.

    Raises:
        PolicyFileError: there is no such file.
    """
    shipped = ", ".join(f"policy:{path.stem}" for path in sorted(SHIPPED.glob("*.zip")))
    if not place.strip():
        raise PolicyFileError(
            f"'policy:' names no policy: write policy:FILE, policy:RUN_FOLDER, or the name of a shipped one ({shipped})"
        )
    given = Path(place)
    if given.name == place and place.isidentifier() and (SHIPPED / f"{place}.zip").is_file():
        return SHIPPED / f"{place}.zip"
    for candidate in (given, given / "best.zip", Path("runs") / given / "best.zip"):
        try:
            if candidate.is_file():
                return candidate
        except OSError as error:  # a name that is too long, a folder that may not be looked into
            raise PolicyFileError(f"no policy {place!r}: {error.strerror or error}") from error
    raise PolicyFileError(
        f"no policy {place!r}: there is neither such a file nor such a run; train one first (make train), "
        f"or use a shipped one ({shipped})"
    )
