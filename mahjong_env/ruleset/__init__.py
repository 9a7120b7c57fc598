"""Variants: the questions that they answer, their knobs, and the registry of all variants."""
