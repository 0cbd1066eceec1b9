"""Streams and events: the order of work on a device, and waiting for it.

Every device here works in the order in which work is given to it, so streams never run past one another; they exist so
that programs which use them run unchanged. What is real is waiting (`synchronize`, `query`) and timing.
"""

from __future__ import annotations

import itertools
import threading
import time
from typing import Any

from mindspore.runtime import devices


class _Marker:
    """The end of the work given to the device so far."""

    def __init__(self) -> None:
        device = devices.current()
        self._array = None
        if isinstance(device, devices.XlaDevice):
            self._array = device.marker()
        else:
            device.flush()

    def done(self) -> bool:
        return self._array is None or self._array.is_ready()

    def wait(self) -> None:
        if self._array is not None:
            self._array.block_until_ready()


def synchronize() -> None:
    """Wait until the current device has done everything it was given.

    Examples:
        >>> ms.runtime.synchronize() is None
        True
    """
    _Marker().wait()


class Stream:
    """A queue of work on the current device.

    Examples:
        >>> import mindspore
        >>> stream = mindspore.runtime.Stream()
        >>> with mindspore.runtime.StreamCtx(stream):
        ...     y = mindspore.Tensor([1.0]) + 1
        >>> stream.synchronize()
    """

    _ids = itertools.count(1)

    def __init__(self, priority: int = 0, **kwargs: Any):
        if isinstance(priority, bool) or not isinstance(priority, int):
            raise TypeError(f"For 'Stream', the argument 'priority' should be int, but got {priority!r}.")
        self.priority = priority
        self.id = kwargs["stream_id"] if "stream_id" in kwargs else next(Stream._ids)
        self.device_name = devices.current().name
        self.device_id = 0

    def stream_id(self) -> int:
        return self.id

    def record_event(self, event: Event | None = None) -> Event:
        """Note the end of the work given so far in an event; a new one by default."""
        if event is not None and not isinstance(event, Event):
            raise TypeError(f"For 'record_event', the argument 'event' should be Event, but got {event!r}.")
        event = event if event is not None else Event()
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Later work of this stream comes after what the event has noted."""
        if not isinstance(event, Event):
            raise TypeError(f"For 'wait_event', the argument 'event' should be Event, but got {event!r}.")
        event.wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """Later work of this stream comes after what the other stream was given."""
        if not isinstance(stream, Stream):
            raise TypeError(f"For 'wait_stream', the argument 'stream' should be Stream, but got {stream!r}.")
        self.wait_event(stream.record_event())

    def synchronize(self) -> None:
        """Wait until the work given so far is done."""
        synchronize()

    def query(self) -> bool:
        """Whether the work given so far is done."""
        return _Marker().done()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (self.device_name, self.id) == (other.device_name, other.id)

    def __hash__(self) -> int:
        return hash((self.device_name, self.id))

    def __repr__(self) -> str:
        return f"Stream(device_name={self.device_name}, device_id:{self.device_id}, stream id:{self.id})"


class Event:
    """A point in the work of a stream. With `enable_timing` the time between two of them can be measured.

    Examples:
        >>> event = ms.runtime.Event()
        >>> event.record()
        >>> event.synchronize()
        >>> event.query()
        True
    """

    def __init__(self, enable_timing: bool = False, blocking: bool = False):
        for name, value in (("enable_timing", enable_timing), ("blocking", blocking)):
            if not isinstance(value, bool):
                raise TypeError(f"For 'Event', the argument '{name}' should be bool, but got {value!r}.")
        self.enable_timing, self.blocking = enable_timing, blocking
        self._marker: _Marker | None = None
        self._time = 0.0

    def record(self, stream: Stream | None = None) -> None:
        """Note the end of the work given so far. With timing, wait for it, so that the time is the device's."""
        _check_stream("record", stream)
        self._marker = _Marker()
        if self.enable_timing:
            self._marker.wait()
            self._time = time.perf_counter()

    def wait(self, stream: Stream | None = None) -> None:
        """Later work of the stream comes after this event. Devices keep the order of work, so nothing is left to do."""
        _check_stream("wait", stream)

    def synchronize(self) -> None:
        """Wait until the work noted by `record` is done."""
        if self._marker is not None:
            self._marker.wait()

    def query(self) -> bool:
        """Whether the work noted by `record` is done."""
        return self._marker is None or self._marker.done()

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to another one; both record times."""
        if not isinstance(end_event, Event):
            raise TypeError(f"For 'elapsed_time', the argument 'end_event' should be Event, but got {end_event!r}.")
        if not (self.enable_timing and end_event.enable_timing):
            raise RuntimeError("Both events must be made with enable_timing=True to measure the time between them.")
        if self._marker is None or end_event._marker is None:
            raise RuntimeError("Both events must be recorded before the time between them can be measured.")
        return (end_event._time - self._time) * 1000.0

    def __repr__(self) -> str:
        return f"Event(enable_timing={self.enable_timing}, blocking={self.blocking})"


def _check_stream(function: str, stream: Any) -> None:
    if stream is not None and not isinstance(stream, Stream):
        raise TypeError(f"For '{function}', the argument 'stream' should be Stream or None, but got {stream!r}.")


# -- the current stream -----------------------------------------------------------------------------------------------
class _Current(threading.local):
    stream: Stream | None = None


_CURRENT = _Current()
_DEFAULT_ID, _COMMUNICATION_ID = 0, -1


def default_stream() -> Stream:
    """The stream that work goes to unless told otherwise.

    Examples:
        >>> type(ms.runtime.default_stream()).__name__
        'Stream'
    """
    return Stream(stream_id=_DEFAULT_ID)


def communication_stream() -> Stream:
    """The stream of collective operations.

    Examples:
        >>> type(ms.runtime.communication_stream()).__name__
        'Stream'
    """
    return Stream(stream_id=_COMMUNICATION_ID)


def current_stream() -> Stream:
    """The stream that work of this thread goes to now.

    Examples:
        >>> ms.runtime.current_stream() == ms.runtime.default_stream()
        True
    """
    return _CURRENT.stream if _CURRENT.stream is not None else default_stream()


def set_cur_stream(stream: Stream | None) -> None:
    """Give the work of this thread to a stream from now on.

    Examples:
        >>> ms.runtime.set_cur_stream(ms.runtime.default_stream()) is None
        True
    """
    _check_stream("set_cur_stream", stream)
    if stream is not None:
        _CURRENT.stream = stream


class StreamCtx:
    """`with StreamCtx(stream):` gives the work inside to the stream; None changes nothing.

    Examples:
        >>> with ms.runtime.StreamCtx(ms.runtime.Stream()):
        ...     total = ops.ones(3).sum()
        >>> print(total)
        3.0
    """

    def __init__(self, ctx_stream: Stream | None):
        _check_stream("StreamCtx", ctx_stream)
        self.stream = ctx_stream

    def __enter__(self) -> StreamCtx:
        self._before = _CURRENT.stream
        set_cur_stream(self.stream)
        return self

    def __exit__(self, *_: Any) -> None:
        _CURRENT.stream = self._before
