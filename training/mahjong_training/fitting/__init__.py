"""Fits the numbers that agents are shipped with: values of afterstates, opponents' hands, control variates."""
