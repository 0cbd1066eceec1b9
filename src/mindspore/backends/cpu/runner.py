"""The native loop over a graph's steps.

`run(table, count)` calls `function(argument)` for every pair of words and stops at the first status that is not 0,
returning (step << 8 | status). Two helper functions let oneDNN primitives be steps: `execute` takes the words
(primitive, stream, number of arguments, arguments), `move` the words (memory, address). `stop` ends the run with the
status STOPPED if the int32 at an address (its only word) is not 0; `guarded` takes the words (address of a byte,
function, argument) and does that step only if the byte is not 0.
`timed()` is the same loop for the profiler: it also stores the processor's counter before each step and at the end.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any, NamedTuple

from mindspore.backends.cpu import jit, openmp

STEP = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)

_LOOP = """
define i64 @NAME(ptr %table, i64 %countMORE) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %good ]
STAMP
  %more = icmp slt i64 %i, %count
  br i1 %more, label %step, label %done
step:
  %at = shl i64 %i, 4
  %slot = getelementptr i8, ptr %table, i64 %at
  %function = load ptr, ptr %slot, align 8
  %second = getelementptr i8, ptr %slot, i64 8
  %argument = load ptr, ptr %second, align 8
  %status = call i32 %function(ptr %argument)
  %ok = icmp eq i32 %status, 0
  br i1 %ok, label %good, label %bad
good:
  %next = add i64 %i, 1
  br label %head
bad:
  %wide = zext i32 %status to i64
  %shifted = shl i64 %i, 8
  %result = or i64 %shifted, %wide
  ret i64 %result
done:
  ret i64 0
}
declare i64 @llvm.readcyclecounter()
"""

_STAMP = """
  %now = call i64 @llvm.readcyclecounter()
  %stamp = getelementptr i64, ptr %stamps, i64 %i
  store i64 %now, ptr %stamp, align 8
"""

_GUARDED_IR = """
define i32 @graph_guarded(ptr %words) {
entry:
  %flag = load ptr, ptr %words, align 8
  %byte = load i8, ptr %flag, align 1
  %wanted = icmp ne i8 %byte, 0
  br i1 %wanted, label %step, label %skip
step:
  %p1 = getelementptr i8, ptr %words, i64 8
  %function = load ptr, ptr %p1, align 8
  %p2 = getelementptr i8, ptr %words, i64 16
  %argument = load ptr, ptr %p2, align 8
  %status = call i32 %function(ptr %argument)
  ret i32 %status
skip:
  ret i32 0
}
"""

_DNNL_IR = """
define i32 @graph_execute(ptr %words) {
  %primitive = load ptr, ptr %words, align 8
  %p1 = getelementptr i8, ptr %words, i64 8
  %stream = load ptr, ptr %p1, align 8
  %p2 = getelementptr i8, ptr %words, i64 16
  %count = load i64, ptr %p2, align 8
  %n = trunc i64 %count to i32
  %p3 = getelementptr i8, ptr %words, i64 24
  %args = load ptr, ptr %p3, align 8
  %status = call i32 @dnnl_primitive_execute(ptr %primitive, ptr %stream, i32 %n, ptr %args)
  ret i32 %status
}
define i32 @graph_move(ptr %words) {
  %memory = load ptr, ptr %words, align 8
  %p1 = getelementptr i8, ptr %words, i64 8
  %address = load ptr, ptr %p1, align 8
  %status = call i32 @dnnl_memory_set_data_handle(ptr %memory, ptr %address)
  ret i32 %status
}
declare i32 @dnnl_primitive_execute(ptr, ptr, i32, ptr)
declare i32 @dnnl_memory_set_data_handle(ptr, ptr)
"""


#: the status of a run that ended because the graph reports an error
STOPPED = 255

_STOP_IR = f"""
define i32 @graph_stop(ptr %words) {{
  %address = load ptr, ptr %words, align 8
  %code = load i32, ptr %address, align 4
  %fine = icmp eq i32 %code, 0
  %status = select i1 %fine, i32 0, i32 {STOPPED}
  ret i32 %status
}}
"""


class Functions(NamedTuple):
    run: Any
    stop: int
    guarded: int
    execute: int
    move: int


@functools.cache
def functions() -> Functions:
    address = jit.load("graph_run", _loop("graph_run", "", ""))
    run = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)(address)
    stop, guarded = jit.load("graph_stop", _STOP_IR), jit.load("graph_guarded", _GUARDED_IR)
    if openmp.onednn() is None:
        return Functions(run, stop, guarded, 0, 0)
    return Functions(run, stop, guarded, jit.load("graph_execute", _DNNL_IR), jit.load("graph_move", _DNNL_IR))


@functools.cache
def timed() -> Any:
    """The loop that stores the counter: `run(table, count, stamps)`, with room for count + 1 stamps."""
    address = jit.load("graph_run_timed", _loop("graph_run_timed", ", ptr %stamps", _STAMP))
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)(address)


def _loop(name: str, more: str, stamp: str) -> str:
    return _LOOP.replace("NAME", name).replace("MORE", more).replace("STAMP", stamp)
