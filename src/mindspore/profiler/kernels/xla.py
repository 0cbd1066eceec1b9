"""XLA: JAX's own trace tells when each kernel ran; the compiled program tells which operation it came from.

The backend gives every node a scope (`jax.named_scope`) that ends in "-op"; the compiler keeps it as the `op_name` of
the instructions it makes. A fused kernel bears the name of the operation that gives its result.
"""

from __future__ import annotations

import glob
import gzip
import json
import os
import re
import tempfile
import time
from typing import Any

from mindspore import log as logger

_MARK = "mindspore clock"
_INSTRUCTION = re.compile(r'^\s*(?:ROOT )?%?([\w.\-]+) = .*metadata=\{[^}]*op_name="([^"]*)"', re.MULTILINE)
_HOST_EVENTS = 1  # what the trace holds besides kernels: the least


class XlaClock:
    """A JAX trace of the recording, read when it ends."""

    def __init__(self, recorder: Any, jax: Any):
        self.recorder = recorder
        self.jax = jax
        self._programs: dict[int, Any] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="mindspore_profile_")
        options = jax.profiler.ProfileOptions()
        options.host_tracer_level = _HOST_EVENTS
        options.python_tracer_level = 0
        self._wait()  # what began before does not belong to the recording
        jax.profiler.start_trace(self._folder.name, profiler_options=options)
        self._begin = time.perf_counter_ns()
        with jax.profiler.TraceAnnotation(_MARK):
            pass

    @classmethod
    def started(cls, recorder: Any) -> XlaClock | None:
        """A running clock; None, with a warning, when JAX traces for somebody else already."""
        import jax

        try:
            return cls(recorder, jax)
        except RuntimeError as error:
            logger.warning("Kernels of XLA are not timed: %s", error)
            return None

    def run(self, executable: Any, arrays: list[Any], **how: Any) -> Any:
        self._programs.setdefault(id(executable), executable)
        return executable(*arrays, **how)

    def stop(self) -> None:
        try:
            self._wait()
            self.jax.profiler.stop_trace()
            self._read()
        finally:
            self._folder.cleanup()

    def _wait(self) -> None:
        """Devices compute while Python goes on: let them finish. (Keeping results would spoil the reuse of buffers.)"""
        self.jax.block_until_ready([a for a in self.jax.live_arrays() if not a.is_deleted()])

    def _read(self) -> None:
        found = glob.glob(os.path.join(self._folder.name, "**", "*.trace.json.gz"), recursive=True)
        if not found:
            return
        with gzip.open(found[0]) as stream:
            events = json.load(stream)["traceEvents"]
        zero = next((e["ts"] for e in events if e.get("name") == _MARK and "ts" in e), 0.0)
        sources = self._sources()
        for event in _kernel_events(events):
            begin = self._begin + int((event["ts"] - zero) * 1000)
            details = event["args"]
            unknown = (_plain(event["name"]), details.get("hlo_module", ""))
            name, place = sources.get(event["name"]) or sources.get(details.get("hlo_op")) or unknown
            span = (name, "kernel", begin, begin + int(event["dur"] * 1000), event.get("tid", 0), place)
            self.recorder.spans.append(span)

    def _sources(self) -> dict[Any, tuple[str, str]]:
        """{kernel: (operation, its scope)} of the programs that ran. Kernels of GPUs are written without dots."""
        sources = {}
        for program in self._programs.values():
            text = getattr(program, "as_text", str)()
            for instruction, path in _INSTRUCTION.findall(text):
                scope, found, _ = path.rpartition("-op")
                if found:
                    scope, _, operation = scope.rpartition("/")
                    source = (f"{operation} [{_plain(instruction)}]", scope.partition("/")[2])
                    sources[instruction] = sources[instruction.replace(".", "_")] = source
        return sources


def _kernel_events(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What ran on devices: kernels and copies of a GPU where there is one, else what the CPU's executor says."""
    device = re.compile("/device:(?!CPU)")
    accelerators = {e["pid"] for e in events if e.get("ph") == "M" and device.match(str(e.get("args", {}).get("name")))}
    found = [e for e in events if e.get("ph") == "X" and e.get("args")]
    if accelerators:
        return [
            e for e in found if e["pid"] in accelerators and ("hlo_op" in e["args"] or "memcpy_details" in e["args"])
        ]
    return [e for e in found if "hlo_op" in e["args"]]


def _plain(instruction: str) -> str:
    """Without the number that makes it unique."""
    return re.sub(r"[._]\d+$", "", instruction)
