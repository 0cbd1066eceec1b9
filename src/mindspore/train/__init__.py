"""Training: Model, callbacks, metrics, files. Façade: re-exports only."""
