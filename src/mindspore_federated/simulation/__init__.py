"""Federated learning of many clients on one machine."""
