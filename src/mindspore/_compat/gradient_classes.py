"""Private classes that compute the gradient of one operation: `FGrad()(…)` is the backward pass of F.

They are made of `vjp`, so that each agrees with the gradient of its operation by construction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore import ops
from mindspore.common.gradient import vjp
from mindspore.ops import operations
from mindspore.ops.composition import composition

P: Any = operations

__all__: list[str] = []


def _backward(function: Callable, inputs: tuple, gradient: Any) -> Any:
    _, pull = vjp(function, *inputs)
    found = pull(gradient)
    return found[0] if isinstance(found, tuple) and len(inputs) == 1 else found


def _of_input(name: str, function: Callable) -> None:
    """A class called with (input, gradient)."""
    _add(composition(f"{name}Grad", lambda p, x, dy: _backward(function, (x,), dy), f"The gradient of {name}."))


def _add(made: Any) -> None:
    globals()[made.__name__] = made
    __all__.append(made.__name__)


for _name, _function in {
    "ACos": ops.acos, "Abs": ops.abs, "Acosh": ops.acosh, "Asin": ops.asin, "Asinh": ops.asinh, "Atan": ops.atan,
}.items():  # fmt: skip
    _of_input(_name, _function)

# These are called with the *result* of the operation and the gradient.
for _name, _rule in {
    "Reciprocal": lambda y, dy: -dy * y * y, "Rsqrt": lambda y, dy: -0.5 * dy * y * y * y,
    "Sigmoid": lambda y, dy: dy * y * (1 - y), "Sqrt": lambda y, dy: 0.5 * dy / y, "Tanh": lambda y, dy: dy * (1 - y * y),
}.items():  # fmt: skip
    _add(composition(f"{_name}Grad", lambda p, y, dy, rule=_rule: rule(y, dy), f"The gradient of {_name}."))


def _layer_norm(p: Any, x: Any, dy: Any, variance: Any, mean: Any, gamma: Any) -> tuple:
    """By the input, the scale and the shift; the statistics are those of the input and computed again."""
    forward = P.LayerNorm(p.begin_norm_axis, p.begin_params_axis, p.epsilon)
    return _backward(lambda x, g, b: forward(x, g, b)[0], (x, gamma, ops.zeros_like(gamma)), dy)


_add(
    composition(
        "LayerNormGrad", _layer_norm, "The gradient of LayerNorm.", begin_norm_axis=1, begin_params_axis=1, epsilon=1e-7
    )
)
for _rank in (2, 3):
    _add(
        composition(
            f"GridSampler{_rank}DGrad",
            lambda p, dy, x, grid: _backward(
                lambda x, g: ops.grid_sample(x, g, p.interpolation_mode, p.padding_mode, p.align_corners), (x, grid), dy
            ),
            f"The gradient of GridSampler{_rank}D by the input and by the grid.",
            interpolation_mode="bilinear",
            padding_mode="zeros",
            align_corners=False,
        )
    )


def _strided_slice(p: Any, dy: Any, shape: Any, begin: Any, end: Any, strides: Any) -> Any:
    masks = p.begin_mask, p.end_mask, p.ellipsis_mask, p.new_axis_mask, p.shrink_axis_mask
    forward = P.StridedSlice(*masks)
    return _backward(lambda x: forward(x, begin, end, strides), (ops.zeros(tuple(shape), dy.dtype),), dy)


_add(
    composition(
        "StridedSliceGrad",
        _strided_slice,
        "The gradient of StridedSlice, given the shape of its input.",
        begin_mask=0,
        end_mask=0,
        ellipsis_mask=0,
        new_axis_mask=0,
        shrink_axis_mask=0,
    )
)
