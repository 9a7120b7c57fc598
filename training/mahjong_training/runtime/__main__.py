"""``python -m mahjong_training.runtime``: print the versions that every node of a cluster must have."""

from mahjong_training.runtime.digests import installed, versions

found = dict(versions()) | {name: installed(name) for name in ("ray", "gymnasium")}
print(", ".join(f"{name} {number or 'not installed'}" for name, number in found.items()))
