"""Layers, losses, optimizers. Façade: re-exports only."""
