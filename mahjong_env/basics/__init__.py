"""Tiles, actions, text notation, array types, errors and chance, which everything else uses."""
