"""Errors that a running graph reports: the first violation met, as a code and the offending value.

The record is two tensors of state (prims/requirements.py says what they hold). Whatever may fail at run time, a `raise`
under a condition that only the running graph knows as much as an index out of range, adds itself by `note`; the code is the
number of the error in `errors`, 0 while nothing has happened.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mindspore.ir import Location
from mindspore.prims import values
from mindspore.prims.requirements import Note, Requirement, Violation

if TYPE_CHECKING:
    from mindspore.compiler.builder import Builder
    from mindspore.prims.values import TensorBase


class Report(NamedTuple):
    """An error that a graph may report."""

    error: Callable[[float], BaseException]  # from the offending value
    locations: tuple[Location, ...]  # the user's line


class Reports:
    """What one graph may report."""

    def __init__(self) -> None:
        self.errors: list[Report] = []
        self.code = values.from_array(np.zeros((), np.int32))
        self.value = values.from_array(np.zeros((), np.float64))

    def holds(self, target: TensorBase | None) -> bool:
        """Whether a piece of state is part of the record."""
        return target is self.code or target is self.value

    def require(self, builder: Builder, requirement: Requirement, subject: Any) -> None:
        """Have the graph report when `subject` does not satisfy a requirement; a constant is tested now."""
        if not builder.is_variable(subject):
            requirement.enforce(np.asarray(getattr(subject, "_data", subject)))
        elif 0 not in subject.shape:
            bad, worst = Violation(requirement.test)(subject)
            self.note(builder, bad, requirement.error, worst)

    def note(
        self, builder: Builder, bad: TensorBase, error: Callable[[float], BaseException], worst: Any = 0.0
    ) -> None:
        """Have the graph report `error` when `bad` holds; the first one met wins."""
        self.errors.append(Report(error, builder.origin()[0]))
        worst = values.number_tensor(worst, values.dtype_of(self.value)) if isinstance(worst, float) else worst
        code, value = Note(len(self.errors))(self.code, self.value, bad, worst)
        builder.write(self.code, builder.node_of(code))
        builder.write(self.value, builder.node_of(value))
