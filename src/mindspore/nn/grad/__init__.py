"""Jacobian products as cells."""

from mindspore.nn.grad.cell_grad import Jvp, Vjp

__all__ = ["Jvp", "Vjp"]
