"""The rules as pages for players: templates that the rules of a table fill in, with hands drawn and scored."""
