"""Learning and evaluation of agents for mahjong_env.

from mahjong_agents import make_agent
from mahjong_env import rules
from mahjong_training import measure, one_against_copies

hebei, agents = rules("hebei"), [make_agent("greedy"), make_agent("random")]
measure(hebei, agents, one_against_copies(1, 0, hebei.people), deals=1000, seed=7).of(1).points
"""

from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import measure, measured_sigma, sigma
from mahjong_training.evaluation.results import difference

__all__ = ["difference", "measure", "measured_sigma", "one_against_copies", "sigma"]
