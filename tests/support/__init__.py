"""Helpers that tests share: written cases, the duel with the referee, strategies, positions, browsers."""
