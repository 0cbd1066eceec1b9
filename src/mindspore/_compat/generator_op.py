"""The primitive behind generators of random numbers, as packages with generators of their own call it.

Its state is a seed and an offset, two int64 tensors that it updates in place: those it was made with, or else the first two inputs of
each call. A command says what to do with them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.prims.active import ACTIVE
from mindspore.prims.primitive import Primitive
from mindspore.prims.values import TensorBase

__all__ = ["Generator"]

STEP, SEED, GET_STATE, SET_STATE, MANUAL_SEED, INITIAL_SEED = range(6)


class Generator(Primitive):
    """Called with a command and (seed, offset, what the command needs)."""

    def __init__(self, seed: Tensor | None = None, offset: Tensor | None = None):
        super().__init__("Generator")
        self._own = None if seed is None or offset is None else (_checked("seed", seed), _checked("offset", offset))

    def __call__(self, cmd: int, inputs: Any = ()) -> Any:
        wanted = 3 if cmd in (STEP, SET_STATE, MANUAL_SEED) else 2
        if cmd not in range(6) or len(inputs) != wanted:
            raise ValueError(
                "For 'Generator', the command must be 0 (step), 3 (set state) or 4 (set seed) with three inputs, or 1 (new seed), "
                f"2 (get state) or 5 (get seed) with two, but got {cmd} with {len(inputs)}."
            )
        seed, offset = self._own or (_checked("seed", inputs[0]), _checked("offset", inputs[1]))
        if ACTIVE.builder is not None and (cmd not in (STEP, INITIAL_SEED) or not isinstance(offset, Parameter)):
            raise TypeError(
                "For 'Generator', a graph can step through random numbers (command 0) where 'offset' is a Parameter, and read the "
                "seed (command 5); do everything else outside."
            )
        return _COMMANDS[cmd](seed, offset, *inputs[2:])


def _checked(name: str, value: Tensor) -> Tensor:
    if not isinstance(value, TensorBase) or value.dtype != mstype.int64 or value.shape:
        raise TypeError(f"For 'Generator', '{name}' must be an int64 Tensor without dimensions, but got {value!r}.")
    return value


def _step(seed: Tensor, offset: Tensor, step: Any) -> tuple[Tensor, Tensor, None]:
    before = offset + 0
    ops.assign(offset, before + step)
    return seed + 0, before, None


def _begin(seed: Tensor, offset: Tensor, value: Any) -> None:
    ops.assign(seed, Tensor(int(value), mstype.int64))
    ops.assign(offset, Tensor(0, mstype.int64))


def _new_seed(seed: Tensor, offset: Tensor) -> tuple[Tensor]:
    _begin(seed, offset, int.from_bytes(os.urandom(4), "little"))
    return (seed + 0,)


def _read_seed(seed: Tensor, offset: Tensor) -> tuple[Tensor]:
    return (seed + 0,)


def _state(seed: Tensor, offset: Tensor) -> tuple[None, None, Tensor]:
    return None, None, Tensor(np.array([int(seed), int(offset)], "<i8").view(np.uint8))


def _restore(seed: Tensor, offset: Tensor, state: Tensor) -> None:
    if state.dtype != mstype.uint8 or state.shape != (16,):
        raise ValueError(
            f"For 'Generator', a state is a uint8 Tensor of shape (16,), but got {state.dtype} of shape {state.shape}."
        )
    for tensor, word in zip((seed, offset), state.asnumpy().view("<i8")):
        ops.assign(tensor, Tensor(int(word), mstype.int64))


_COMMANDS: dict[int, Callable[..., Any]] = {
    STEP: _step, SEED: _new_seed, GET_STATE: _state, SET_STATE: _restore, MANUAL_SEED: _begin, INITIAL_SEED: _read_seed,
}  # fmt: skip
