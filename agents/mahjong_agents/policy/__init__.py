"""Learned policies: inputs, networks, policy files, and the agent that plays them."""
