"""Stable-Baselines3's MaskablePPO over all planes of the observation."""
