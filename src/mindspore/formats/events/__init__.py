"""Event files of a run: records, messages, and a graph as a message."""
