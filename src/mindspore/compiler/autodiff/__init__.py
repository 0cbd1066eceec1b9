"""Differentiation and batching as transformations of graphs."""
