"""Commands that make figures which the documentation quotes; they are not part of the distribution."""
