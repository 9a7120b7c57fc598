"""What a variant is: the questions that it answers, its knobs, the registry of all."""
