"""The native loop over a graph's steps.

`run(table, count)` calls `function(argument)` for every pair of words and stops at the first status that is not 0,
returning (step << 8 | status). Two helper functions let oneDNN primitives be steps: `execute` takes the words
(primitive, stream, number of arguments, arguments), `move` the words (memory, address). `stop` ends the run with the
status STOPPED if the int32 at an address (its only word) is not 0; `guarded` takes the words (address of a byte,
function, argument) and does that step only if the byte is not 0.
`repeated()` goes through the table several times; before each time it sets some words to values of a row of their own.
`timed()` is the same loop for the profiler: it also stores the processor's counter before each step and at the end.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, NamedTuple

from mindspore._base.once import once
from mindspore.backends.cpu import jit, openmp

if TYPE_CHECKING:
    from mindspore.backends.cpu.image import Loaded

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

_REPEAT_IR = """
define i64 @graph_repeat(ptr %table, i64 %count, ptr %words, ptr %places, i64 %width, ptr %rows, i64 %times, ptr %made) {
entry:
  br label %turn
turn:
  %n = phi i64 [ 0, %entry ], [ %later, %good ]
  store i64 %n, ptr %made, align 8
  %more = icmp slt i64 %n, %times
  br i1 %more, label %begin, label %done
begin:
  %first = mul i64 %n, %width
  br label %head
head:
  %i = phi i64 [ 0, %begin ], [ %next, %set ]
  %left = icmp slt i64 %i, %width
  br i1 %left, label %set, label %run
set:
  %from = add i64 %first, %i
  %source = getelementptr i64, ptr %rows, i64 %from
  %value = load i64, ptr %source, align 8
  %which = getelementptr i64, ptr %places, i64 %i
  %place = load i64, ptr %which, align 8
  %target = getelementptr i64, ptr %words, i64 %place
  store i64 %value, ptr %target, align 8
  %next = add i64 %i, 1
  br label %head
run:
  %status = call i64 @graph_run_inside(ptr %table, i64 %count)
  %fine = icmp eq i64 %status, 0
  br i1 %fine, label %good, label %bad
good:
  %later = add i64 %n, 1
  br label %turn
bad:
  ret i64 %status
done:
  ret i64 0
}
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

#: the status of a run in which a function of the MPI library failed, or the processes' collectives differ
CALL_FAILED, DIFFERENT = 254, 253


def _argument(number: int) -> str:
    place = f"%p{number} = getelementptr i64, ptr %words, i64 {number}\n  "
    return place + f"%w{number} = load i64, ptr %p{number}, align 8"


_CALL_IR = f"""
define i32 @graph_call(ptr %words) {{
  {chr(10).join(_argument(n) for n in range(12))}
  %cell = inttoptr i64 %w0 to ptr
  %note = getelementptr i64, ptr %cell, i64 1
  %last = getelementptr i64, ptr %cell, i64 2
  %count = load volatile i64, ptr %cell, align 8
  %more = add i64 %count, 1
  store volatile i64 %more, ptr %cell, align 8
  store volatile i64 %w1, ptr %note, align 8
  %function = inttoptr i64 %w2 to ptr
  %status = call i32 %function(i64 %w3, i64 %w4, i64 %w5, i64 %w6, i64 %w7, i64 %w8, i64 %w9, i64 %w10, i64 %w11)
  store volatile i64 0, ptr %note, align 8
  %wide = sext i32 %status to i64
  store volatile i64 %wide, ptr %last, align 8
  %fine = icmp eq i32 %status, 0
  %result = select i1 %fine, i32 0, i32 {CALL_FAILED}
  ret i32 %result
}}
"""

_COMPARE_IR = f"""
define i32 @graph_compare(ptr %words) {{
entry:
  {chr(10).join(_argument(n) for n in range(3))}
  %counter = inttoptr i64 %w0 to ptr
  %count = load i64, ptr %counter, align 8
  %enough = icmp sge i64 %count, %w1
  br i1 %enough, label %same, label %compare
compare:
  %more = add i64 %count, 1
  store i64 %more, ptr %counter, align 8
  %a = getelementptr i64, ptr %words, i64 3
  %b = getelementptr i64, ptr %words, i64 4
  %minus = sub i64 0, %w2
  store i64 %w2, ptr %a, align 8
  store i64 %minus, ptr %b, align 8
  %begin = getelementptr i64, ptr %words, i64 6
  %begun = call i32 @graph_call(ptr %begin)
  %under_way = icmp eq i32 %begun, 0
  br i1 %under_way, label %await, label %failed
await:
  %wait = getelementptr i64, ptr %words, i64 18
  %status = call i32 @graph_call(ptr %wait)
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %look, label %failed
look:
  %most = load i64, ptr %a, align 8
  %least = load i64, ptr %b, align 8
  %sum = add i64 %most, %least
  %equal = icmp eq i64 %sum, 0
  br i1 %equal, label %same, label %different
same:
  ret i32 0
different:
  ret i32 {DIFFERENT}
failed:
  ret i32 {CALL_FAILED}
}}
"""


class Functions(NamedTuple):
    """Addresses, and `run` to be called; `home` keeps them in memory."""

    run: Any
    stop: int
    guarded: int
    execute: int
    move: int
    home: Any = None


@once
def _code(name: str, ir: str) -> jit.Code:
    """Kept for good: every graph uses them."""
    return jit.Code(name, ir)


def _load(name: str, ir: str) -> int:
    return _code(name, ir).address


@once
def functions() -> Functions:
    address = _load("graph_run", _loop("graph_run", "", ""))
    run = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)(address)
    stop, guarded = _load("graph_stop", _STOP_IR), _load("graph_guarded", _GUARDED_IR)
    if openmp.onednn() is None:
        return Functions(run, stop, guarded, 0, 0)
    return Functions(run, stop, guarded, _load("graph_execute", _DNNL_IR), _load("graph_move", _DNNL_IR))


def codes() -> list[jit.Code]:
    """The machine code of `functions`."""
    functions()
    named = [("graph_run", _loop("graph_run", "", "")), ("graph_stop", _STOP_IR), ("graph_guarded", _GUARDED_IR)]
    return [_code(*pair) for pair in (*named, ("graph_execute", _DNNL_IR), ("graph_move", _DNNL_IR))]


def functions_of(home: Loaded) -> Functions:
    """The same functions in an image."""
    run, stop, guarded, execute, move = (home.function(f"graph_{name}").address for name in Functions._fields[:5])
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)(run)
    return Functions(call, stop, guarded, execute, move, home)


@once
def communicating() -> tuple[int, int]:
    """`call(words)`: a cell of the transport's, a note, a function and nine arguments; the cell tells that it runs.
    `compare(words)`: a counter, its limit, a number that must be the same on all processes, room for two and for a request, and
    the words of the two calls that begin to find the largest of each, and wait for it."""
    code = _CALL_IR + _COMPARE_IR
    return _load("graph_call", code), _load("graph_compare", code)


@once
def repeated() -> Any:
    """`run(table, count, words, places, width, rows, times, made)`: `rows` has `width` values for each time, that go to the words
    with the numbers in `places`; `made` tells how many times were gone through whole."""
    address = _load("graph_repeat", _loop("graph_run_inside", "", "") + _REPEAT_IR)
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    return ctypes.CFUNCTYPE(number, pointer, number, pointer, pointer, number, pointer, number, pointer)(address)


@once
def timed() -> Any:
    """The loop that stores the counter: `run(table, count, stamps)`, with room for count + 1 stamps."""
    address = _load("graph_run_timed", _loop("graph_run_timed", ", ptr %stamps", _STAMP))
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)(address)


def _loop(name: str, more: str, stamp: str) -> str:
    return _LOOP.replace("NAME", name).replace("MORE", more).replace("STAMP", stamp)
