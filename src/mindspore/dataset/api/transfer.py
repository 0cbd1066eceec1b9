"""Handing rows over to a device: `Dataset.device_que`.

`send` starts a thread that runs the pipeline into a bounded queue; the other side takes rows with `get_next`. On
devices that share memory with the host this is all a data sink needs.
"""

from __future__ import annotations

import queue
import threading
import uuid
from typing import Any

import numpy as np

from mindspore._base import queues
from mindspore.dataset._check import check_bool, check_type
from mindspore.dataset.api.dataset import Dataset
from mindspore.dataset.ir.ops import TransferNode
from mindspore.dataset.runtime.pipeline import END_OF_EPOCH, Pipeline
from mindspore.dataset.settings import settings

_POLL_SECONDS = 0.1


class TransferDataset(Dataset):
    """A data set at the door of a device."""

    def __init__(self, input_dataset, send_epoch_end=True, create_data_info_queue=False, queue_name=""):
        super().__init__(input_dataset)
        check_bool(send_epoch_end, "send_epoch_end")
        check_bool(create_data_info_queue, "create_data_info_queue")
        check_type(queue_name, str, "queue_name")
        self.queue_name = queue_name or str(uuid.uuid1())
        self.device_type, self.device_id = "CPU", 0
        self._use(TransferNode(input_dataset._node, self.queue_name, send_epoch_end, create_data_info_queue))
        self._send_epoch_end, self._tell_info = send_epoch_end, create_data_info_queue
        self._rows: queue.Queue = queue.Queue(max(settings().prefetch_size, 1))
        self._info: queue.Queue = queue.Queue()
        self._going, self._stopping = threading.Event(), threading.Event()
        self._pipeline: Pipeline | None = None
        self._sent = 0

    def create_dict_iterator(self, num_epochs=-1, output_numpy=False, do_copy=False):
        raise RuntimeError("TransferDataset is not iterable: its rows go to a device. Use send() and get_next().")

    def create_tuple_iterator(self, columns=None, num_epochs=-1, output_numpy=False, do_copy=False):
        raise RuntimeError("TransferDataset is not iterable: its rows go to a device. Use send() and get_next().")

    def send(self, num_epochs: int = -1) -> None:
        """Start the pipeline."""
        if self._pipeline is not None:
            return
        check_type(num_epochs, int, "num_epochs")
        self._pipeline = Pipeline(self._node, num_epochs)
        self._going.set()
        queues.offer(self.queue_name, self.get_next)
        threading.Thread(target=self._run, args=(self._pipeline,), daemon=True, name="mindspore-data-transfer").start()

    def _run(self, pipeline: Pipeline) -> None:
        try:
            for row in iter(lambda: next(pipeline, None), None):
                if row is END_OF_EPOCH and not self._send_epoch_end:
                    continue
                if self._tell_info and row is not END_OF_EPOCH:
                    self._info.put([(np.asarray(value).dtype, np.shape(value)) for value in row])
                if not self._put(row):
                    return
                self._sent += row is not END_OF_EPOCH
            self._put(None)
        except Exception as error:  # raised where the rows are fetched
            self._put(error)

    def _put(self, item: Any) -> bool:
        while not self._stopping.is_set():
            if self._going.wait(_POLL_SECONDS):
                try:
                    self._rows.put(item, timeout=_POLL_SECONDS)
                    return True
                except queue.Full:
                    continue
        return False

    def get_next(self) -> Any:
        """The next row; an empty list at the end of an epoch, None after the last."""
        row = self._rows.get()
        if isinstance(row, Exception):
            raise row
        return [] if row is END_OF_EPOCH else row

    def stop_send(self) -> None:
        """Pause."""
        self._going.clear()

    def continue_send(self) -> None:
        self._going.set()

    def get_data_info(self) -> list[tuple[np.dtype, tuple[int, ...]]]:
        """Type and shape of the columns of the next row sent; needs `create_data_info_queue=True`."""
        if not self._tell_info:
            raise RuntimeError("get_data_info needs device_que(create_data_info_queue=True).")
        return self._info.get()

    def get_mbuf_queue_size(self) -> int:
        """Rows that wait for the device."""
        return self._rows.qsize()

    def get_send_info(self) -> list:
        return [self._sent]

    def get_offload_model(self) -> None:
        """Nothing is offloaded: all operations run on the host."""

    def release(self) -> None:
        """End the pipeline."""
        queues.withdraw(self.queue_name)
        self._stopping.set()
        if self._pipeline is not None:
            self._pipeline.close()


def sync_wait_for_dataset(rank_id: int, rank_size: int, current_epoch: int, obs_runtime: Any = None) -> None:
    """Wait until all ranks have fetched their data from an object store; local files are always there."""
    check_type(rank_id, int, "rank_id")
    check_type(rank_size, int, "rank_size")
    check_type(current_epoch, int, "current_epoch")
    if not 0 <= rank_id < rank_size:
        raise ValueError(f"rank_id should be within [0, {rank_size - 1}], but got {rank_id}.")
