"""Learning by self-play: PPO, the hands that it learns from, rewards, and runs with their folders."""
