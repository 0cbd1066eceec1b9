"""Streams. Façade: re-exports only."""

from mindspore.runtime.device_streams import (
    Stream,
    StreamCtx,
    communication_stream,
    current_stream,
    default_stream,
    set_cur_stream,
    synchronize,
)

__all__ = [
    "Stream", "StreamCtx", "communication_stream", "current_stream", "default_stream", "set_cur_stream", "synchronize",
]  # fmt: skip
