"""``python -m mahjong_training.cluster``: the versions that every node of a cluster must have."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from mahjong_training.cluster.versions import versions


def main() -> None:
    """Print them, and those of the packages that Ray pins."""
    found = dict(versions())
    for name in ("ray", "gymnasium"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    print(", ".join(f"{name} {number or 'not installed'}" for name, number in found.items()))


if __name__ == "__main__":
    main()
