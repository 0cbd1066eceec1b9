"""L2: every primitive once. One file per family; see `primitive.py` for the rules an entry states."""
