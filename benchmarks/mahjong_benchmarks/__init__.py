"""The commands ``bench`` and ``bench-learning``, which measure speed, memory and the time to start.

``bench`` also measures other mahjong environments in the same run. `README.md` in the folder above explains how it
measures.
"""
