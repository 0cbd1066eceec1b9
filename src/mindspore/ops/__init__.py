"""Public operations. Façade: re-exports only."""
