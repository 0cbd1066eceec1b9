"""Operations written by users: Python functions, hybrid kernels and functions of shared libraries.

Such an operation is opaque to graphs: it runs on the host with NumPy arrays, also inside compiled graphs, where XLA calls back. Hybrid
kernels are compiled themselves (`hybrid.py`), on a GPU as parts of XLA's program.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.keys import ByIdentity, exact
from mindspore._base.optional import require
from mindspore.common.tensor import Tensor
from mindspore.ir import Abstract, AbstractTensor, AbstractTuple
from mindspore.ops._hybrid_names import INTRINSICS
from mindspore.ops.custom_library import LibraryFunction, library_function
from mindspore.ops.hybrid import Hybrid
from mindspore.prims import checks, values
from mindspore.prims.pallas import on_cuda
from mindspore.prims.primitive import Primitive


class HostCall(Primitive):
    """`prim(*tensors)`: a NumPy function with known results (a tuple of abstract tensors, or one)."""

    effect = "io"

    def __init__(self, name: str, function: Callable, results: Callable, gradient: Callable | None = None):
        super().__init__(name)
        self.function, self.results = function, results
        self.gradient: Any = gradient
        if gradient is None:
            self.bprop = None  # type: ignore[method-assign, assignment]

    def key(self) -> tuple:
        return (type(self), ByIdentity(self))

    def infer(self, *args: Any) -> Any:
        return self.results(*args)

    def eval(self, xp: Any, *args: Any) -> Any:
        abstract = self.results(*(_abstract(a) for a in args))
        out = self.function(*(np.array(a) if hasattr(a, "dtype") else a for a in args))
        if isinstance(abstract, AbstractTuple):
            out = out if isinstance(out, (tuple, list)) else (out,)
            return tuple(_checked(self.name, o, a) for o, a in zip(out, abstract.elements))
        return _checked(self.name, out[0] if isinstance(out, (tuple, list)) else out, abstract)

    def eval_xla(self, xp: Any, *args: Any) -> Any:
        jax = require("jax", "xla", "this operation")
        abstract = self.results(*(_abstract(a) for a in args))
        elements = abstract.elements if isinstance(abstract, AbstractTuple) else (abstract,)
        shapes = tuple(jax.ShapeDtypeStruct(a.shape, a.dtype.np) for a in elements)

        def run(*arrays: Any) -> Any:
            out = self.eval(np, *map(np.asarray, arrays))
            return out if isinstance(out, tuple) else (out,)

        out = jax.pure_callback(run, shapes, *args)
        return out if isinstance(abstract, AbstractTuple) else out[0]

    def bprop(self, *args: Any) -> Any:
        *inputs, out, dout = args
        grads = self.gradient(*inputs, out, dout)
        return grads if isinstance(grads, tuple) else (grads,)


def _abstract(value: Any) -> Any:
    if isinstance(value, Abstract) or not hasattr(value, "dtype"):
        return value
    return AbstractTensor(mstype.from_numpy(value.dtype), tuple(value.shape))


def _checked(op: str, value: object, abstract: Abstract) -> np.ndarray:
    if isinstance(value, Tensor):
        value = value.asnumpy()
    array = np.asarray(value)
    if array.shape != abstract.shape:
        raise ValueError(f"'{op}' declared a result of shape {abstract.shape}, but its function gave {array.shape}.")
    return array.astype(abstract.dtype.np, copy=False)


class KernelCall(HostCall):
    """A hybrid kernel, which never writes to its arguments, so that they need no copies.

    `for_device` gives the function of JAX's arrays that a GPU runs, or None; results that were declared are compared on the host.
    """

    def __init__(
        self, name: str, function: Callable, results: Callable, gradient: Callable | None, for_device: Callable,
        fill: Callable | None = None,
    ):  # fmt: skip
        super().__init__(name, function, results, gradient)
        self.for_device = for_device
        if fill is not None:
            self.fill = fill

    def eval_xla(self, xp: Any, *args: Any) -> Any:
        run = self.for_device(args) if on_cuda() else None
        if run is None:
            return super().eval_xla(xp, *args)
        out = run(*args)
        return out if isinstance(self.results(*map(_abstract, args)), AbstractTuple) else out[0]

    def eval(self, xp: Any, *args: Any) -> Any:
        abstract = self.results(*(_abstract(a) for a in args))
        out = self.function(*map(np.asarray, args))
        if isinstance(abstract, AbstractTuple):
            return tuple(_checked(self.name, o, a) for o, a in zip(out, abstract.elements))
        return _checked(self.name, out[0] if isinstance(out, (tuple, list)) else out, abstract)


class PyFunc(Primitive):
    """A Python function of NumPy arrays as an operation: `PyFunc(fn, in_types, in_shapes, out_types, out_shapes)`.

    Examples:
        >>> add = ops.PyFunc(lambda x: x + 1, [ms.float32], [(2,)], [ms.float32], [(2,)])
        >>> print(add(Tensor([1.0, 2.0]))[0])
        [2. 3.]
    """

    def __init__(
        self, fn: Callable, in_types: Any, in_shapes: Any, out_types: Any, out_shapes: Any, stateful: bool = True
    ):
        super().__init__("PyFunc")
        results = AbstractTuple(
            tuple(AbstractTensor(mstype.to_dtype(t), tuple(s)) for t, s in zip(out_types, out_shapes))
        )
        self._call = HostCall("PyFunc", fn, lambda *args: results)

    def __call__(self, *args: Any) -> Any:
        return self._call(*(args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args))


class Custom(Primitive):
    """An operation of the user's own.

    Args:
        func: for 'pyfunc' and 'hybrid' a Python function on arrays; for 'aot' "library.so:function", or "source.cc:function", which
            is compiled (`ops/custom_library.py` has the function's form).
        out_shape, out_dtype: the results': values, or functions of the inputs' shapes and types; inferred for
            'hybrid' when not given.
        func_type: 'pyfunc', 'hybrid' (also 'akg') or 'aot'. Kernels marked by `ops.kernel` are always hybrid: loops over elements,
            compiled to machine code for the shapes they meet, with indices proven or checked.
        bprop: gradient function (inputs…, out, dout) -> gradients. Hybrid kernels have one of their own, if the iterations of their
            loops do not depend on one another except by sums and extremes.

    Examples:
        >>> import mindspore as ms, numpy as np
        >>> twice = ms.ops.Custom(lambda x: x * 2, lambda x: x, lambda x: x, func_type="pyfunc")
        >>> twice(ms.Tensor([1.0, 2.0])).tolist()
        [2.0, 4.0]
    """

    def __init__(
        self, func: Any, out_shape: Any = None, out_dtype: Any = None, func_type: str = "pyfunc", bprop: Any = None,
        reg_info: Any = None,
    ):  # fmt: skip
        super().__init__("Custom")
        checks.one_of("Custom", "func_type", func_type, ("pyfunc", "hybrid", "akg", "aot"))
        if func_type == "akg" or getattr(func, "__ms_hybrid__", False):
            func_type = "hybrid"
        self.func, self.func_type, self.out_shape, self.out_dtype = func, func_type, out_shape, out_dtype
        run: Any = func
        if func_type == "aot":
            run = self._library = library_function(func, out_shape, _target(reg_info))
            self._declared = _record(reg_info)
        if func_type != "aot" and not callable(func):
            raise TypeError(f"For 'Custom', 'func' must be a function for func_type {func_type!r}, but got {func!r}.")
        if func_type == "hybrid":
            self._call: HostCall = self._kernel(Hybrid(func), bprop)
            return
        if func_type == "aot":
            self._calls: dict[Any, HostCall] = {}  # by attributes
            self._bprop = bprop
            return
        self._call = HostCall("Custom", run, self._results, bprop)

    def __call__(self, *args: Any) -> Any:
        if self.func_type == "aot":
            args, attributes = self._divided(args)
            return self._library_call(attributes)(*args)
        return self._call(*args)

    def _divided(self, args: tuple) -> tuple[tuple, dict[str, Any]]:
        """Arguments that are inputs, and all attributes: those that the record gives no value for come behind the inputs."""
        attributes, inputs, records = dict(self.attrs), self._declared.get("inputs"), self._declared.get("attr", [])
        attributes |= {record["name"]: record["value"] for record in records if record.get("value") is not None}
        open_ones = [record["name"] for record in records if record.get("value") is None]
        count = len(inputs) if inputs else len(args) - len(open_ones)
        given = dict(zip(open_ones, args[count:]))
        for name, value in given.items():
            if values.is_symbolic(value):
                raise TypeError(f"For 'Custom', the attribute {name!r} must be a constant, but got a value that only the graph knows.")
            given[name] = value.asnumpy().tolist() if isinstance(value, Tensor) else value
        return args[:count], attributes | given

    def _library_call(self, attributes: dict[str, Any]) -> HostCall:
        key = exact(attributes)
        if key not in self._calls:
            library = self._library.with_attributes(attributes)
            results = functools.partial(self._results, library=library)
            self._calls[key] = HostCall("Custom", self._with_outputs(library, results), results, self._bprop)
        return self._calls[key]

    def _kernel(self, hybrid: Hybrid, bprop: Callable | None) -> HostCall:
        """The call of a kernel; without a `bprop`, its gradient is another kernel."""

        def own_gradient(*args: Any) -> Any:
            *inputs, _, dout = args
            given = dout if isinstance(dout, tuple) else (dout,)
            count = len(inputs)
            call = KernelCall(
                "CustomGrad",
                lambda *arrays: hybrid.gradient_of(count, *arrays),
                lambda *found: AbstractTuple(tuple(found[:count])),
                None,
                lambda arrays: hybrid.gradient_for_device(count, arrays),
            )
            return call(*inputs, *given)

        if self.out_shape is not None and self.out_dtype is not None:  # results are compared with these
            return KernelCall("Custom", hybrid, self._results, bprop or own_gradient, lambda arrays: None)
        return KernelCall("Custom", hybrid, hybrid.results, bprop or own_gradient, hybrid.for_device, hybrid.fill)

    def _results(self, *args: Any, library: LibraryFunction | None = None) -> Any:
        """What comes out, from the declared shapes and types or, failing that, from the library or by a trial run on zeros."""
        if library is None and (self.out_shape is None or self.out_dtype is None):
            return self._trial(*args)
        shapes = [list(a.shape) for a in args]
        dtypes = [a.dtype for a in args]
        shape = self.out_shape(*shapes) if callable(self.out_shape) else self.out_shape
        if library is not None and (shape is None or self.out_dtype is None):
            shape = library.shape([tuple(a.shape) for a in args], [a.dtype.np.name for a in args])
            if self.out_dtype is None:
                raise TypeError("For 'Custom', func_type 'aot' needs 'out_dtype': a type, or a function of the inputs' types.")
        declares = callable(self.out_dtype) and not isinstance(self.out_dtype, mstype.DType)
        dtype = self.out_dtype(*dtypes) if declares else self.out_dtype
        if isinstance(dtype, (tuple, list)):
            shapes = [shape] if self.out_shape is None else shape
            return AbstractTuple(tuple(AbstractTensor(mstype.to_dtype(d), tuple(s)) for s, d in zip(shapes, dtype)))
        return AbstractTensor(mstype.to_dtype(dtype), tuple(shape))

    def _trial(self, *args: Any) -> Any:
        out = self.func(*(np.zeros(a.shape, a.dtype.np) for a in args))
        if isinstance(out, (tuple, list)):
            return AbstractTuple(tuple(_abstract(np.asarray(o)) for o in out))
        return _abstract(np.asarray(out))

    @staticmethod
    def _with_outputs(run: Callable, results: Callable) -> Callable:
        """A library function fills arrays that it is given."""

        def call(*arrays: np.ndarray) -> Any:
            abstract = results(*map(_abstract, arrays))
            elements = abstract.elements if isinstance(abstract, AbstractTuple) else (abstract,)
            outputs = [np.empty(a.shape, a.dtype.np) for a in elements]
            run([*arrays, *outputs])
            return tuple(outputs) if isinstance(abstract, AbstractTuple) else outputs[0]

        return call


def _target(reg_info: Any) -> str:
    """The device that registration records name."""
    return next((r["target"] for r in _records(reg_info) if r.get("target")), "CPU")


def _record(reg_info: Any) -> dict:
    """The first registration record."""
    return next(iter(_records(reg_info)), {})


def _records(reg_info: Any) -> list[dict]:
    records = reg_info if isinstance(reg_info, (list, tuple)) else [reg_info]
    return [r for r in (json.loads(r) if isinstance(r, str) else r for r in records) if isinstance(r, dict)]


# -- hybrid kernels ---------------------------------------------------------------------------------------------------
def kernel(fn: Callable | None = None, reg_info: Any = None, compile_attrs: Any = None) -> Callable:
    """Mark a hybrid kernel: plain Python over array elements, with `output_tensor`, `allocate`, `grid` … known in it.

    Examples:
        >>> @ops.kernel
        ... def plus(a, b):
        ...     c = output_tensor(a.shape, a.dtype)
        ...     for i in range(a.shape[0]):
        ...         c[i] = a[i] + b[i]
        ...     return c
        >>> print(ops.Custom(plus)(Tensor([1.0, 2.0]), Tensor([10.0, 20.0])))
        [11. 22.]
    """
    if fn is None:
        return lambda f: kernel(f, reg_info, compile_attrs)
    for name, value in INTRINSICS.items():
        fn.__globals__.setdefault(name, value)
    fn.__ms_hybrid__ = True  # type: ignore[attr-defined]
    return fn


ms_kernel = kernel


def custom_info_register(*reg_info: Any) -> Callable:
    """Attach registration records to a custom function; they matter to other devices only.

    Examples:
        >>> @ops.custom_info_register()
        ... def square(x):
        ...     return x * x
        >>> square(3)
        9
    """

    def decorate(fn: Callable) -> Callable:
        fn.reg_info = reg_info  # type: ignore[attr-defined]
        return fn

    return decorate


__all__ = ["Custom", "HostCall", "PyFunc", "custom_info_register", "kernel", "ms_kernel"]
