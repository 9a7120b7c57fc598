"""Variants: the questions that they answer, their knobs, the registry of all."""
