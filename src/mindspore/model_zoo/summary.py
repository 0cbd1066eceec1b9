"""What a network is made of: layers with their results, parameters, operations, memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore import context
from mindspore.common.tensor import Tensor
from mindspore.compiler.flops import count_flops
from mindspore.ir import FuncGraph
from mindspore.nn.cell import Cell
from mindspore.train._compiled_graph import graph_of


def sample(net: Cell, batch: int = 1, seed: int = 0) -> tuple[Tensor, ...]:
    """Random inputs of the kind that a network of the zoo takes.

    Examples:
        >>> from mindspore import model_zoo
        >>> [x.shape for x in model_zoo.sample(model_zoo.create("lenet5"), batch=4)]
        [(4, 1, 32, 32)]
    """
    rng = np.random.default_rng(seed)
    return tuple(Tensor(takes.sample(batch, rng)) for takes in net.takes)


def summary(net: Cell, batch: int = 1, depth: int = 3) -> str:
    """A table of the layers down to a depth, and totals below it.

    Examples:
        >>> from mindspore import model_zoo
        >>> print(model_zoo.summary(model_zoo.create("lenet5")).splitlines()[0].split())
        ['layer', 'kind', 'result', 'parameters']
    """
    inputs = sample(net, batch)
    training = net.training
    net.set_train(False)
    shapes, kept = _results(net, inputs)
    operations = flops(net, inputs)
    net.set_train(training)
    rows = [("layer", "kind", "result", "parameters")]
    for path, cell in net.cells_and_names():
        if path and path.count(".") < depth and path in shapes:
            count = sum(p.size for p in cell.get_parameters())
            rows.append((path, type(cell).__name__, shapes[path], f"{count:,}"))
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    lines = ["  ".join([*(c.ljust(w) for c, w in zip(row[:3], widths)), row[3].rjust(widths[3])]).rstrip() for row in rows]
    parameters = list(net.get_parameters())
    weights = sum(p.size * p.itemsize for p in parameters)
    trained = sum(p.size for p in net.trainable_params())
    lines += [
        "",
        f"parameters   {sum(p.size for p in parameters):,} ({trained:,} trained)",
        f"operations   {operations / 1e9:,.3f} GFLOPs for a batch of {batch}",
        f"memory       {_megabytes(weights)} of weights, {_megabytes(kept)} of results of layers",
    ]
    return "\n".join(lines)


def flops(net: Cell, inputs: tuple[Tensor, ...]) -> float:
    """The floating-point operations of a forward pass, counted in the compiled graph."""
    with context.local_context(mode=context.GRAPH_MODE):
        net.compile(*inputs)
        graph = graph_of(net)
    assert isinstance(graph, FuncGraph)
    return count_flops(graph)


def _results(net: Cell, inputs: tuple[Tensor, ...]) -> tuple[dict[str, str], int]:
    """The shape of each cell's result, and the bytes of those of the innermost ones."""
    shapes: dict[str, str] = {}
    kept = 0
    handles = []

    def watch(path: str, leaf: bool) -> Any:
        def seen(cell: Cell, inputs: Any, output: Any) -> None:
            nonlocal kept
            tensors = output if isinstance(output, tuple) else (output,)
            shapes[path] = " ".join(str(t.shape) for t in tensors if isinstance(t, Tensor))
            if leaf:
                kept += sum(t.size * t.itemsize for t in tensors if isinstance(t, Tensor))

        return seen

    for path, cell in net.cells_and_names():
        handles.append(cell.register_forward_hook(watch(path, not cell.cells())))
    try:
        with context.local_context(mode=context.PYNATIVE_MODE):
            net(*inputs)
    finally:
        for handle in handles:
            handle.remove()
    return shapes, kept


def _megabytes(count: int) -> str:
    return f"{count / 2**20:,.1f} MiB"
