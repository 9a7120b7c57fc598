"""What everything else speaks of: tiles, actions, text notation, array types, errors, chance."""
