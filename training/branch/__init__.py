"""What is each action worth here? Every legal action is played on the same hidden worlds, to the end of the hand.

`branch` is the library: positions of an engine in, arrays out. The command makes tables, sentences and pages of them,
and reviews whole games: `training.branch.command`.
"""

from training.branch.branches import ENDS, Branches
from training.branch.playing import branch
from training.branch.words import sentence, sentences

__all__ = ["ENDS", "Branches", "branch", "sentence", "sentences"]
