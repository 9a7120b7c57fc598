"""Speed: decisions per second of the engine and its environments, beside other mahjong environments in the same run.

Everybody plays uniformly random legal actions, game after game, on one core. The clock runs while the environment works
(stepping, masks, observations, new games) and stands still while the action is chosen: that is the agent's time. It
measures the processor's time, so that other work on the machine disturbs little; ``--clock wall`` measures the time
that passes.
"""

from __future__ import annotations

from mahjong_env.bench.own import own_contenders
from mahjong_env.bench.peers import peer_contenders
from mahjong_env.bench.report import report_json, report_text
from mahjong_env.bench.timing import TIMES, Contender, Result, measure

__all__ = ["TIMES", "Contender", "Result", "measure", "own_contenders", "peer_contenders", "report_json", "report_text"]
