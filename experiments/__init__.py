"""Studies whose figures the documentation quotes; not part of the distribution."""
