"""Programs that are run by hand or by make: golden games, the proof, the soak, the tables of the README."""
