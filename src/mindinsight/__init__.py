"""MindInsight: the dashboard, the tuner and the debugger for training runs. It reads files and imports no framework."""

__version__ = "2.10.0"
