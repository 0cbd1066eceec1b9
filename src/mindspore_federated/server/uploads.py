"""Bodies that arrive: where their bytes go, and how a large one goes on after its connection broke.

A client names a body with `Upload-Id`, a secret of its own, and tells its `Upload-Length` and the `Upload-Offset` it sends
from. When the connection breaks, the bytes that came stay here. The client then asks with its `Upload-Id` alone: it learns
how many bytes are here (202, `Upload-Offset`) and sends the rest, or, where the body was complete, it gets the answer that was
lost on its way: nothing is counted twice. A connection that comes back takes over from one that hangs.

What is kept for clients that may come back is bounded in number, bytes and time; the oldest goes first, and its client begins
anew. Bytes go into buffers that are used again (`Buffers`): the system's allocator would keep holes of many sizes, and a server
would grow with every round. Used from one event loop: no locks.
"""
from __future__ import annotations

import re
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass

_NAME = re.compile(r"[A-Za-z0-9-]{16,64}")
_SMALL = 1 << 16                         # bodies below it are not worth a buffer of their own
_SPARE_SECONDS = 10.0
_KEPT_ANSWER = 1 << 12                   # bytes of an answer worth keeping: models can be asked for again


class Reply:
    """An answer to a request; its body may come in parts that other answers share."""

    def __init__(self, *parts: bytes, status: int = 200, kind: str = "application/octet-stream", retry_after: float = 0.0,
                 offset: int | None = None) -> None:
        self.parts, self.status, self.kind = parts, status, kind
        self.retry_after, self.offset = retry_after, offset

    @property
    def size(self) -> int:
        """The number of bytes of the body."""
        return sum(map(len, self.parts))


class Buffers:
    """Memory for bodies, used again as long as bodies of its size come."""

    def __init__(self, size: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._size, self._clock = size, clock
        self._spare: deque[tuple[bytearray, float]] = deque()            # the one used last is the first to be used again
        self.spare_size = 0

    def take(self, length: int) -> bytearray:
        """A buffer of at least `length` bytes."""
        if length <= _SMALL:
            return bytearray(length)
        for place, (buffer, _) in enumerate(self._spare):
            if length <= len(buffer) <= 2 * length:
                del self._spare[place]
                self.spare_size -= len(buffer)
                return buffer
        return bytearray(length)

    def give(self, buffer: bytearray) -> None:
        """Take a buffer back, unless somebody still looks at it."""
        if len(buffer) > _SMALL:
            try:
                buffer.append(buffer.pop())                 # what is looked at cannot change its size
            except BufferError:
                return
            self._spare.appendleft((buffer, self._clock()))
            self.spare_size += len(buffer)
        while self._spare and (self.spare_size > self._size or self._spare[-1][1] <= self._clock() - _SPARE_SECONDS):
            self.spare_size -= len(self._spare.pop()[0])


@dataclass
class Upload:
    """A body of up to `length` bytes, of which `size` have come."""
    length: int
    buffer: bytearray
    size: int = 0
    turn: int = 0                        # which connection sends: an older one has nothing to say any more
    complete: bool = False               # an answer is on its way

    def add(self, part: bytes) -> bool:
        """Put the next bytes in their place; whether they fit."""
        end = self.size + len(part)
        if end > self.length:
            return False
        self.buffer[self.size:end] = part
        self.size = end
        return True

    def body(self) -> memoryview:
        """What has come."""
        return memoryview(self.buffer)[:self.size]


_LATER = Reply(b"the upload is complete and will be answered", status=503, kind="text/plain", retry_after=1.0)


@dataclass(frozen=True)
class Stated:
    """What the headers of a request say of its body; `name` is empty where it cannot go on after a break."""
    length: int
    name: str = ""
    offset: int = 0
    asks: bool = False                   # only how far the upload is


def stated(headers: list[tuple[bytes, bytes]], longest: int) -> Stated:
    """The sizes in the headers; a body that does not tell its length may have `longest` bytes."""
    found = {name: value.decode("latin-1") for name, value in headers if name in (
        b"content-length", b"upload-id", b"upload-offset", b"upload-length")}
    numbers = {name: int(text) for name, text in found.items() if name != b"upload-id" and text.isdecimal()}
    if len(numbers) != len(found) - (b"upload-id" in found):
        raise ValueError("a length or an offset in the headers is no number")
    name = found.get(b"upload-id", "")
    if not name:
        return Stated(numbers.get(b"content-length", longest))
    if not _NAME.fullmatch(name):
        raise ValueError("Upload-Id should have 16 to 64 letters, digits and hyphens")
    return Stated(numbers.get(b"upload-length", 0), name, numbers.get(b"upload-offset", 0), b"upload-offset" not in numbers)


class Uploads:
    """The named uploads of a server."""

    def __init__(self, *, number: int = 1024, size: int = 256 << 20, answers: int = 1 << 14, seconds: float = 300.0,
                 clock: Callable[[], float] = time.monotonic) -> None:
        self._number, self._size, self._seconds, self._clock = number, size, seconds, clock
        self._under_way: dict[str, Upload] = {}
        self._broken: OrderedDict[str, tuple[Upload, float]] = OrderedDict()         # and since when
        self._broken_size = 0
        self._answers: OrderedDict[str, tuple[Reply, float]] = OrderedDict()
        self._answer_number = answers
        self._buffers = Buffers(size, clock)

    def ask(self, name: str) -> Reply:
        """Where an upload stands; the connection that asks is the one that goes on."""
        self._tidy()
        if name in self._answers:
            return self._answers[name][0]
        upload = self._find(name)
        if upload is None:
            return Reply(status=202, offset=0)
        if upload.complete:
            return _LATER
        upload.turn += 1                                    # from here on it stands still
        self.keep(name, upload, upload.turn)
        return Reply(status=202, offset=upload.size)

    def begin(self, body: Stated) -> Upload | Reply:
        """The upload to put bytes into, or why it cannot go on."""
        if not body.name:
            return self._new(body.length)
        self._tidy()
        self._answers.pop(body.name, None)
        upload = self._find(body.name)
        if upload is not None and upload.complete:
            return _LATER
        if upload is not None:
            upload.turn += 1
        if body.offset == 0:
            upload = self._new(body.length)
        elif upload is None or (upload.size, upload.length) != (body.offset, body.length):
            return Reply(b"the upload stands elsewhere", status=409, kind="text/plain",
                         offset=0 if upload is None else upload.size)
        self._forget(body.name)
        self._under_way[body.name] = upload
        return upload

    def keep(self, name: str, upload: Upload, turn: int) -> None:
        """The connection of an upload is gone."""
        if not name:
            self._buffers.give(upload.buffer)
        elif upload.turn == turn and self._find(name) is upload:
            self._forget(name)
            self._broken[name] = upload, self._clock()
            self._broken_size += upload.size
            self._tidy()

    def done(self, name: str, upload: Upload, reply: Reply) -> Reply:
        """An upload was complete and is answered."""
        self._buffers.give(upload.buffer)
        if name:
            reply.offset = upload.size
            if self._under_way.get(name) is upload:
                del self._under_way[name]
                if reply.size <= _KEPT_ANSWER:
                    self._answers[name] = reply, self._clock()
        return reply

    def _new(self, length: int) -> Upload:
        return Upload(length, self._buffers.take(length))

    def _find(self, name: str) -> Upload | None:
        return self._under_way[name] if name in self._under_way else self._broken.get(name, (None, 0.0))[0]

    def _forget(self, name: str) -> None:
        self._under_way.pop(name, None)
        if name in self._broken:
            self._broken_size -= self._broken.pop(name)[0].size

    def _tidy(self) -> None:
        """Forget what is too old or too much, the oldest first."""
        past = self._clock() - self._seconds
        while self._broken and (len(self._broken) > self._number or self._broken_size > self._size
                                or next(iter(self._broken.values()))[1] <= past):
            self._forget(next(iter(self._broken)))
        while self._answers and (len(self._answers) > self._answer_number
                                 or next(iter(self._answers.values()))[1] <= past):
            self._answers.popitem(last=False)
