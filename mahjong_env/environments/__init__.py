"""The shells: PettingZoo, Gymnasium, vector environments, and the agents that play along."""
