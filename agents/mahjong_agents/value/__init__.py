"""Agents that play for points: by a learned value of afterstates, or by plans priced with the variant's own scoring."""
