"""Derivatives, under the path older scripts import them from."""

from mindspore.ops.function.grad.grad_func import (
    custom_vjp,
    get_grad,
    grad,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    value_and_grad,
    vjp,
)

__all__ = ["custom_vjp", "get_grad", "grad", "jacfwd", "jacrev", "jvp", "linearize", "value_and_grad", "vjp"]
