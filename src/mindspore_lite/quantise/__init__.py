"""Quantisation: fewer bits for weights and activations."""
