"""Speed, memory and start, beside other mahjong environments in the same run: ``bench`` and ``bench-learning``.

`README.md` in the folder above says how they measure.
"""
