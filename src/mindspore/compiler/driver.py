"""The compiler, top to bottom.

    user's Python ──trace──▶ typed graph (gradients and batching expanded as they are met)
                  ──rewrite──▶ simplified graph
                  ──backend──▶ executable

`STAGES` is the ordered list of passes between tracing and the backend. Each stage can be dumped as text
(`set_context(save_graphs=…)`) and is checked by the verifier when `MS_DEV_VERIFY_IR=1`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from mindspore._base import flags
from mindspore._base.files import atomic_write
from mindspore.compiler.rewrite.passes import PASSES
from mindspore.ir import FuncGraph
from mindspore.ir.drawing import graph_drawing
from mindspore.ir.printer import graph_text
from mindspore.ir.verify import verify


class Options(NamedTuple):
    """How to compile: handed down by the layers above, so that the compiler reads no global settings."""

    dump_level: int = 0
    dump_path: str = "."
    optimize: bool = True


STAGES: list[tuple[str, Callable[[FuncGraph], None]]] = list(PASSES)


def optimise(graph: FuncGraph, options: Options = Options()) -> FuncGraph:
    """Run every stage in place."""
    dump = Dump(options)
    dump.write("trace", graph, main=True)
    check = flags.verify_each_pass()
    if check:
        verify(graph, "trace")
    if options.optimize:
        for name, run in STAGES:
            run(graph)
            if check:
                verify(graph, name)
            dump.write(name, graph)
    dump.write("validate", graph, main=True)  # the name under which MindSpore's users look for the final graph
    return graph


def compile_graph(
    graph: FuncGraph, backend: Any, donated: frozenset[int] = frozenset(), options: Options = Options()
) -> Any:
    """Optimise a graph and hand it to a backend."""
    return backend.compile(optimise(graph, options), donated)


class Dump:
    """Writes one numbered text file per stage; from level 3 on a drawing for Graphviz beside it.

    `MS_DEV_DUMP_IR_PASSES` names the stages wanted, separated by commas.
    """

    def __init__(self, options: Options):
        self.options = options
        self.count = 0

    def write(self, stage: str, graph: FuncGraph, main: bool = False) -> None:
        level = self.options.dump_level
        wanted = [w.strip(" _") for w in flags.text("MS_DEV_DUMP_IR_PASSES").split(",") if w.strip(" _")]
        if level == 0 or (level == 1 and not main) or (wanted and not any(w in stage for w in wanted)):
            return
        os.makedirs(self.options.dump_path, exist_ok=True)
        path = os.path.join(self.options.dump_path, f"{self.count:02d}_{stage}_{graph.id:04d}")
        self.count += 1
        with atomic_write(path + ".ir", "w") as stream:
            stream.write(graph_text(graph))
        if level >= 3:
            with atomic_write(path + ".dot", "w") as stream:
                stream.write(graph_drawing(graph))
