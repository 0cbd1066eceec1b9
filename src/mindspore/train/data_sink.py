"""`data_sink`: a function that takes its inputs from a dataset, several steps per call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def data_sink(
    fn: Callable, dataset: Any, sink_size: int = 1, jit_config: Any = None, input_signature: Any = None
) -> Callable[[], Any]:
    """A function without arguments that runs `fn` on the next `sink_size` batches and returns the last result.

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
    run = fn
    if jit_config is not None or input_signature is not None:
        from mindspore.common.api import jit

        run = jit(fn)
    iterator: Any = None

    def next_batch() -> Any:
        nonlocal iterator
        if iterator is None:
            iterator = dataset.create_tuple_iterator(num_epochs=-1, do_copy=False)
        batch = next(iterator, None)
        return next(iterator) if batch is None else batch  # None: the data starts again

    @functools.wraps(fn)
    def sink_process(*args: Any, **kwargs: Any) -> Any:
        out = None
        for _ in range(sink_size):
            out = run(*next_batch())
        return out

    return sink_process


__all__ = ["data_sink"]
