"""Wins: their description, the rows that they score, and what they pay."""
