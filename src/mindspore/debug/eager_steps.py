"""Steps of PyNative mode for the replay ring.

A step is an outermost call of a Cell that has an optimizer within (`nn.TrainOneStepCell`, `Model.train`); or a function that the user
says is one: `debug.Step(function, net, optimizer)`. Its states are the Parameters of its Cells and the state of random numbers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mindspore._base import keys
from mindspore.common.parameter import Parameter
from mindspore.common.random import get_rng_state, set_rng_state
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.optim.optimizer import Optimizer
from mindspore.prims.active import ACTIVE
from mindspore.runtime import context
from mindspore.runtime.replay.record import Recorder, StepKeeper

EAGER = "PyNative "  #: what the names of such steps begin with
_RANDOM = "random numbers"


class Step:
    """A training step written as a function, for `debug.record` and `debug.Replay` in PyNative mode.

    Args:
        function: takes tensors.
        cells: the network and the optimizer, whose Parameters the step reads and writes.

    Examples:
        >>> import tempfile
        >>> from mindspore import debug
        >>> net = nn.Dense(2, 1)
        >>> optimizer = nn.SGD(net.trainable_params(), 0.1)
        >>> gradient = ms.value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)
        >>> def train(x):
        ...     loss, gradients = gradient(x)
        ...     optimizer(gradients)
        ...     return loss
        >>> step, folder = debug.Step(train, net, optimizer), tempfile.mkdtemp()
        >>> with debug.record(folder):
        ...     losses = [step(ops.ones((1, 2))) for _ in range(2)]
        >>> debug.Replay(folder, step).run(1).as_recorded is None
        True
    """

    def __init__(self, function: Callable, *cells: Cell):
        wrong = [c for c in cells if not isinstance(c, Cell)]
        if wrong or not cells:
            raise TypeError(f"For 'Step', give the network and the optimizer, which are Cells, but got {wrong or 'none'}.")
        self.function, self.cells = function, cells
        self.name = EAGER + getattr(function, "__qualname__", type(function).__name__)
        self._keeper: StepKeeper | None = None

    def __call__(self, *args: Any) -> Any:
        recorder = context.current().recorder
        if recorder is None or ACTIVE.depth or not all(isinstance(a, Tensor) for a in args):
            return self.function(*args)
        if self._keeper is None or self._keeper.recorder is not recorder:
            self._keeper = StepKeeper(recorder, self.name, self.names)
        begun = self._keeper.begin(self.states(), [a._data for a in args])
        with within():
            out = self.function(*args)
        self._keeper.end(*begun, self.states(), results_of(out))
        return out

    @property
    def parameters(self) -> list[Parameter]:
        return list({keys.ByIdentity(p): p for cell in self.cells for p in cell.get_parameters()}.values())

    @property
    def names(self) -> list[str]:
        return [*(p.name for p in self.parameters), _RANDOM]

    def states(self) -> list[Any]:
        return [*(p._data for p in self.parameters), get_rng_state()._data]

    def restore(self, states: dict[int, np.ndarray]) -> None:
        """Set some of the states, by their places."""
        parameters = self.parameters
        for place, array in states.items():
            if place < len(parameters):
                parameters[place]._data = array.copy()
            else:
                set_rng_state(Tensor.from_numpy(array.copy()))


@contextlib.contextmanager
def within() -> Iterator[None]:
    """Calls of Cells in a `with` block are parts of a step."""
    before, ACTIVE.steps = ACTIVE.steps, None
    try:
        yield
    finally:
        ACTIVE.steps = before


def results_of(out: Any) -> list[Any]:
    """The arrays of what a step returns."""
    return [t._data for t in (out if isinstance(out, tuple) else (out,)) if isinstance(t, Tensor)]


class CellSteps:
    """Called instead of outermost Cells while a ring is recorded."""

    def __init__(self, recorder: Recorder):
        self.recorder = recorder
        self._steps: list[tuple[Cell, Step | None]] = []  # few: the outermost Cells of a training

    def __call__(self, cell: Cell, args: tuple, kwargs: dict) -> Any:
        step = self._step(cell) if not kwargs else None
        with within():
            return cell(*args, **kwargs) if step is None else step(*args)

    def _step(self, cell: Cell) -> Step | None:
        for known, step in self._steps:
            if known is cell:
                return step
        trains = any(isinstance(c, Optimizer) for _, c in cell.cells_and_names()) and not isinstance(cell, Optimizer)
        self._steps.append((cell, Step(cell, cell) if trains else None))
        return self._steps[-1][1]
