"""Play for a person: matches against agents, hints, and the page in a browser."""
