"""Messages of native steps: copied, sent in the background, freed when they have arrived.

So two processes may send to each other before they receive, and a step's memory is free at once. (`MPI_Bsend` with the library's
automatic buffer would say the same in one call, but MPICH keeps the copy of every message that does not arrive at once until the
process ends.)

A message is a block of memory: the next message, MPI's request, the copied bytes. The list starts in the first of the outbox's
words; the others are a lock and the functions that are called. Whoever posts a message frees those that have arrived.
"""

from __future__ import annotations

import ctypes
import functools

from mindspore._base import mpi
from mindspore.backends.cpu import jit

#: what steps call the function `post(source, bytes, rank, tag, communicator, outbox)`
POST = "post"
_HEAD, _LOCK, _ISEND, _TEST, _MALLOC, _FREE, _MEMCPY, _WORDS = range(8)
_REQUEST, _PAYLOAD = 8, 64  #: where they are in a message

_NO_MEMORY = 34  # MPI_ERR_NO_MEM of the standard ABI


def _function(name: str, word: int) -> str:
    return f"%{name}_at = getelementptr i64, ptr %outbox, i64 {word}\n  %{name} = load ptr, ptr %{name}_at, align 8"


_POST_IR = f"""
define i32 @graph_post(i64 %from, i64 %bytes, i64 %rank, i64 %tag, i64 %communicator, i64 %where) {{
entry:
  %outbox = inttoptr i64 %where to ptr
  %source = inttoptr i64 %from to ptr
  {_function("isend", _ISEND)}
  {_function("test", _TEST)}
  {_function("malloc", _MALLOC)}
  {_function("free", _FREE)}
  {_function("memcpy", _MEMCPY)}
  %lock = getelementptr i64, ptr %outbox, i64 {_LOCK}
  %flag = alloca i32, align 4
  br label %spin
spin:
  %taken = atomicrmw xchg ptr %lock, i64 1 acquire
  %locked = icmp eq i64 %taken, 0
  br i1 %locked, label %reap, label %spin
reap:
  %link = phi ptr [ %outbox, %spin ], [ %link, %arrived ], [ %old, %under_way ]
  %old = load ptr, ptr %link, align 8
  %none = icmp eq ptr %old, null
  br i1 %none, label %copy, label %ask
ask:
  %old_request = getelementptr i8, ptr %old, i64 {_REQUEST}
  %asked = call i32 %test(ptr %old_request, ptr %flag, ptr null)
  %done = load i32, ptr %flag, align 4
  %failed = icmp ne i32 %asked, 0
  br i1 %failed, label %give_up, label %look
look:
  %over = icmp ne i32 %done, 0
  br i1 %over, label %arrived, label %under_way
under_way:
  br label %reap
arrived:
  %rest = load ptr, ptr %old, align 8
  store ptr %rest, ptr %link, align 8
  call void %free(ptr %old)
  br label %reap
copy:
  %size = add i64 %bytes, {_PAYLOAD}
  %new = call ptr %malloc(i64 %size)
  %no_memory = icmp eq ptr %new, null
  br i1 %no_memory, label %give_up, label %send
send:
  %payload = getelementptr i8, ptr %new, i64 {_PAYLOAD}
  %copied = call ptr %memcpy(ptr %payload, ptr %source, i64 %bytes)
  %request = getelementptr i8, ptr %new, i64 {_REQUEST}
  %sent = call i32 %isend(ptr %payload, i64 %bytes, i64 {mpi.BYTE}, i64 %rank, i64 %tag, i64 %communicator, ptr %request)
  %begun = icmp eq i32 %sent, 0
  br i1 %begun, label %keep, label %drop
keep:
  %first = load ptr, ptr %outbox, align 8
  store ptr %first, ptr %new, align 8
  store ptr %new, ptr %outbox, align 8
  br label %end
drop:
  call void %free(ptr %new)
  br label %end
give_up:
  %why = phi i32 [ %asked, %ask ], [ {_NO_MEMORY}, %copy ]
  br label %end
end:
  %status = phi i32 [ 0, %keep ], [ %sent, %drop ], [ %why, %give_up ]
  store atomic i64 0, ptr %lock release, align 8
  ret i32 %status
}}
"""


@functools.cache
def post() -> int:
    """The address of the function that sends a message."""
    return _code().address


@functools.cache
def _code() -> jit.Code:
    return jit.Code("graph_post", _POST_IR)


class Outbox:
    """The messages of this process that may still be under way."""

    def __init__(self) -> None:
        c = ctypes.CDLL(None)
        used = {_ISEND: mpi.address("MPI_Isend_c"), _TEST: mpi.address("MPI_Test")}
        used |= {word: _address(getattr(c, name)) for word, name in ((_MALLOC, "malloc"), (_FREE, "free"), (_MEMCPY, "memcpy"))}
        self._words = (ctypes.c_int64 * _WORDS)(*(used.get(word, 0) for word in range(_WORDS)))
        self.address = ctypes.addressof(self._words)
        self._free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(used[_FREE])

    def deliver(self) -> None:
        """Wait until all messages have arrived."""
        while self._words[_HEAD]:
            message = self._words[_HEAD]
            mpi.call("MPI_Wait", message + _REQUEST, 0)
            self._words[_HEAD] = ctypes.c_int64.from_address(message).value
            self._free(message)


def _address(function: object) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0  # type: ignore[arg-type]
