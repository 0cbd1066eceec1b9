"""L0: what every other layer stands on. Imports the standard library and NumPy only."""
