"""Slow, obvious implementations that share no code with the engine: the referee, and brute force over hands."""
