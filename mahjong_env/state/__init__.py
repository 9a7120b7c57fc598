"""The state of a batch of games: every array, declared once, and what moves tiles in it."""
