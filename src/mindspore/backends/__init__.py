"""L4: executing graphs. `base.py` is the protocol; each folder implements it."""
