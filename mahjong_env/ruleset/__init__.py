"""What a variant is: the questions that it answers, its knobs, its rule sheet."""
