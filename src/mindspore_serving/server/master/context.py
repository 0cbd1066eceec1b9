"""Settings of the server. Façade: re-exports only."""

from mindspore_serving.server.starting import set_max_enqueued_requests

__all__ = ["set_max_enqueued_requests"]
