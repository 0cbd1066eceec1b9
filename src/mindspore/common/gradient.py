"""Derivatives of functions: `grad`, `value_and_grad`, `vjp`, `jvp`, `jacrev`, `jacfwd`.

One object, `Derivative`, does the work in each mode: in PyNative mode it records a tape; while a graph is built it adds
the backward nodes to that graph; in graph mode it compiles itself. All three use the same gradient rules.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from mindspore import context
from mindspore.common.compiled import CompiledFunction
from mindspore.common.mutable import is_constant
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.common.tensor import Tensor
from mindspore.compiler import parse
from mindspore.compiler.autodiff.reverse import pullback
from mindspore.prims import values
from mindspore.prims.active import ACTIVE
from mindspore.prims.elementwise import ones_like, zeros_like
from mindspore.prims.inplace import value_of
from mindspore.prims.structural import Identity
from mindspore.prims.structure import leaves, parts_of, rebuilt, with_parts
from mindspore.prims.values import SymbolicScalarBase, TensorBase
from mindspore.runtime import context as settings
from mindspore.runtime import devices, tensor_hooks
from mindspore.runtime.tape import Tape, Watched, recording, watched_alias

if TYPE_CHECKING:
    from mindspore.compiler.parse.interpreter import Interpreter

_DATA = (TensorBase, SymbolicScalarBase)


class Derivative:
    """The function that computes gradients (and values) of `fn`."""

    def __init__(
        self,
        fn: Any,
        positions: Any,
        weights: Any = None,
        *,
        with_value: bool = False,
        has_aux: bool = False,
        sens: bool = False,
        return_ids: bool = False,
        unwrap: bool = False,
        by_use: bool = False,
    ):
        self.fn = fn
        self.positions = positions  # an int, a tuple, "all", or None
        self.weights = weights
        self.with_value = with_value
        self.has_aux = has_aux
        self.sens = sens
        self.return_ids = return_ids
        self.by_use = by_use  # PyNative: the weights that were used, in the order of use
        self.unwrap = (
            unwrap  # as `grad` has it: one gradient comes alone, not in a tuple; auxiliary results always in one
        )
        self._compiled: CompiledFunction | None = None
        self.__name__ = getattr(fn, "__name__", type(fn).__name__)

    # -- the three modes ------------------------------------------------------------------------------------------
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if ACTIVE.builder is not None:
            return self.run(args, kwargs, _GraphMode())
        if context.graph_mode() and not ACTIVE.tapes:
            if self._compiled is None:
                self._compiled = CompiledFunction(self, f"grad_{self.__name__}")
            return self._compiled(*args, **kwargs)
        result = self.run(args, kwargs, _TapeMode())
        if not ACTIVE.tapes:
            devices.flush()  # with the tape gone, an accelerator need not keep what only the backward pass used
        return result

    def __ms_trace__(self, interpreter: Interpreter, args: tuple, kwargs: dict) -> Any:
        return self.run(args, kwargs, _GraphMode())

    # -- the work -------------------------------------------------------------------------------------------------
    def run(self, args: tuple, kwargs: dict, mode: Any) -> Any:
        sens = None
        if self.sens:
            if "sens" in kwargs:
                sens = kwargs["sens"]
                kwargs = {k: v for k, v in kwargs.items() if k != "sens"}
            elif len(args) < 1:
                raise ValueError("the gradient function with 'sens_param' needs the sensitivity as its last argument.")
            else:
                args, sens = args[:-1], args[-1]
        if kwargs:
            args, kwargs = _by_position(self.fn, args, kwargs, self.positions)
        names: tuple[str, ...] = ()
        if kwargs and self.positions is not None:  # arguments that go by name alone count, too, behind the others
            names, args = tuple(kwargs), (*args, *kwargs.values())
        places = self._places(args)
        weights = self._weights()
        with mode:
            args, inputs = mode.watch(args, places)
            given = [_as_it_is(args[place]) for place in places]
            watched = mode.watch_weights(weights)
            by_name = dict(zip(names, args[len(args) - len(names) :])) if names else kwargs
            out = mode.call(self.fn, args[: len(args) - len(names)], by_name)
            primary, aux = self._split(out)
            outputs = _tensors(primary)  # other results are constants
            watched = mode.used(watched, outputs) if self.by_use else watched
            douts = self._sensitivities(primary, outputs, sens)
            grads = mode.backward(outputs, douts, inputs, watched)
        input_grads = _restore_structure(given, grads[: len(inputs)])
        result = self._format(places, input_grads, [w.tensor for w in watched], grads[len(inputs) :])
        if not self.with_value:
            return (result, aux) if self.has_aux else result
        return (out, result)

    def _places(self, args: tuple) -> list[int]:
        """The positions to differentiate: those asked for that hold tensors; None, strings and numbers are passed over."""
        if self.positions is None:
            return []
        if self.positions == "all":
            return [i for i, a in enumerate(args) if _tensors(a) and not is_constant(a)]
        if not args:
            return []
        places = list(self.positions) if isinstance(self.positions, tuple) else [self.positions]
        for p in places:
            if not -len(args) <= p < len(args):
                raise ValueError(
                    f"For 'grad', 'grad_position' {p} is out of range: '{self.__name__}' was given {len(args)} arguments."
                )
        return [p % len(args) for p in places if _tensors(args[p]) or getattr(args[p], "__ms_mutable__", False)]

    def _weights(self) -> list[Any]:
        weights = self.weights
        if weights is None:
            return []
        if isinstance(weights, Parameter):
            return [weights]
        return list(weights)

    def _split(self, out: Any) -> tuple[Any, Any]:
        if not self.has_aux:
            return out, None
        if not isinstance(out, tuple) or len(out) < 2:
            raise ValueError(
                "For 'grad' with has_aux=True, the function must return a tuple: the value, then the auxiliary results."
            )
        return out[0], tuple(out[1:]) if self.unwrap or len(out) > 2 else out[1]

    def _sensitivities(self, primary: Any, outputs: list[Any], sens: Any) -> list[Any]:
        if sens is None:
            return [ones_like(o) for o in outputs]
        given = _tensors(sens)
        if len(given) != len(outputs):
            numbers = _leaves(sens)
            if len(numbers) == len(outputs) and all(values.is_number(n) or _tensors(n) for n in numbers):
                given = [n if _tensors(n) else ones_like(o) * n for n, o in zip(numbers, outputs)]
        if len(given) != len(outputs):
            raise ValueError(
                f"For 'grad', the sensitivity must match the {len(outputs)} outputs of '{self.__name__}', but has {len(given)} tensors."
            )
        from mindspore.prims.elementwise import Cast

        fitted = []
        for o, g in zip(outputs, given):
            if tuple(g.shape) != tuple(o.shape):
                if g.size != 1:
                    raise ValueError(
                        f"For 'grad', the sensitivity must have the shape {tuple(o.shape)} of the output, but has {tuple(g.shape)}."
                    )
                g = ones_like(o) * g.reshape(())
            fitted.append(g if values.dtype_of(g) is values.dtype_of(o) else Cast()(g, values.dtype_of(o)))
        return fitted

    def _format(self, places: list[int], input_grads: list[Any], weights: list[Any], weight_grads: list[Any]) -> Any:
        inputs: Any = tuple(input_grads)
        params: Any = tuple(weight_grads)
        if self.return_ids:
            inputs = tuple((p, g) for p, g in zip(places, inputs))
            params = tuple((w.name, g) for w, g in zip(weights, params))
        if len(inputs) == 1 and (self.unwrap or isinstance(self.positions, int)):
            inputs = inputs[0]
        if isinstance(self.weights, Parameter):
            params = params[0]
        if self.weights is None:
            return inputs
        return params if self.positions is None else (inputs, params)


def _leaves(sens: Any) -> list[Any]:
    """What stands in nested tuples and lists."""
    return [leaf for item in sens for leaf in _leaves(item)] if isinstance(sens, (tuple, list)) else [sens]


def _by_position(fn: Any, args: tuple, kwargs: dict, positions: Any) -> tuple[tuple, dict]:
    """Arguments given by name in their places, if positions are asked for that are not among the others."""
    wanted = positions if isinstance(positions, tuple) else (positions,)
    if not any(isinstance(p, int) and p >= len(args) for p in wanted):
        return args, kwargs
    target = fn.construct if hasattr(fn, "construct") else fn
    try:
        bound = inspect.signature(target).bind(*args, **kwargs)
    except (TypeError, ValueError):  # the call itself will say what is wrong
        return args, kwargs
    return bound.args, bound.kwargs


class _TapeMode:
    """PyNative: record while the function runs."""

    def __init__(self) -> None:
        self.tape = Tape()
        self._context: Any = None

    def __enter__(self) -> None:
        self.inner: Any = None

    def __exit__(self, *exc: Any) -> None:
        return None

    def watch(self, args: tuple, places: list[int]) -> tuple[tuple, list[Watched]]:
        args_list, inputs = list(args), list[Watched]()
        for place in places:
            args_list[place] = _map_tensors(args_list[place], lambda t: _watch(self.tape, t, inputs))
        return tuple(args_list), inputs

    def watch_weights(self, weights: list[Any]) -> list[Watched]:
        return [self.tape.watch(weight, weight.requires_grad) for weight in weights]

    def used(self, weights: list[Watched], outputs: list[Any]) -> list[Watched]:
        """The weights that the function used or returned, in the order of their first use."""
        wanted = {w.key: w for w in weights}
        used = [*(key for entry in self.tape.entries for key in entry.arg_keys), *map(value_of, outputs)]
        return [wanted[key] for key in dict.fromkeys(used) if key in wanted]

    def call(self, fn: Any, args: tuple, kwargs: dict) -> Any:
        with recording(self.tape):
            return fn(*args, **kwargs)

    def backward(
        self, outputs: list[Any], douts: list[Any], inputs: list[Watched], weights: list[Watched]
    ) -> list[Any]:
        grads = self.tape.gradients(outputs, douts, [*inputs, *weights])
        if settings.current().watch is not None:
            from mindspore.runtime.watch import eager as watching

            watching.gradients([w.tensor for w in weights], grads[len(inputs) :])
        return grads


def _watch(tape: Tape, tensor: Any, inputs: list[Watched]) -> Any:
    alias = tensor if isinstance(tensor, Parameter) else watched_alias(tensor)
    inputs.append(tape.watch(alias))
    return alias


class _Marked(NamedTuple):
    """What to differentiate with respect to, and the node that stands for its value at the beginning."""

    tensor: Any
    node: Any


def _required(tensor: Any, grad: Tensor) -> Any:
    """The gradient after the tensor's hooks; that of a Parameter which requires none is zero."""
    if isinstance(tensor, Parameter) and not tensor.requires_grad:
        return zeros_like(grad)
    return tensor_hooks.run(tensor_hooks.hooks_of(tensor), grad) if isinstance(tensor, TensorBase) else grad


class _GraphMode:
    """A graph is being built: mark the inputs by Identity nodes, interpret the function, add the backward nodes."""

    def __init__(self) -> None:
        self.builder = ACTIVE.builder
        self.saved: list[tuple[Any, Any, Any]] = []

    def __enter__(self) -> None:
        """Gradients asked for within `_no_grad` are computed; they are constants for those outside."""
        self.recording, self.builder.root.recording = self.builder.root.recording, True
        self.builder.root.derivatives += 1

    def __exit__(self, *exc: Any) -> None:
        """Weights that the function did not write to get back the node they had."""
        self.builder.root.recording = self.recording
        self.builder.root.derivatives -= 1
        for weight, before, marked in self.saved:
            if self.builder.state.get(id(weight), (None, None))[1] is marked:
                if before is None:
                    self.builder.state.pop(id(weight), None)
                else:
                    self.builder.state[id(weight)] = before

    def watch(self, args: tuple, places: list[int]) -> tuple[tuple, list[_Marked]]:
        args_list, inputs = list(args), list[_Marked]()
        for place in places:
            args_list[place] = _map_tensors(args_list[place], lambda t: self._mark(t, inputs))
        return tuple(args_list), inputs

    def _mark(self, tensor: Tensor, inputs: list[_Marked]) -> Any:
        node = self.builder.emit(Identity(), (self.builder.node_of(tensor),))
        marked = values.from_node(node)
        inputs.append(_Marked(tensor, node))
        return marked

    def watch_weights(self, weights: list[Any]) -> list[_Marked]:
        marked = []
        for weight in weights:
            before = self.builder.state.get(id(weight))
            node = self.builder.emit(Identity(), (self.builder.node_of(weight),))
            self.builder.state[id(weight)] = (weight, node)
            self.saved.append((weight, before, node))
            marked.append(_Marked(weight, node))
        return marked

    def used(self, weights: list[_Marked], outputs: list[Any]) -> list[_Marked]:
        return weights

    def call(self, fn: Any, args: tuple, kwargs: dict) -> Any:
        return parse.call(fn, args, kwargs)

    def backward(
        self, outputs: list[Any], douts: list[Any], inputs: list[_Marked], weights: list[_Marked]
    ) -> list[Any]:
        builder = self.builder
        targets = [*inputs, *weights]
        back = pullback(builder, [builder.node_of(o) for o in outputs], [t.node for t in targets])
        grads = back(list(douts))
        grads = [zeros_like(values.from_node(t.node)) if g is None else g for t, g in zip(targets, grads)]
        grads = [_required(t.tensor, g) for t, g in zip(targets, grads)]
        if settings.current().watch is not None:
            noted = builder.root.graph.attrs.setdefault("gradients_of_weights", [])
            noted += [(w.tensor, builder.node_of(g)) for w, g in zip(weights, grads[len(inputs) :])]
        return grads if self.recording else list(builder.without_gradient(tuple(grads)))


def _tensors(value: Any) -> list[Any]:
    """The tensors of a structure, in order."""
    if isinstance(value, _DATA):
        return [value]
    return [t for part in parts_of(value) or () for t in _tensors(part)]


def _map_tensors(value: Any, function: Callable) -> Any:
    if isinstance(value, _DATA):
        return function(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return function(Tensor(value))
    parts = parts_of(value)
    if parts is None:
        return value
    return with_parts(value, [_map_tensors(v, function) if not isinstance(v, (int, float)) else v for v in parts])


def _as_it_is(argument: Any) -> Any:
    """An argument that stays what it is when the function changes its lists and dicts."""
    return rebuilt(argument, iter(leaves(argument))) if isinstance(argument, (list, dict, tuple)) else argument


def _restore_structure(arguments: list[Any], grads: list[Any]) -> list[Any]:
    """Gradients grouped as the arguments they belong to; that of a sparse tensor is sparse in the same places."""
    supply = iter(grads)
    out = []
    for argument in arguments:
        gradient = next(supply) if isinstance(argument, _DATA) else _map_tensors(argument, lambda _: next(supply))
        out.append(argument.with_values(gradient.values) if hasattr(argument, "with_values") else gradient)
    return out


# -- public functions ---------------------------------------------------------------------------------------------------
def grad(
    fn: Any,
    grad_position: Any = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
) -> Derivative:
    """The gradient function of `fn`.

    Args:
        grad_position: which arguments to differentiate: an index, a tuple of indices, or None for none.
        weights: Parameters to differentiate as well.
        has_aux: `fn` returns extra values after the first, which are passed through as a tuple.
        return_ids: pair every gradient with the argument's position or the Parameter's name.
        sens_param: the last argument of the gradient function is the sensitivity of the output.

    Examples:
        >>> import mindspore as ms
        >>> ms.grad(lambda x: x * x * x)(ms.Tensor(2.0)).asnumpy().item()
        12.0
    """
    _check(fn, grad_position, weights, has_aux, return_ids, "grad")
    grad_position = _single(grad_position)
    return Derivative(fn, grad_position, weights, has_aux=has_aux, return_ids=return_ids, sens=sens_param, unwrap=True)


def value_and_grad(
    fn: Any,
    grad_position: Any = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
) -> Derivative:
    """The function that gives both the value and the gradient of `fn`; arguments as in `grad`.

    Examples:
        >>> import mindspore as ms
        >>> value, gradient = ms.value_and_grad(lambda x: x * x)(ms.Tensor(3.0))
        >>> value.asnumpy().item(), gradient.asnumpy().item()
        (9.0, 6.0)
    """
    _check(fn, grad_position, weights, has_aux, return_ids, "value_and_grad")
    grad_position = _single(grad_position)
    return Derivative(
        fn,
        grad_position,
        weights,
        with_value=True,
        has_aux=has_aux,
        return_ids=return_ids,
        sens=sens_param,
        unwrap=True,
    )


def _single(position: Any) -> Any:
    """One position gives one gradient, also when it is written as a tuple."""
    return position[0] if isinstance(position, tuple) and len(position) == 1 else position


def _check(fn: Any, position: Any, weights: Any, has_aux: Any, return_ids: Any, name: str) -> None:
    if not callable(fn):
        raise TypeError(f"For '{name}', the fn should be callable (a function or Cell), but got {type(fn).__name__}.")
    if position is None and weights is None:
        raise ValueError(f"For '{name}', 'grad_position' and 'weights' cannot both be None.")
    items = position if isinstance(position, tuple) else () if position is None else (position,)
    for item in items:
        if isinstance(item, bool) or not isinstance(item, int):
            raise TypeError(
                f"For '{name}', 'grad_position' must be an int, a tuple of ints or None, but got {position!r}."
            )
    if len(set(items)) != len(items):
        raise ValueError(f"For '{name}', 'grad_position' must not repeat an index, but got {position}.")
    for option, value in (("has_aux", has_aux), ("return_ids", return_ids)):
        if not isinstance(value, bool):
            raise TypeError(f"For '{name}', '{option}' must be a bool, but got {value!r}.")
    if weights is not None and not isinstance(weights, (Parameter, ParameterTuple, tuple, list)):
        raise TypeError(
            f"For '{name}', 'weights' must be a Parameter, ParameterTuple, tuple or list of them, but got {type(weights).__name__}."
        )


def get_grad(gradients: Any, identifier: Any) -> Any:
    """Pick one gradient out of the result of a `grad` with return_ids=True, by position or Parameter.

    Examples:
        >>> x, y = Tensor(2.0), Tensor(3.0)
        >>> both = ops.grad(lambda a, b: a * b, (0, 1), return_ids=True)(x, y)
        >>> print(ops.get_grad(both, 1))
        2.0
    """
    wanted = identifier.name if isinstance(identifier, Parameter) else identifier

    def search(item: Any) -> Any:
        if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], (int, str)):
            return item[1] if item[0] == wanted and type(item[0]) is type(wanted) else None
        if isinstance(item, tuple):
            for part in item:
                found = search(part)
                if found is not None:
                    return found
        return None

    found = search(gradients)
    if found is None:
        raise RuntimeError(f"Can not find the gradient for position or parameter {wanted!r}; was 'return_ids' set?")
    return found


def vjp(fn: Callable, *inputs: Any, weights: Any = None, has_aux: bool = False) -> Any:
    """The value of `fn` and the function from output sensitivities to input gradients.

    With inputs given: returns (value, vjp_fn) (and aux). `vjp_fn` gives a tuple with a gradient per input.

    Examples:
        >>> value, pull = ops.vjp(lambda x: x**2, Tensor([1.0, 3.0]))
        >>> print(pull(Tensor([1.0, 10.0]))[0])
        [ 2. 60.]
    """
    _require_tensors("vjp", inputs)
    back = Derivative(fn, tuple(range(len(inputs))), weights, sens=True, has_aux=has_aux)

    builder = ACTIVE.builder
    state = dict(builder.state) if builder is not None else {}

    def vjp_fn(*sens: Any) -> Any:
        with _as_it_was(builder, state):
            result = back(*inputs, sens[0] if len(sens) == 1 else sens)
        if has_aux:
            result = result[0]
        grads, params = result if weights is not None else (result, None)
        return grads if weights is None else (grads, params)

    out = _call_forward(fn, inputs)
    if has_aux:
        return out[0], vjp_fn, (tuple(out[1:]) if len(out) > 2 else out[1])
    return out, vjp_fn


@contextlib.contextmanager
def _as_it_was(builder: Any, state: dict) -> Iterator[None]:
    """In a graph: with the values that Parameters had when `state` was noted; what is updated meanwhile is forgotten."""
    if builder is None or builder is not ACTIVE.builder:
        yield
        return
    now, builder.state = builder.state, dict(state)
    try:
        yield
    finally:
        builder.state = now


def _require_tensors(op: str, inputs: tuple) -> None:
    for value in inputs:
        if not _tensors(value):
            raise TypeError(f"For '{op}', each input must be a Tensor, but got {type(value).__name__}.")


def _call_forward(fn: Callable, inputs: tuple) -> Any:
    return parse.call(fn, inputs) if ACTIVE.builder is not None else fn(*inputs)


def jvp(fn: Callable, inputs: Any, v: Any, has_aux: bool = False) -> Any:
    """The value of `fn` and its directional derivative along `v`.

    Forward mode by two reverse passes: u -> vjp(u) is linear, and its own pullback applied to v is the Jacobian times v.

    Examples:
        >>> value, slope = ops.jvp(lambda x: x**2, Tensor([1.0, 2.0]), Tensor([1.0, 10.0]))
        >>> print(value, slope)
        [1. 4.] [ 2. 40.]
    """
    single = not isinstance(inputs, (tuple, list))
    points = (inputs,) if single else tuple(inputs)
    _require_tensors("jvp", points)
    directions = (v,) if not isinstance(v, (tuple, list)) else tuple(v)
    if len(points) != len(directions):
        raise TypeError(
            f"For 'jvp', 'inputs' and 'v' must have the same number of tensors, but got {len(points)} and {len(directions)}."
        )
    out = _call_forward(fn, points)
    primary = out[0] if has_aux else out
    tangents = _Tangent(fn, has_aux, isinstance(primary, (tuple, list)))(points, directions, _cotangents(primary))
    if has_aux:
        return primary, tangents, (tuple(out[1:]) if len(out) > 2 else out[1])
    return primary, tangents


def _cotangents(primary: Any) -> tuple:
    return tuple(zeros_like(o) for o in _tensors(primary))


class _Tangent:
    """d/du of <vjp(u), v>: linear in u, so any u will do."""

    def __init__(self, fn: Callable, has_aux: bool, many: bool):
        self.fn, self.has_aux, self.many = fn, has_aux, many

    def __call__(self, points: tuple, directions: tuple, zeros: tuple) -> Any:
        back = Derivative(self.fn, tuple(range(len(points))), sens=True, has_aux=self.has_aux)

        def linear(*u: Any) -> Any:
            grads = back(*points, u[0] if len(u) == 1 and not self.many else u)
            return grads[0] if self.has_aux else grads

        linear.__module__ = "mindspore.common.gradient"
        outer = Derivative(linear, tuple(range(len(zeros))), sens=True)
        tangents = outer(*zeros, tuple(directions))
        return tangents if self.many else tangents[0]
