"""``python -m mahjong_training.runtime``: the versions that every node of a cluster must have."""

from mahjong_training.runtime.versions import main

main()
