"""Pieces of the DataLoader."""
