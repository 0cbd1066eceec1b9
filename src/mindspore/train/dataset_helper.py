"""DatasetHelper: the batches of a dataset as a training loop wants them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mindspore._base import dtype as mstype
from mindspore.nn.cell import Cell
from mindspore.profiler import recorder


class DatasetHelper:
    """Iterating once over it gives one epoch: the whole dataset, or `sink_size` batches when sinking.

    Args:
        dataset: anything with `create_tuple_iterator` and `get_dataset_size`.
        dataset_sink_mode: epochs of `sink_size` batches, which need not end where the data ends.
        sink_size: batches per epoch when sinking; -1 means the whole dataset.
        epoch_num: how many epochs will be asked for.

    Examples:
        >>> data = ms.dataset.NumpySlicesDataset([1, 2], shuffle=False)
        >>> [int(row[0]) for row in train.DatasetHelper(data, dataset_sink_mode=False)]
        [1, 2]
    """

    def __init__(self, dataset: Any, dataset_sink_mode: bool = True, sink_size: int = -1, epoch_num: int = 1):
        if not isinstance(dataset_sink_mode, bool):
            raise TypeError(f"'dataset_sink_mode' must be a bool, but got {type(dataset_sink_mode).__name__}.")
        if not isinstance(sink_size, int) or isinstance(sink_size, bool):
            raise TypeError(f"'sink_size' must be an int, but got {type(sink_size).__name__}.")
        if sink_size < -1 or sink_size == 0:
            raise ValueError(f"'sink_size' must be -1 or positive, but got {sink_size}.")
        self.dataset = dataset
        self.dataset_sink_mode = dataset_sink_mode
        self._sink_size = sink_size
        epochs = -1 if dataset_sink_mode else epoch_num
        self._iterator = dataset.create_tuple_iterator(num_epochs=epochs, do_copy=False)

    def __iter__(self) -> Iterator[tuple]:
        return self._sunk() if self.dataset_sink_mode else self._whole()

    def _whole(self) -> Iterator[tuple]:
        while (batch := self._next()) is not None:
            yield _as_tuple(batch)

    def _next(self) -> Any:
        """The next batch, or None at the end of the data; a profiler sees how long it takes."""
        with recorder.span("next batch", "data"):
            return next(self._iterator, None)

    def _sunk(self) -> Iterator[tuple]:
        for _ in range(self.sink_size()):
            batch = self._next()
            if batch is None:  # the data starts again
                batch = self._next()
            if batch is None:
                return
            yield _as_tuple(batch)

    @property
    def iter(self) -> DatasetHelper:
        """Where official code finds the queue of a sunk data set: `helper.iter.dataset.__transfer_dataset__.queue_name`.

        The rows of that queue are its own: those taken from it do not come in the helper's epochs.
        """
        if self.dataset_sink_mode and not hasattr(self.dataset, "__transfer_dataset__"):
            sink = self.dataset.device_que()
            sink.send()
            self.dataset.__transfer_dataset__ = sink
        return self

    def sink_size(self) -> int:
        """Batches per epoch."""
        return self.dataset.get_dataset_size() if self._sink_size == -1 else self._sink_size

    def types_shapes(self) -> tuple[list, list]:
        """The element types and shapes of the columns."""
        types = [mstype.to_dtype(t) for t in self.dataset.output_types()]
        return types, self.dataset.output_shapes()

    def stop_send(self) -> None:
        """End the epoch early; nothing is under way between two batches here."""

    def release(self) -> None:
        """Let go of the data."""
        self._iterator = iter(())

    def continue_send(self) -> None:
        """Go on after `stop_send`."""


def _as_tuple(batch: Any) -> tuple:
    return tuple(batch) if isinstance(batch, (tuple, list)) else (batch,)


class _ConnectedCell(Cell):
    """A network that takes its inputs from a dataset."""

    def __init__(self, network: Cell, helper: DatasetHelper):
        super().__init__(auto_prefix=False)
        self.network = network
        self.__dict__["_batches"] = iter(helper)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.network(*next(self._batches))


def connect_network_with_dataset(network: Cell, dataset_helper: DatasetHelper) -> Cell:
    """A network that, called without inputs, takes the next batch of the dataset.

    Examples:
        >>> data = ms.dataset.NumpySlicesDataset([1.0, 2.0], shuffle=False)
        >>> helper = train.DatasetHelper(data, dataset_sink_mode=True)
        >>> net = train.connect_network_with_dataset(nn.ReLU(), helper)
        >>> isinstance(net, nn.Cell)
        True
    """
    if not isinstance(network, Cell):
        raise TypeError(f"'network' must be a Cell, but got {type(network).__name__}.")
    return _ConnectedCell(network, dataset_helper)


__all__ = ["DatasetHelper", "connect_network_with_dataset"]
