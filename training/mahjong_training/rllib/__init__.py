"""The variants as multi-agent environments of RLlib, by its new API stack; see docs/cluster.md."""
