"""The API reference: public names, what their docstrings say, and pages made of it."""
