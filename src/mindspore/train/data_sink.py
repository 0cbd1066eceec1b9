"""`data_sink`: a function that takes its inputs from a dataset, several steps per call."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

from mindspore.common.api import jit
from mindspore.train.sink import SunkSteps, is_compiled


def data_sink(
    fn: Callable, dataset: Any, sink_size: int = 1, jit_config: Any = None, input_signature: Any = None
) -> Callable[[], Any]:
    """A function without arguments that runs `fn` on the next `sink_size` batches and returns the last result.

    When `fn` is compiled (`jit`, `jit_config`, a Cell in graph mode), the batches go through one loop of compiled code.

    Examples:
        >>> import numpy as np
        >>> import mindspore as ms
        >>> from mindspore import dataset as ds
        >>> data = ds.NumpySlicesDataset({"x": np.ones((4, 2), np.float32)}, shuffle=False)
        >>> step = ms.data_sink(lambda x: x * 2, data, sink_size=2)
        >>> step().asnumpy().tolist()
        [2.0, 2.0]
    """
    if not isinstance(sink_size, int) or isinstance(sink_size, bool):
        raise TypeError(f"For 'data_sink', 'sink_size' must be an int, but got {type(sink_size).__name__}.")
    if sink_size <= 0:
        raise ValueError(f"For 'data_sink', 'sink_size' must be positive, but got {sink_size}.")
    step = jit(fn) if jit_config is not None or input_signature is not None else fn
    steps = SunkSteps(step, is_compiled(step))
    batches = _endless(dataset)

    @functools.wraps(fn)
    def sink_process(*args: Any, **kwargs: Any) -> Any:
        return steps.run(itertools.islice(batches, sink_size), sink_size)[1]

    return sink_process


def _endless(dataset: Any) -> Iterator[tuple]:
    """The batches of a dataset, again and again."""
    iterator = dataset.create_tuple_iterator(num_epochs=-1, do_copy=False)
    while True:
        empty = True
        for batch in iterator:
            empty = False
            yield tuple(batch)
        if empty:
            raise ValueError("For 'data_sink', the dataset has no data.")


__all__ = ["data_sink"]
