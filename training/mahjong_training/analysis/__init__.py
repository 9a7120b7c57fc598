"""What an action is worth, and what a rule is worth."""
