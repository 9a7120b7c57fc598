"""Training with sb3-contrib's MaskablePPO over all planes of the observation."""

from mahjong_env import MissingExtraError

try:
    import sb3_contrib  # noqa: F401
except ImportError as error:
    raise MissingExtraError(f"MaskablePPO needs {error.name}: pip install 'mahjong-env[train,evaluate]'") from error
