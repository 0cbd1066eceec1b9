"""The Primitive: one operation, with all its rules in one class.

A subclass states, side by side:

- `infer(*args)`: checks the arguments and returns the abstract result. Tensors arrive as `AbstractTensor` (or
  `AbstractScalar`), everything else (axes, shapes, dtypes, None) as the plain Python value.
- `eval(xp, *args)`: computes the result on arrays. `xp` is `numpy` (eager CPU kernel, constant folder, oracle) or
  `jax.numpy` (XLA lowering). Where the two must differ, `eval_xla(jnp, *args)` is the second rule.
- `bprop(*args, out, dout)`: returns one gradient per argument (None: not differentiable), written with primitives and
  tensor operators, so that gradients of gradients come for free.
- `requirements(*args)`: optional; what the values of arguments must satisfy (prims/requirements.py).
- `failure()`: optional; the error to raise when finite arguments give a result that is not finite. NumPy's own rule raises it.
- `factors(*args)`: optional; which dimensions run together (prims/factors.py), for sharding and counts of work.
- `multiplications(*args)`: optional; how many, of an operation that sums up products.
- `on_device(device, *args)`: optional; the operation on a device's parts of its arguments, where it is not simply the
  operation itself (compiler/shard/device.py says what `device` knows). Written with primitives, like `bprop`.
- `vmap(size, *args)`: optional; the operation on so many examples at once. Each argument is `Batched`; the result has the
  examples along its first axis. None: not for such arguments (see compiler/autodiff/vmap.py; prims/batching.py has what rules share).

Calling an instance goes through `dispatch`, which either runs it now or adds a node to the graph being built.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base import keys
from mindspore.ir import Abstract
from mindspore.prims import checks, explain, factors, values
from mindspore.prims.active import ACTIVE
from mindspore.prims.argument_names import positional
from mindspore.prims.factors import Factors
from mindspore.prims.strategy_form import check_form

if TYPE_CHECKING:
    from mindspore.prims.array_types import Namespace

#: an argument of a `vmap` rule: a value (or a tuple of values), and whether the examples run along its first axis
Batched = tuple[Any, bool]


#: carries a call out: of this primitive, with these arguments
Carrier = Callable[["Primitive", tuple], Any]
#: makes of what carries calls out otherwise something that does so with more
Layer = Callable[[Carrier], Carrier]


class _Dispatch:
    """How a primitive call is carried out. Without a runtime, which sets it once, calls can only build graphs."""

    call: Carrier = staticmethod(lambda prim, args: _build(prim, args))
    base: Carrier = call  # below all layers
    #: converts a value to an element type: the primitive `Cast`, by which arguments of primitives are converted
    cast: Callable[[Any, mstype.DType], Any]
    layers: ClassVar[dict[Layer, _Interposed]] = {}
    layered: bool = False  # operators of plain tensors must not go past the layers
    observed: bool = False  # somebody looks at the result of every call: it must be there when the call returns


class _Interposed(NamedTuple):
    times: int
    observes: bool


_LAYERING = threading.RLock()


def _build(prim: Primitive, args: tuple) -> Any:
    if ACTIVE.builder is None:
        raise RuntimeError(f"no runtime is installed to execute {prim.name}; import mindspore, not its inner modules")
    return ACTIVE.builder.apply(prim, prim.prepare(args))


def set_dispatch(call: Carrier) -> None:
    """Have calls carried out so, below all layers."""
    _Dispatch.base = staticmethod(call)
    _settle()


def interpose(layer: Layer, observes: bool) -> None:
    """Put a layer before all others, until it has been withdrawn as often. `observes`: it looks at results."""
    with _LAYERING:
        times = _Dispatch.layers[layer].times if layer in _Dispatch.layers else 0
        _Dispatch.layers = {**_Dispatch.layers, layer: _Interposed(times + 1, observes)}
        _settle()


def withdraw(layer: Layer) -> None:
    """Take back one `interpose`, wherever the layer stands by now."""
    with _LAYERING:
        left = _Dispatch.layers[layer].times - 1
        others = {other: state for other, state in _Dispatch.layers.items() if other != layer or left}
        _Dispatch.layers = others if not left else {**others, layer: _Dispatch.layers[layer]._replace(times=left)}
        _settle()


def is_interposed(layer: Layer) -> bool:
    return layer in _Dispatch.layers


def _settle() -> None:
    call = _Dispatch.base
    for layer in _Dispatch.layers:
        call = layer(call)
    _Dispatch.call = staticmethod(call)
    _Dispatch.layered = bool(_Dispatch.layers)
    _Dispatch.observed = any(state.observes for state in _Dispatch.layers.values())


def set_cast(cast: Callable[[Any, mstype.DType], Any]) -> None:
    _Dispatch.cast = staticmethod(cast)


#: `native_from` of what goes over elements one by one, and of what combines rows of them
POINTS, ROWS = 32768, 4096


class Primitive:
    """An operation with fixed attributes. Subclass it, or subclass `PrimitiveWithInfer`, to add your own.

    Examples:
        >>> class Halve(ops.Primitive):
        ...     def __call__(self, x):
        ...         return x / 2
        >>> print(Halve()(Tensor([4.0])))
        [2.]
    """

    #: registry key; defaults to the class name
    name: str
    #: how implicit type conversion treats the arguments: "" (none), "all" (common type), or indices of those that share one
    promote: ClassVar[str | tuple[int, ...]] = ""
    #: "" for pure operations; "io" and "random" are never folded, merged or dropped
    effect: ClassVar[str] = ""
    #: most of its time it waits for others: compilers begin it early and ask for its result late
    awaited: ClassVar[bool] = False
    #: (argument index, output index) pairs: outputs that become the new value of a Parameter argument
    writes: ClassVar[tuple[tuple[int, int], ...]] = ()
    #: arguments that kernels of accelerators find by place: their memory is in the order of their indices
    in_index_order: ClassVar[tuple[int, ...]] = ()
    #: `fill(arguments, {number: place})` evaluates on NumPy arrays, writing results in place; None if there is no such form
    fill: Any = None
    #: eager mode skips `infer` (the kernel's own checks suffice and it is called for tiny tensors)
    light: ClassVar[bool] = False
    #: kinds of element types (letters as in NumPy) that a light primitive may be given without `infer`
    kinds: ClassVar[str] = "buifc"
    #: the first argument is a sequence of tensors that becomes separate node arguments
    variadic: ClassVar[bool] = False
    #: broadcasting element by element: batching and fusion need to know nothing else
    elementwise: ClassVar[bool] = False
    #: the result is about the numbers themselves: an int beyond the tensor's type does not wrap round
    compares: ClassVar[bool] = False
    #: arguments whose 16-bit floats it widens itself, so that casts before it can go; for 0, the first result has its type
    absorbs_casts: ClassVar[tuple[int, ...]] = ()
    #: number of an optional last argument that is added to the first result; -1: none
    absorbs_sum: ClassVar[int] = -1
    #: f(x + y) = f(x) + f(y) in all arguments at once: a sum over devices may be taken after the operation
    linear: ClassVar[bool] = False
    #: it moves or names elements and computes nothing
    moves: ClassVar[bool] = False
    #: its result is random: numbers made of a key, which examples of a batch (`vmap`) do not share
    draws: ClassVar[bool] = False
    #: halves are widened, computed with in float32, and the result is rounded once
    in_float32: ClassVar[bool] = False
    #: elements of the first argument from which PyNative mode has it compiled for the CPU, NumPy being slower (0: never)
    native_from: ClassVar[int] = 0
    #: and the number of multiplications beyond which this pays
    native_beyond: ClassVar[int] = 0
    #: as `native_from`, for the gradient rule of an operation that itself stays on NumPy
    native_gradient_from: ClassVar[int] = 0
    #: arguments that are likely to differ from call to call: with one given as a Python number it stays on NumPy, since
    #: native code is made for the numbers it is given
    varying: ClassVar[tuple[int, ...]] = ()

    #: NaN and infinities in an argument (in all of them, or in those numbered) make some of the first result not finite
    spreads: ClassVar[bool | tuple[int, ...]] = False
    #: finite arguments give finite results
    keeps_finite: ClassVar[bool] = False
    #: a non-linearity of networks, whose range watchpoints look at
    activation: ClassVar[bool] = False

    if TYPE_CHECKING:  # attributes given to the constructor

        def __getattr__(self, name: str) -> Any: ...

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        if ACTIVE.builder is not None:
            _require_known(cls.__name__, (*args, *kwargs.values()))
        return super().__new__(cls)

    def __init__(self, name: str = "", **attrs: Any):
        self.name = name or type(self).__name__
        self.attrs = attrs
        self.__dict__.update(attrs)

    # -- rules, overridden by subclasses --------------------------------------------------------------------------
    def infer(self, *args: Any) -> Any:
        raise NotImplementedError(
            f"Operator '{self.name}' is invalid: it is no operation of this library and has no infer rule."
        )

    def eval(self, xp: Namespace, *args: Any) -> Any:
        raise NotImplementedError(f"primitive {self.name} has no evaluation rule")

    def factors(self, *args: Any) -> Factors | None:
        """The index rule of the operation on these arguments; None: unknown, it is not cut over devices."""
        return factors.elementwise(args, self.linear) if self.elementwise else None

    def strategy_problem(self, *args: Any) -> str | None:
        """What is wrong with this operation's strategy and attributes about cutting, beyond its index rule; None: nothing."""
        return None

    def multiplications(self, *args: Any) -> int:
        """The products of numbers that it sums up, for arguments of these shapes; 0: it is not made of products."""
        return 0

    def flops(self, *args: Any) -> float:
        """Its floating-point operations, two per product and sum; 0: one for each element."""
        return 2.0 * self.multiplications(*args)

    bprop: Any = None
    vmap: Any = None
    on_device: Any = None
    requirements: Any = None
    failure: Any = None
    eval_xla: Any = None

    def enforce(self, xp: Namespace, *args: Any) -> None:
        """For evaluation rules: raise unless the values of the arguments, if they are there to be seen, are allowed."""
        if xp is np:
            for requirement in self.requirements(*args):
                requirement.enforce(args[requirement.argument])

    # -- application ----------------------------------------------------------------------------------------------
    def __call__(self, *args: Any, **named: Any) -> Any:
        if named:
            args = positional(self, args, named)
        try:
            return _Dispatch.call(self, args)
        except explain.UNFORESEEN as error:
            better = explain.explained(self, args, error)
            if ACTIVE.builder is None:
                explain.point_to_user(better or error)
            if better is None:
                raise
            raise better from error

    def prepare(self, args: tuple) -> tuple:
        """Normalise arguments before inference: sequence spreading and implicit type conversion."""
        if self.variadic and len(args) == 1 and isinstance(args[0], (tuple, list)):
            args = tuple(args[0])
        if self.promote:
            args = promote_arguments(self.name, args, self.promote, self.compares)
        return args

    # -- identity -------------------------------------------------------------------------------------------------
    def key(self) -> tuple:
        """Equal for primitives that compute the same; used to merge equal nodes and as a cache key."""
        return (type(self), self.name, *((k, keys.exact(v)) for k, v in self.attrs.items()))

    def cached_key(self) -> tuple:
        """`key()`, remembered until an attribute is set."""
        known = self.__dict__.get("_cached_key")
        if known is None or known[0] is not self.attrs:
            known = self.__dict__["_cached_key"] = (self.attrs, self.key())
        return known[1]

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}={v!r}" for k, v in self.attrs.items())
        return f"Prim[{self.name}]<{shown}>" if shown else f"Prim[{self.name}]"

    # -- attributes users set -------------------------------------------------------------------------------------
    def add_prim_attr(self, name: str, value: Any) -> Primitive:
        """Attach an attribute; it is shown in IR dumps and kept in exported models.

        Examples:
            >>> from mindspore import ops
            >>> ops.Add().add_prim_attr('note', 3).note
            3
        """
        self.attrs = {**self.attrs, name: value}
        self.__dict__[name] = value
        return self

    def del_prim_attr(self, name: str) -> Primitive:
        self.attrs = {k: v for k, v in self.attrs.items() if k != name}
        self.__dict__.pop(name, None)
        return self

    set_prim_attr = add_prim_attr

    def init_prim_io_names(self, inputs: list[str], outputs: list[str]) -> None:
        """Name the inputs and outputs."""
        self.add_prim_attr("input_names", list(inputs))
        self.add_prim_attr("output_names", list(outputs))

    def set_device(self, device_target: str) -> Primitive:
        return self.add_prim_attr("primitive_target", device_target)

    def shard(self, in_strategy: Any = None, out_strategy: Any = None) -> Primitive:
        """Cut the inputs over devices: one tuple of cuts per input.

        Examples:
            >>> from mindspore import ops
            >>> ops.Add().shard(((2, 1), (2, 1))).in_strategy
            ((2, 1), (2, 1))
        """
        check_form(self.name, in_strategy, out_strategy)
        if in_strategy is not None:
            self.add_prim_attr("in_strategy", in_strategy)
        if out_strategy is not None:
            self.add_prim_attr("out_strategy", out_strategy)
        return self

    def set_strategy(self, *strategies: Any) -> Primitive:
        """`shard`, also with the cuts of each input as an argument: `set_strategy([4, 1], [1, 1])`.

        Examples:
            >>> from mindspore import ops
            >>> ops.MatMul().set_strategy([4, 1], [1, 1]).in_strategy
            ((4, 1), (1, 1))
        """
        if strategies and all(isinstance(s, (tuple, list)) and all(type(n) is int for n in s) for s in strategies):
            return self.shard(tuple(tuple(s) for s in strategies))
        return self.shard(*strategies)

    def own_attrs(self) -> dict[str, Any]:
        """The attributes of the operation itself: not how this application of it is cut over devices."""
        return {k: v for k, v in self.attrs.items() if k not in ("in_strategy", "out_strategy")}

    def recompute(self, mode: bool = True) -> Primitive:
        """Recompute the result in the backward pass instead of keeping it.

        Examples:
            >>> from mindspore import ops
            >>> ops.Add().recompute().attrs['recompute']
            True
        """
        return self.add_prim_attr("recompute", bool(mode))

    def set_stage(self, stage: int) -> Primitive:
        return self.add_prim_attr("stage", stage)

    def place(self, role: str, rank_id: int) -> Primitive:
        return self.add_prim_attr("place", (role, rank_id))

    def clone(self) -> Primitive:
        copy = type(self).__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy.attrs = dict(self.attrs)
        return copy

    def set_prim_instance_name(self, instance_name: str) -> Primitive:
        self.instance_name = instance_name
        return self

    @property
    def update_parameter(self) -> bool:
        return bool(self.writes)


def _require_known(name: str, settings: tuple) -> None:
    """Settings of an operation are part of the graph, so they must be known while it is built."""
    for value in settings:
        if isinstance(value, (tuple, list)):
            _require_known(name, tuple(value))
        elif isinstance(value, values.SymbolicScalarBase):
            raise values.SizeUnknownError(
                f"For '{name}', a setting of the operation is only known when the compiled graph runs. Give it as a constant or "
                "run in PYNATIVE_MODE."
            )


def promote_arguments(name: str, args: tuple, which: str | tuple[int, ...], compares: bool = False) -> tuple:
    """Bring tensor and number arguments to one element type, casting tensors and turning numbers into constants.

    Numbers bend to the tensors beside them; among numbers alone the wider type wins.
    """
    if len(args) == 2:
        a, b = args
        if isinstance(a, values.TensorBase) and isinstance(b, values.TensorBase) and _are_alike(a, b):
            return args
    chosen = range(len(args)) if isinstance(which, str) else which  # the only word is "all"
    common = None
    numbers: list[Any] = []
    for i in chosen:
        arg = args[i]
        if isinstance(arg, values.TensorBase):
            dtype = values.dtype_of(arg)
            common = dtype if common is None else mstype.promote(common, dtype)
        elif isinstance(arg, values.SymbolicScalarBase) or values.is_number(arg):
            numbers.append(arg)
        else:
            raise TypeError(f"For '{name}', argument {i + 1} must be a Tensor or a number, but got {checks.describe(arg)}.")
    if common is None:
        common = _common_number_dtype(numbers)
    else:
        for number in numbers:
            symbolic = isinstance(number, values.SymbolicScalarBase)
            sample = values.scalar_sample(values.dtype_of(number)) if symbolic else number
            number = sample.item() if hasattr(sample, "item") else sample
            common = mstype.promote_scalar(common, number)
            if compares and common.kind in "iu" and isinstance(number, int) and not values.fits(number, common):
                common = mstype.int64  # arithmetic wraps round, but a comparison is about the number itself
    return tuple(_as_dtype(a, common) if i in chosen else a for i, a in enumerate(args))


def _are_alike(a: values.TensorBase, b: values.TensorBase) -> bool:
    """Whether two tensors are concrete and of one type: the common case, told cheaply."""
    return a._node is None and b._node is None and a._data.dtype is b._data.dtype


def _common_number_dtype(numbers: list[Any]) -> mstype.DType:
    """The type numbers take among themselves: Python's own among symbolic scalars, tensor defaults otherwise."""
    symbolic = any(isinstance(n, values.SymbolicScalarBase) for n in numbers)
    common = None
    for n in numbers:
        if isinstance(n, values.SymbolicScalarBase):
            dtype = values.dtype_of(n)
        else:
            dtype = values.scalar_dtype(n) if symbolic else values.default_dtype(n)
        common = dtype if common is None else mstype.promote(common, dtype)
    return common  # type: ignore[return-value]


def _as_dtype(value: Any, dtype: mstype.DType) -> Any:
    if isinstance(value, (values.TensorBase, values.SymbolicScalarBase)):
        return value if values.dtype_of(value) is dtype else _Dispatch.cast(value, dtype)
    return values.number_tensor(value, dtype)


class PrimitiveWithCheck(Primitive):
    """A user primitive that states checks by `__check__`/`check_shape`/`check_dtype` and reuses another's inference.

    Examples:
        >>> class Twice(ops.PrimitiveWithCheck):
        ...     def __check__(self, x):
        ...         pass
        ...
        ...     def __call__(self, x):
        ...         return x + x
        >>> print(Twice()(Tensor([4.0])))
        [8.]
    """

    def infer(self, *args: Any) -> Any:
        if hasattr(self, "check_shape"):
            self.check_shape(*(getattr(a, "shape", a) for a in args))
        if hasattr(self, "check_dtype"):
            self.check_dtype(*(getattr(a, "dtype", None) for a in args))
        return super().infer(*args)


class PrimitiveWithInfer(Primitive):
    """A user primitive that infers by `infer_shape` and `infer_dtype` (or `__infer__`).

    Examples:
        >>> class Rows(ops.PrimitiveWithInfer):
        ...     def infer_shape(self, x):
        ...         return x[:1]
        ...
        ...     def infer_dtype(self, x):
        ...         return x
        >>> Rows().infer_shape((5, 2))
        (5,)
    """

    def infer(self, *args: Any) -> Any:
        from mindspore.ir import AbstractTensor, AbstractTuple

        shape = self.infer_shape(*(list(a.shape) if isinstance(a, Abstract) else a for a in args))
        dtype = self.infer_dtype(*(a.dtype if isinstance(a, Abstract) else a for a in args))
        if isinstance(dtype, (tuple, list)):
            return AbstractTuple(tuple(AbstractTensor(mstype.to_dtype(d), tuple(s)) for s, d in zip(shape, dtype)))
        return AbstractTensor(mstype.to_dtype(dtype), tuple(shape))

    @property
    def bprop(self) -> Any:  # type: ignore[override]
        """The gradient rule that `get_bprop` returns, a function of the user's; None without."""
        if not hasattr(self, "get_bprop"):
            return None
        rule = self.get_bprop()

        def apply(*args: Any) -> Any:
            interpreter = getattr(getattr(ACTIVE.builder, "root", None), "interpreter", None)
            return rule(*args) if interpreter is None else interpreter.call(rule, args, {})

        return apply

    def infer_shape(self, *args: Any) -> Any:
        raise TypeError(f"primitive {self.name} must define infer_shape")

    def infer_dtype(self, *args: Any) -> Any:
        raise TypeError(f"primitive {self.name} must define infer_dtype")


def prim_attr_register(fn: Callable) -> Callable:
    """Decorate `__init__` of a primitive so that its arguments become attributes.

    Examples:
        >>> class Scale(ops.Primitive):
        ...     @ops.prim_attr_register
        ...     def __init__(self, factor=2):
        ...         pass
        >>> Scale(3).factor
        3
    """
    import functools
    import inspect

    signature = inspect.signature(fn)

    @functools.wraps(fn)
    def init(self: Primitive, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        attrs = {k: v for k, v in list(bound.arguments.items())[1:] if k not in ("args", "kwargs")}
        Primitive.__init__(self, type(self).__name__)
        self.attrs = attrs
        self.__dict__.update(attrs)
        fn(self, *args, **kwargs)

    return init
