"""Servers and scheduler of horizontal federated learning. See the README for the drawing."""
