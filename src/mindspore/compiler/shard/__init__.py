"""Cutting a graph over devices: see README.md."""
