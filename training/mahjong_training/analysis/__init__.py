"""Studies of what actions and rules are worth."""
