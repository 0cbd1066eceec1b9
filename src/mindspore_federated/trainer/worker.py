"""The worker of hybrid training: it finds the servers through the store and tells the cluster that it lives."""
from __future__ import annotations

import atexit
import threading
import uuid
from contextvars import ContextVar

from mindspore_federated import log
from mindspore_federated.client.connection import Connection
from mindspore_federated.common.settings import Settings
from mindspore_federated.common.tls import TlsFiles, client_context
from mindspore_federated.server.cluster import HEARTBEAT_SECONDS, Cluster, Node
from mindspore_federated.server.store import StoreError, open_store

current_worker: ContextVar[Worker | None] = ContextVar("current_worker", default=None)


class Worker:
    """A node of role WORKER, with a connection to one of the servers."""

    def __init__(self, settings: Settings, tls: TlsFiles | None) -> None:
        self._cluster = Cluster(open_store(settings, settings.word("checkpoint_dir")), settings.word("fl_name"))
        self._node = Node(f"worker-{uuid.uuid4().hex}", "WORKER", "", "")
        servers = [node.http_address for node in self._cluster.nodes() if node.role == "SERVER"]
        if not servers:
            raise RuntimeError(f"There is no server of {settings.word('fl_name')} in the cluster, start one first")
        self.connection = Connection(servers, tls=client_context(tls) if tls else None,
                                     prefix=settings.word("client.http_url_prefix"))
        self.wait = settings.whole("round.global_iteration_time_window") / 1000
        self._stopping = threading.Event()
        self._cluster.beat(self._node)
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._thread.start()
        atexit.register(self.stop)

    def iteration(self) -> int:
        """The iteration that is going on."""
        instance = self._cluster.instance()
        return instance.iteration if instance else 0

    def stop(self) -> None:
        """Leave the cluster."""
        if self._stopping.is_set():
            return
        self._stopping.set()
        self._thread.join(timeout=2)
        atexit.unregister(self.stop)
        try:
            self._cluster.leave(self._node.node_id)
            self._cluster.store.close()
        except StoreError as error:
            log.warning("the cluster could not be told that this worker stops: %s", error)
        self.connection.close()

    def _beat(self) -> None:
        while not self._stopping.wait(HEARTBEAT_SECONDS):
            try:
                self._cluster.beat(self._node)
            except StoreError as error:
                log.warning("no heartbeat: %s", error)


class PushMetrics:
    """Tell the servers loss and accuracy after the weights were pushed."""

    @staticmethod
    def construct(loss: float, accuracy: float) -> None:
        """Send both."""
        worker = current_worker.get()
        if worker is None:
            raise RuntimeError("PushMetrics needs a FederatedLearningManager in server mode HYBRID_TRAINING")
        worker.connection.push_metrics(float(loss), float(accuracy), wait=worker.wait)
