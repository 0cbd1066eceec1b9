"""The index: what event files say, as columns in one SQLite file."""
