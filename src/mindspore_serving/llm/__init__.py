"""Language models: incremental inference with a paged cache and continuous batches. See `engine.py`."""
