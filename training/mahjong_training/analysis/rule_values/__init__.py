"""What is a rule worth? The same deals are played by two sets of rules, and every difference gets its interval.

`compare` is the library; ``mahjong-env rule-values`` (`mahjong_training.analysis.rule_values.command`) prints and draws
what it finds.
"""

from mahjong_training.analysis.rule_values.comparing import Change, Comparison, changes_of, compare, without_row
from mahjong_training.analysis.rule_values.measures import Measures

__all__ = ["Change", "Comparison", "Measures", "changes_of", "compare", "without_row"]
