"""The batched engine: games dealt, stepped, copied and restored, all at once."""
