"""Converters of well-known datasets to MindRecord."""
