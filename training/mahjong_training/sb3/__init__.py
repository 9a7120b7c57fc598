"""Training with sb3-contrib's MaskablePPO over all planes of the observation."""
