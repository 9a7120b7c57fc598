"""Observations of a seat: planes for networks, named arrays for agents."""
