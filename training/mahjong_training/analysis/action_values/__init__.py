"""What is each action worth here? Every legal action is played on the same hidden worlds, to the end of the hand.

`branch` is the library: positions of an engine in, arrays out. The command makes tables, sentences and pages of them,
and reviews whole games: `mahjong_training.analysis.action_values.command`.
"""

from mahjong_training.analysis.action_values.branches import ENDS, Branches
from mahjong_training.analysis.action_values.playing import branch
from mahjong_training.analysis.action_values.words import sentence, sentences

__all__ = ["ENDS", "Branches", "branch", "sentence", "sentences"]
