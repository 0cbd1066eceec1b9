"""Computational graphs: the message in event files, and the tree of scopes that is shown of it."""
