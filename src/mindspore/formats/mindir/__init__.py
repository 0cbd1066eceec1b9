"""MindIR: messages, graphs to messages, messages to programs."""
