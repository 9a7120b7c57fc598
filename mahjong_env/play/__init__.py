"""A person at the table: matches against agents, hints, and the page in a browser."""
