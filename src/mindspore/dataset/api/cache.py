"""`DatasetCache`: rows kept in memory after they have been made once. Rows are never evicted: epochs use all alike."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from mindspore.dataset._check import UINT32_MAX, check_bool, check_range, check_type
from mindspore.dataset.ir.node import Node
from mindspore.dataset.ir.ops import CacheNode


@dataclass(frozen=True)
class CacheStatistics:
    """Average bytes of a row, and rows in memory and on disk."""

    avg_cache_sz: int
    num_mem_cached: int
    num_disk_cached: int = 0


class DatasetCache:
    """A cache to give to a source or a map as `cache=`.

    cache = ds.DatasetCache(session_id=1, size=1024)      # at most 1024 MiB; 0 sets no bound
    data = ds.ImageFolderDataset("path", cache=cache)
    """

    def __init__(
        self,
        session_id: int,
        size: int = 0,
        spilling: bool = False,
        hostname: str | None = None,
        port: int | None = None,
        num_connections: int | None = None,
        prefetch_size: int | None = None,
    ):
        check_type(session_id, int, "session_id")
        check_range(session_id, 1, UINT32_MAX, "session_id")
        check_type(size, int, "size")
        check_range(size, 0, 2**53 - 1, "size")
        check_bool(spilling, "spilling")
        if hostname is not None:
            check_type(hostname, str, "hostname")
        for name, value in {"port": port, "num_connections": num_connections, "prefetch_size": prefetch_size}.items():
            if value is not None:
                check_type(value, int, name)
        if port is not None and not 1025 <= port <= 65535:
            raise ValueError("Input port is not within the required interval of [1025, 65535].")
        self.session_id, self.size, self.spilling = session_id, size, spilling
        self._rows: dict[int, tuple] = {}
        self._bytes = 0
        self._lock = threading.Lock()

    def over(self, node: Node) -> Node:
        return CacheNode(node, self)

    def get(self, key: int) -> tuple | None:
        return self._rows.get(key)

    def put(self, key: int, row: tuple) -> None:
        """Keep a row, unless the cache is full."""
        needed = sum(np.asarray(value).nbytes for value in row if not isinstance(value, dict))
        with self._lock:
            if key in self._rows or (self.size and self._bytes + needed > self.size << 20):
                return
            self._rows[key] = row
            self._bytes += needed

    def get_stat(self) -> CacheStatistics:
        count = len(self._rows)
        return CacheStatistics(self._bytes // count if count else 0, count)

    def __deepcopy__(self, memo: Any) -> DatasetCache:
        return self
