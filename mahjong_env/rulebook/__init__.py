"""The rules as pages for players: templates that the rules of a table fill, with hands drawn and scored."""
