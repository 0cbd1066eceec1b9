"""The Python client. Façade: re-exports only."""

from mindspore_serving.client.client import Client, SSLConfig

__all__ = ["Client", "SSLConfig"]
