"""An agent that tries its actions out on determinizations of what it cannot see."""
