"""The environments (PettingZoo, Gymnasium, vector environments, OpenSpiel) and the agents that play in them."""
