"""The worth of actions and of rules."""
