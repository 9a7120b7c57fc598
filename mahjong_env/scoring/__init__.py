"""Wins: what describes them, which rows they score, what they pay."""
