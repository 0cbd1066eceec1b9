"""The version: that of the MindSpore API this implements."""

__version__ = "2.10.0"
