"""The evaluation of agents: matches on shared deals, statistics, and reports."""
