"""The state of a batch of games: every array, declared once, and the methods that move tiles in them."""
