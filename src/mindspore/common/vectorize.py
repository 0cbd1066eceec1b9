"""`vmap`, and the Jacobians that use it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.common.compiled import CompiledFunction
from mindspore.common.gradient import Derivative, _tensors, jvp
from mindspore.common.tensor import Tensor
from mindspore.compiler import parse
from mindspore.compiler.autodiff.vmap import batch_graph
from mindspore.ir import AbstractTensor
from mindspore.prims import values
from mindspore.prims.active import ACTIVE
from mindspore.prims.arrays import Stack, Transpose
from mindspore.prims.broadcasting import BroadcastTo, Reshape
from mindspore.prims.checks import UnfitError
from mindspore.prims.values import TensorBase

if TYPE_CHECKING:
    from mindspore.compiler.builder import Builder
    from mindspore.compiler.parse.interpreter import Interpreter


class Vectorized:
    """The function that applies `fn` along an axis of its arguments.

    The function is built into a graph for one example, and the graph is transformed: every primitive gets a batch
    dimension (compiler/autodiff/vmap.py). In PyNative mode that graph is compiled and run.
    """

    def __init__(self, fn: Any, in_axes: Any, out_axes: Any, one_draw: bool = False):
        self.fn = fn
        self.one_draw = one_draw
        self.in_axes = in_axes
        self.out_axes = out_axes
        self.__name__ = getattr(fn, "__name__", type(fn).__name__)
        self._compiled = CompiledFunction(self, f"vmap_{self.__name__}")
        self._compiling = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if ACTIVE.builder is not None:
            return self._trace(args, kwargs)
        if self._compiling:  # what was to be compiled needs values, and is to run as plain Python
            return self._one_by_one(args, kwargs)
        self._compiling = True
        try:
            return self._compiled(*args, **kwargs)
        finally:
            self._compiling = False

    def _one_by_one(self, args: tuple, kwargs: dict) -> Any:
        """Call the function for each example and stack the results."""
        axes = self._axes(args)
        size = _batch_size(args, axes)
        results = [self.fn(*(_picked(a, x, i) for a, x in zip(args, axes)), **kwargs) for i in range(size)]
        stacked = iter([(Stack(0)(list(column)), True) for column in zip(*map(_tensors, results))])
        return _place(results[0], self.out_axes, size, lambda _: next(stacked))

    def _axes(self, args: tuple) -> Any:
        if self.in_axes is None:
            raise UnfitError("The 'in_axes' of 'vmap' cannot be a single None while 'fn' is not a 'CellList'.")
        if _all_none(self.out_axes):
            raise UnfitError(
                f"The 'out_axes' of 'vmap' cannot be all None while 'fn' is not a 'CellList', but got {self.out_axes}."
            )
        axes = self.in_axes if isinstance(self.in_axes, (tuple, list)) else (self.in_axes,) * len(args)
        if len(axes) != len(args):
            _check_count(self.fn, len(args))
            raise ValueError(
                f"For 'vmap', 'in_axes' has {len(axes)} entries, but '{self.__name__}' was given {len(args)} arguments."
            )
        return axes

    def __ms_trace__(self, interpreter: Interpreter, args: tuple, kwargs: dict) -> Any:
        return self._trace(args, kwargs)

    def _trace(self, args: tuple, kwargs: dict) -> Any:
        axes = self._axes(args)
        size = _batch_size(args, axes)
        outer = ACTIVE.builder
        child = outer.child(self.__name__)
        batched: list[tuple[Any, Any]] = []
        origins: dict[int, tuple[Any, int]] = {}
        inner = [_example(child, a, x, batched, origins) for a, x in zip(args, axes)]
        with child.active(), child.unchecked():  # checks belong to the operations on all examples
            result = parse.call(self.fn, tuple(inner), kwargs)
            nodes = [child.node_of(t) for t in _tensors(result)]
        written = [(t, n) for t, n in child.state.values() if id(t) in origins or child.outlives(t)]
        mapped = batch_graph(outer, nodes + [node for _, node in written], batched, size, self.one_draw)
        for (target, _), (value, is_batched) in zip(written, mapped[len(nodes) :]):
            self._write(target, value, is_batched, origins, size)
        supply = iter(mapped)
        return _place(result, self.out_axes, size, lambda _: next(supply))

    def _write(
        self, target: Tensor, value: Any, is_batched: bool, origins: dict[int, tuple[Any, int]], size: int
    ) -> None:
        """What the function wrote: into its examples of an argument, or, if it is one value for all, into a Parameter."""
        outer = ACTIVE.builder
        if id(target) in origins:
            target, axis = origins[id(target)]
            value = move_axis(value if is_batched else BroadcastTo((size, *value.shape))(value), 0, axis)
        elif is_batched:
            raise RuntimeError(
                f"For 'vmap', '{self.__name__}' must not write to Parameters that all examples share; map over them too."
            )
        outer.write(target, outer.node_of(value))


def _all_none(axes: Any) -> bool:
    """Whether axes, perhaps nested, name none at all."""
    return all(map(_all_none, axes)) if isinstance(axes, (tuple, list)) else axes is None


def _check_count(fn: Any, given: int) -> None:
    """As many arguments as the function takes."""
    declared = inspect.signature(getattr(fn, "construct", fn)).parameters.values()
    wanted = [p for p in declared if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(wanted) != given and not any(p.kind is p.VAR_POSITIONAL for p in declared):
        raise TypeError(
            f"The parameters number of the function is {len(wanted)}, but the number of provided arguments is {given}."
        )


def _picked(value: Any, axis: Any, i: int) -> Any:
    """Example i of an argument, or of each of a sequence of them."""
    if axis is None:
        return value
    if isinstance(value, (tuple, list)):
        axes = axis if isinstance(axis, (tuple, list)) else (axis,) * len(value)
        return type(value)(_picked(v, x, i) for v, x in zip(value, axes))
    return value[(slice(None),) * (axis % value.ndim) + (i,)]


def _batch_size(args: tuple, axes: Any) -> int:
    sizes: list[int] = []
    for a, x in zip(args, axes):
        _collect_sizes(a, x, sizes)
    if not sizes:
        raise UnfitError(
            "Failed to get 'axis_size' within the scope of vmap. At least one argument must have an axis to map over."
        )
    for size in sizes:
        if size != sizes[0]:
            raise UnfitError(
                "The 'axis_size' of each argument in the scope of 'vmap' should be equal, "
                f"but got {sizes[0]} and {size}."
            )
    return sizes[0]


def _checked_axis(name: str, axis: Any, ndim: int) -> int:
    """An axis of in_axes or out_axes, counted from the front."""
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise UnfitError(f"The axis in vmap's '{name}' should be a None or a scalar of type Int64Imm, but got a {axis}.")
    if not -ndim <= axis < ndim:
        raise UnfitError(f"The axis: {axis} in '{name}' is out of bounds for array of dimension [{-ndim},{ndim}).")
    return axis % ndim


def _collect_sizes(arg: Any, axis: Any, sizes: list[int]) -> None:
    if axis is None:
        return
    if isinstance(arg, TensorBase):
        sizes.append(arg.shape[_checked_axis("in_axes", axis, arg.ndim)])
    elif isinstance(arg, (tuple, list)):
        each = axis if isinstance(axis, (tuple, list)) else (axis,) * len(arg)
        for a, x in zip(arg, each):
            _collect_sizes(a, x, sizes)


def _example(child: Builder, arg: Any, axis: Any, batched: list, origins: dict[int, tuple[Any, int]]) -> Any:
    """One argument for one example: a fresh graph parameter without the mapped axis; `origins` tells what it is of."""
    if axis is None:
        return arg
    if isinstance(arg, TensorBase):
        front = move_axis(arg, axis, 0)
        shape = tuple(front.shape[1:])
        parameter = child.graph.add_parameter("example", AbstractTensor(values.dtype_of(arg), shape))
        batched.append((parameter, front))
        example = values.from_node(parameter)
        origins[id(example)] = (arg, axis)
        return example
    if isinstance(arg, (tuple, list)):
        each = axis if isinstance(axis, (tuple, list)) else (axis,) * len(arg)
        return type(arg)(_example(child, a, x, batched, origins) for a, x in zip(arg, each))
    return arg


def _place(result: Any, out_axes: Any, size: int, next_value: Callable) -> Any:
    if isinstance(result, (TensorBase, values.SymbolicScalarBase)):
        value, is_batched = next_value(result)
        if isinstance(out_axes, (tuple, list)) and len(out_axes) == 1:
            out_axes = out_axes[0]
        if out_axes is None:
            if is_batched:
                raise UnfitError(
                    "It is invalid that source is not None and dst is None. For 'vmap', a result that differs between "
                    "examples needs an axis in 'out_axes'."
                )
            return value
        if not is_batched:
            value = BroadcastTo((size, *value.shape))(value)
        return move_axis(value, 0, _checked_axis("out_axes", out_axes, value.ndim))
    if isinstance(result, (tuple, list)):
        each = out_axes if isinstance(out_axes, (tuple, list)) else (out_axes,) * len(result)
        if len(each) != len(result):
            raise UnfitError(
                "The size of vmap's 'out_axes' should be equal to the number of results of 'fn': "
                f"{len(result)}, but got size: {len(each)}."
            )
        return type(result)(_place(r, x, size, next_value) for r, x in zip(result, each))
    if values.is_number(result) and out_axes is not None:  # the same for every example
        _checked_axis("out_axes", out_axes, 1)
        kind = np.float32 if isinstance(result, float) else None
        return Tensor(np.full((size,), result, kind))
    return result


def move_axis(x: Any, source: int, target: int) -> Any:
    source, target = source % x.ndim, target % x.ndim
    if source == target:
        return x
    order = [i for i in range(x.ndim) if i != source]
    order.insert(target, source)
    return Transpose()(x, tuple(order))


def vmap(fn: Any, in_axes: Any = 0, out_axes: Any = 0) -> Any:
    """A function that maps `fn` over an axis of its arguments.

    Examples:
        >>> import mindspore as ms
        >>> ms.vmap(lambda x, y: x + y, (0, None))(ms.Tensor([1.0, 2.0]), ms.Tensor(10.0)).asnumpy().tolist()
        [11.0, 12.0]
    """
    if isinstance(fn, (tuple, list)) or type(fn).__name__ == "CellList":
        return _EnsembleMap(list(fn), in_axes, out_axes)
    if not callable(fn):
        raise TypeError(f"For 'vmap', 'fn' must be a function or Cell, but got {type(fn).__name__}.")
    for name, axes in (("in_axes", in_axes), ("out_axes", out_axes)):
        if not isinstance(axes, (int, tuple, list, type(None))) or isinstance(axes, bool):
            raise TypeError(f"For 'vmap', '{name}' must be an int, None, a tuple or a list, but got {axes!r}.")
    return Vectorized(fn, in_axes, out_axes)


class _EnsembleMap:
    """vmap over several models of one structure: each sees its own slice of the mapped arguments."""

    def __init__(self, cells: list, in_axes: Any, out_axes: Any):
        self.cells, self.in_axes, self.out_axes = cells, in_axes, out_axes

    def __call__(self, *args: Any) -> Any:
        axes = self.in_axes if isinstance(self.in_axes, (tuple, list)) else (self.in_axes,) * len(args)
        self._check(args, axes)
        outs = []
        for i, cell in enumerate(self.cells):
            one = [a if x is None else move_axis(a, x, 0)[i] for a, x in zip(args, axes)]
            outs.append(parse.call(cell, tuple(one)) if ACTIVE.builder is not None else cell(*one))
        return _stack_results(outs, self.out_axes)

    def _check(self, args: tuple, axes: Any) -> None:
        """Several models of one signature, and an example for each."""
        if len(self.cells) < 2:
            raise UnfitError(
                "In the model ensembling parallel training scenario ('VmapOperation' arg0 is a 'CellList'), "
                f"the size of 'CellList' must be greater than 1, but got {len(self.cells)}."
            )
        taken = {len(inspect.signature(getattr(cell, "construct", cell)).parameters) for cell in self.cells}
        if len(taken) > 1:
            raise UnfitError("'VmapOperation' arg0 is a CellList, whose elements's inputs should be consistent.")
        size = len(self.cells) if _all_none(axes) else _batch_size(args, axes)
        if size != len(self.cells):
            raise UnfitError(
                "If you want to execute the model ensembling parallel training, please make sure the 'axis_size' in the "
                "scope of vmap consistent with the cell size of the input 'CellList', otherwise, please do not enter "
                f"'CellList' as the first argument, but we get axis_size: {size} and the cell size: {len(self.cells)}."
            )


def _stack_results(outs: list, axis: int) -> Any:
    if isinstance(outs[0], (tuple, list)):
        return type(outs[0])(_stack_results([o[k] for o in outs], axis) for k in range(len(outs[0])))
    return Stack(axis)(outs)


# -- Jacobians ----------------------------------------------------------------------------------------------------------
class Jacobian:
    """Rows (reverse mode) or columns (forward mode) of the Jacobian, all at once by vmap over the unit vectors."""

    def __init__(self, fn: Any, positions: Any, has_aux: bool, forward: bool):
        self.fn, self.positions, self.has_aux, self.forward = fn, positions, has_aux, forward
        self.__name__ = getattr(fn, "__name__", type(fn).__name__)
        self._compiled = CompiledFunction(self, f"jacobian_{self.__name__}")
        self._compiling = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if ACTIVE.builder is not None or self._compiling:  # the latter: it needs values, and runs as plain Python
            return self._trace(args)
        self._compiling = True
        try:
            return self._compiled(*args, **kwargs)
        finally:
            self._compiling = False

    def __ms_trace__(self, interpreter: Interpreter, args: tuple, kwargs: dict) -> Any:
        return self._trace(args)

    def _trace(self, args: tuple) -> Any:
        single = not isinstance(self.positions, (tuple, list))
        places = [p % len(args) for p in ([self.positions] if single else self.positions)]
        out = _called(self.fn, args)
        primary = out[0] if self.has_aux else out
        per_input = [self._columns(args, p, primary) if self.forward else self._rows(args, p, primary) for p in places]
        result = per_input[0] if single else _regroup(per_input, primary)
        if self.has_aux:
            return result, (tuple(out[1:]) if len(out) > 2 else out[1])
        return result

    def _rows(self, args: tuple, place: int, primary: Any) -> Any:
        outputs = _tensors(primary)
        back = Derivative(self.fn, place, sens=True, has_aux=self.has_aux)
        blocks = []
        for k, out in enumerate(outputs):

            def row(seed: Tensor, k: int = k) -> Any:
                sens = [Tensor(np.zeros(o.shape, values.dtype_of(o).np)) for o in outputs]
                sens[k] = seed
                grads = back(*args, tuple(sens) if isinstance(primary, (tuple, list)) else sens[0])
                return grads[0] if self.has_aux else grads

            row.__module__ = "mindspore.common.vectorize"
            stacked = Vectorized(row, 0, 0, one_draw=True)(unit_vectors(out))
            blocks.append(Reshape()(stacked, (*out.shape, *args[place].shape)))
        return type(primary)(blocks) if isinstance(primary, (tuple, list)) else blocks[0]

    def _columns(self, args: tuple, place: int, primary: Any) -> Any:
        x = args[place]

        def column(direction: Tensor) -> Any:
            def along(v: Tensor) -> Any:
                out = _called(self.fn, (*args[:place], v, *args[place + 1 :]))
                return out[0] if self.has_aux else out

            along.__module__ = "mindspore.common.vectorize"
            return jvp(along, x, direction)[1]

        column.__module__ = "mindspore.common.vectorize"
        stacked = Vectorized(column, 0, -1, one_draw=True)(unit_vectors(x))
        if isinstance(primary, (tuple, list)):
            return type(primary)(Reshape()(s, (*o.shape, *x.shape)) for s, o in zip(stacked, primary))
        return Reshape()(stacked, (*primary.shape, *x.shape))


def _called(fn: Any, args: tuple) -> Any:
    """Call a function of the user's: in a graph it is interpreted."""
    return parse.call(fn, args) if ACTIVE.builder is not None else fn(*args)


def unit_vectors(x: Tensor) -> Any:
    """All unit vectors of x's shape, stacked."""
    n = x.size
    return Tensor(np.eye(n, dtype=values.dtype_of(x).np).reshape(n, *x.shape))


def _regroup(per_input: list, primary: Any) -> Any:
    """Several outputs: for each output a tuple over inputs; one output: a tuple over inputs."""
    if isinstance(primary, (tuple, list)):
        return tuple(tuple(block[k] for block in per_input) for k in range(len(primary)))
    return tuple(per_input)


def jacrev(fn: Callable, grad_position: Any = 0, has_aux: bool = False) -> Jacobian:
    """The Jacobian of `fn` by reverse mode: good for few outputs.

    Examples:
        >>> import mindspore as ms
        >>> ms.jacrev(lambda x: x * x)(ms.Tensor([1.0, 2.0])).asnumpy().tolist()
        [[2.0, 0.0], [0.0, 4.0]]
    """
    return Jacobian(fn, grad_position, has_aux, forward=False)


def jacfwd(fn: Any, grad_position: Any = 0, has_aux: bool = False) -> Jacobian:
    """The Jacobian of `fn` by forward mode: good for few inputs.

    Examples:
        >>> jacobian = ops.jacfwd(lambda x: x**2)(Tensor([1.0, 2.0, 3.0]))
        >>> print(jacobian)
        [[2. 0. 0.]
         [0. 4. 0.]
         [0. 0. 6.]]
    """
    return Jacobian(fn, grad_position, has_aux, forward=True)
