"""Transforms made of transforms: in sequence, perhaps, one of several, in random order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .checks import checked, operations, real
from .transform import Implementation, Transform, is_pil


class CompoundOperation(Transform):
    """Base of transforms that hold others; the generator is handed down to them.

    Examples:
        >>> issubclass(transforms.Compose, transforms.CompoundOperation)
        True
    """

    def __init__(self, transforms: list[Callable]):
        self.transforms = list(transforms)

    @property
    def releases_gil(self) -> bool:  # type: ignore[override]
        return all(getattr(op, "releases_gil", False) for op in self.transforms)

    def set_rng(self, rng: np.random.Generator) -> None:
        super().set_rng(rng)
        for op in self.transforms:
            if hasattr(op, "set_rng"):
                op.set_rng(rng)

    def to_json(self) -> tuple[str, dict[str, Any] | None]:
        for op in self.transforms:
            if not isinstance(op, Transform):
                raise RuntimeError(f"{type(self).__name__} holds the function {op!r}, which cannot be written as JSON.")
        return super().to_json()


def run_in_order(transforms: list[Callable], columns: tuple, arrays_only: bool = False) -> tuple:
    """Feed the columns through the transforms; what one returns is what the next one takes.

    With `arrays_only` PIL images that functions return become arrays.
    """
    for op in transforms:
        result = op(*columns)
        columns = result if isinstance(result, tuple) else (result,)
        if arrays_only:
            columns = tuple(np.asarray(column) if is_pil(column) else column for column in columns)
    return columns


def _unwrap(columns: tuple) -> Any:
    return columns[0] if len(columns) == 1 else columns


class Compose(CompoundOperation):
    """Several transforms as one, applied in order.

    Called with a PIL image, or holding transforms of PIL images (`ToPIL`, `Decode(to_pil=True)`, …), it returns a tuple.

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset.transforms as transforms
        >>> op = transforms.Compose([transforms.TypeCast(np.float32), lambda x: x / 2])
        >>> op(np.array([1, 2])).tolist()
        [0.5, 1.0]
    """

    @checked(transforms=operations)
    def __init__(self, transforms: list[Callable]):
        super().__init__(self.decompose(transforms))

    @staticmethod
    def decompose(transforms: list[Callable]) -> list[Callable]:
        """The list with nested Compose taken apart."""
        flat: list[Callable] = []
        for op in transforms:
            flat.extend(Compose.decompose(op.transforms) if isinstance(op, Compose) else [op])
        return flat

    @property
    def random(self) -> bool:  # type: ignore[override]
        return any(getattr(op, "random", True) for op in self.transforms)

    def apply(self, *columns: Any) -> Any:
        if not columns:
            raise RuntimeError(
                "Input Tensor is not valid. Compose was called without an image (avoid it being invoked as Compose([...])())."
            )
        # Scripts rely on it: with transforms that MindSpore runs in Python, or a PIL image, a tuple comes back, always.
        in_python = (len(columns) == 1 and is_pil(columns[0])) or any(
            getattr(op, "implementation", None) == Implementation.PY for op in self.transforms
        )
        if in_python:
            return run_in_order(self.transforms, columns)
        return _unwrap(run_in_order(self.transforms, columns, arrays_only=True))


class RandomApply(CompoundOperation):
    """All the transforms in order, with probability `prob`; else the columns unchanged.

    Examples:
        >>> transforms.RandomApply([transforms.Fill(7)], prob=1.0)(np.array([1, 2])).tolist()
        [7, 7]
    """

    random = True

    @checked(transforms=operations, prob=real(0, 1))
    def __init__(self, transforms: list[Callable], prob: float = 0.5):
        super().__init__(transforms)
        self.prob = prob

    def apply(self, *columns: Any) -> Any:
        if self.rng.random() < self.prob:
            columns = run_in_order(self.transforms, columns)
        return _unwrap(columns)


class RandomChoice(CompoundOperation):
    """One of the transforms, each as likely as the others.

    Examples:
        >>> transforms.RandomChoice([transforms.Fill(7)])(np.array([1, 2])).tolist()
        [7, 7]
    """

    random = True

    @checked(transforms=operations)
    def __init__(self, transforms: list[Callable]):
        super().__init__(transforms)

    def apply(self, *columns: Any) -> Any:
        chosen = self.transforms[self.rng.integers(len(self.transforms))]
        return _unwrap(run_in_order([chosen], columns))


class RandomOrder(CompoundOperation):
    """All the transforms, in an order drawn anew for each row.

    Examples:
        >>> transforms.RandomOrder([transforms.Fill(7), transforms.TypeCast(np.int32)])(np.array([1, 2])).tolist()
        [7, 7]
    """

    random = True
    json_module = "mindspore.dataset.transforms.transforms"

    @checked(transforms=operations)
    def __init__(self, transforms: list[Callable]):
        super().__init__(transforms)

    def apply(self, *columns: Any) -> Any:
        order = self.rng.permutation(len(self.transforms))
        return _unwrap(run_in_order([self.transforms[i] for i in order], columns))


__all__ = ["CompoundOperation", "Compose", "RandomApply", "RandomChoice", "RandomOrder", "run_in_order"]
