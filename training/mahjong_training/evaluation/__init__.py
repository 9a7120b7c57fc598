"""Agents against each other: matches on shared deals, statistics, and reports."""
