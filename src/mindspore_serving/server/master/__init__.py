"""Settings of the server. Façade: re-exports only."""

from mindspore_serving.server.master import context as context

__all__ = ["context"]
