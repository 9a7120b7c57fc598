"""Speed: decisions per second of the engine and its environments, beside other mahjong environments in the same run.

The clock runs while the environment works (stepping, masks, observations, new games) and stands still while the action
is chosen: that is the agent's time. A second column counts both: what a whole loop of play reaches. The clock measures
the processor's time, so that other work on the machine disturbs little; ``--clock wall`` measures the time that passes.
`README.md` beside this file says how to measure and compare.
"""

from __future__ import annotations

from mahjong_benchmarks.footprint import Memory, Start, measure_footprint
from mahjong_benchmarks.own import own_contenders
from mahjong_benchmarks.peers import peer_contenders
from mahjong_benchmarks.plain import plain_contenders, plain_peer
from mahjong_benchmarks.plot import check_plot, draw
from mahjong_benchmarks.records import BenchFileError, read_record, report_json
from mahjong_benchmarks.report import against_text, memory_text, report_text, start_text
from mahjong_benchmarks.shares import PARTS, Shares, profile, shares_text
from mahjong_benchmarks.timing import TIMES, Contender, Meter, Player, Reading, Result, measure

__all__ = [
    "PARTS",
    "TIMES",
    "BenchFileError",
    "Contender",
    "Memory",
    "Meter",
    "Player",
    "Reading",
    "Result",
    "Shares",
    "Start",
    "against_text",
    "check_plot",
    "draw",
    "measure",
    "measure_footprint",
    "memory_text",
    "own_contenders",
    "peer_contenders",
    "plain_contenders",
    "plain_peer",
    "profile",
    "read_record",
    "report_json",
    "report_text",
    "shares_text",
    "start_text",
]
