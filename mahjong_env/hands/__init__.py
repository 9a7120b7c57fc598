"""Hand mathematics: codes and tables, complete shapes, shanten, and every way to read a hand."""
