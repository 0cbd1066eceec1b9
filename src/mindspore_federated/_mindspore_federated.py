"""The intersections of two parties' keys by their official names, over communicators that were launched.

    communicator = VerticalFederatedCommunicator(ServerConfig("server", ...), ServerConfig("client", ...))
    communicator.launch()
    common = RunPSI(keys, "server", "client", bucket_id=0, thread_num=0)        # the other party: "client", "server"
"""
from __future__ import annotations

import os
import queue
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from mindspore_federated.data_join.psi import plain_intersection, private_intersection
from mindspore_federated.startup.vertical_federated_local import launched

__all__ = ["PlainIntersection", "RunPSI"]


def RunPSI(input_data: list[str], comm_role: str, peer_comm_role: str, bucket_id: int, thread_num: int) -> list[str]:
    """The keys of `input_data` that the other party has too, sorted; neither learns more than the other's number of keys.

    `comm_role` and `peer_comm_role` are the names of this party and the other one; both give the same `bucket_id`.
    `thread_num` 0 takes as many threads as there are processors.
    """
    keys = _checked(input_data, bucket_id, thread_num)
    return private_intersection(launched(comm_role, peer_comm_role), peer_comm_role, keys,
                                thread_num or os.cpu_count() or 1, bucket_id)


def PlainIntersection(input_data: list[str], comm_role: str, peer_comm_role: str, bucket_id: int,
                      thread_num: int) -> list[str]:
    """The same result without protection: the parties show each other their keys."""
    keys = _checked(input_data, bucket_id, thread_num)
    return plain_intersection(launched(comm_role, peer_comm_role), peer_comm_role, keys, bucket_id)


class _Pair:
    """One end of a link between two parties of this process."""

    def __init__(self, send: queue.Queue[Any], receive: queue.Queue[Any]) -> None:
        self._send, self._receive = send, receive

    def send_message(self, target_server_name: str, values: Any) -> None:
        self._send.put(values)

    def receive_message(self, target_server_name: str) -> Any:
        return self._receive.get()


def _RunPSIDemo(alice_input: list[str], bob_input: list[str], thread_num: int) -> list[str]:
    """The private intersection of two lists in one process: both parties run here, without a network."""
    alice, bob = _checked(alice_input, 0, thread_num), _checked(bob_input, 0, thread_num)
    there: queue.Queue[Any] = queue.Queue()
    back: queue.Queue[Any] = queue.Queue()
    threads = thread_num or os.cpu_count() or 1
    with ThreadPoolExecutor(1) as other:
        answer = other.submit(private_intersection, _Pair(back, there), "alice", bob, threads)
        common = private_intersection(_Pair(there, back), "bob", alice, threads)
        answer.result()
    return common


def _checked(input_data: object, bucket_id: object, thread_num: object) -> list[str]:
    if not isinstance(input_data, (list, tuple)) or not all(isinstance(key, str) for key in input_data):
        raise TypeError("The 'input_data' should be a list of str.")
    for name, value in (("bucket_id", bucket_id), ("thread_num", thread_num)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"The '{name}' should be int, but got {type(value).__name__}.")
        if value < 0:
            raise ValueError(f"The '{name}' should be at least 0, but got {value}.")
    return list(dict.fromkeys(input_data))
