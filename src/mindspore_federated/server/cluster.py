"""What the servers of a job agree on: which nodes live, the instance, its iteration and state, and its settings.

Keys of the store, all under `fl:<fl_name>:`

    nodes                 hash  node id -> role, addresses
    alive:<node id>       string that expires: the heartbeat
    instance              string: name, iteration, state, result of the last iteration (JSON)
    settings, features    strings: what the first server brought, later ones must agree
    model                 string: the global model with its iteration
    starts                hash  client -> time of its last request for a place (with pki_verify)
    <instance>:<n>:*      hashes and strings of iteration n, removed when n + 2 starts
"""
from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace

from mindspore_federated.common.settings import Settings, Value
from mindspore_federated.server.store import Store

HEARTBEAT_SECONDS = 1.0
ALIVE_SECONDS = 10.0
READY, DISABLED, FINISHED = "CLUSTER_READY", "CLUSTER_DISABLE", "CLUSTER_FINISH"
_ROUND_KEYS = ("opened", "selected", "start", "update", "close", "partial", "aggregated", "pushed", "eval", "keys", "shares",
               "unmask", "attested", "visits")

# Settings a new instance may change, by the short names of the scheduler's interface.
INSTANCE_KEYS = {key.rpartition(".")[2]: key for key in (
    "fl_iteration_num", "round.start_fl_job_threshold", "round.start_fl_job_time_window", "round.update_model_ratio",
    "round.update_model_time_window", "round.global_iteration_time_window", "client.client_epoch_num",
    "client.client_batch_size", "client.client_learning_rate")}
# Settings in which servers must agree from the start; in the others the first server's values hold.
_FIXED_KEYS = ("server_mode", "enable_ssl", "client_verify.pki_verify", "encrypt.encrypt_train_type",
               "aggregation.aggregation_type")


@dataclass(frozen=True)
class Node:
    """A server or worker of the cluster."""
    node_id: str
    role: str
    tcp_address: str
    http_address: str


@dataclass(frozen=True)
class Instance:
    """The run of a job that is going on. `iteration` is the one that clients take part in now."""
    name: str
    iteration: int = 1
    state: str = READY
    valid: bool = True
    reason: str = ""
    failures: int = 0
    finished: int = 0                            # rounds that gave a model: whoever knows more of them knows the newer model
    generation: int = 0                          # how often the operator asked for a new instance

    def behind(self, other: Instance) -> bool:
        """Whether another server's memory is newer than this. Names do not tell: a server that knows nothing and comes first to an
        empty store begins an instance of its own."""
        mine, others = ((one.generation, one.finished, one.iteration) for one in (self, other))
        return mine < others


class Cluster:
    """The shared state of one job."""

    def __init__(self, store: Store, fl_name: str) -> None:
        self.store = store
        self.fl_name = fl_name

    def key(self, *parts: object) -> str:
        """A key of this job."""
        return ":".join(["fl", self.fl_name, *map(str, parts)])

    def beat(self, node: Node) -> None:
        """Tell that `node` lives."""
        self.store.put_field(self.key("nodes"), node.node_id, json.dumps(asdict(node)).encode())
        self.store.put(self.key("alive", node.node_id), b"1", ALIVE_SECONDS)

    def leave(self, node_id: str) -> None:
        """Forget a node."""
        self.store.delete_field(self.key("nodes"), node_id)
        self.store.delete(self.key("alive", node_id))

    def alive(self, node_id: str) -> bool:
        """Whether a node was heard of lately."""
        return self.store.get(self.key("alive", node_id)) is not None

    def nodes(self) -> list[Node]:
        """The nodes that live, servers first; the others are forgotten."""
        found = [Node(**json.loads(value)) for value in self.store.fields(self.key("nodes")).values()]
        dead = [node for node in found if not self.alive(node.node_id)]
        for node in dead:
            self.leave(node.node_id)
        return sorted((node for node in found if node not in dead), key=lambda node: (node.role, node.node_id))

    def instance(self) -> Instance | None:
        """The instance that runs, if there is one."""
        text = self.store.get(self.key("instance"))
        return None if text is None else Instance(**json.loads(text))

    def write(self, instance: Instance) -> Instance:
        """Make `instance` the one that runs."""
        self.store.put(self.key("instance"), json.dumps(asdict(instance)).encode())
        return instance

    def write_with_model(self, instance: Instance, model: bytes) -> Instance:
        """Make `instance` the one that runs, with its model, at once."""
        self.store.put_all({self.key("model"): model, self.key("instance"): json.dumps(asdict(instance)).encode()})
        return instance

    def begin(self, fresh: Instance, model: bytes) -> Instance:
        """The instance that runs: `fresh` with its model if there is none."""
        self.store.put_all_new({self.key("model"): model, self.key("instance"): json.dumps(asdict(fresh)).encode()})
        return self.instance() or fresh

    def agree_on_settings(self, settings: Settings) -> Settings:
        """The settings of the job: the first server's, where this one does not contradict."""
        mine = settings.as_dict()
        self.store.put_new(self.key("settings"), json.dumps(mine).encode())
        shared: dict[str, Value] = json.loads(self.store.get(self.key("settings")) or b"{}")
        for key in _FIXED_KEYS:
            if key in shared and shared[key] != mine.get(key):
                raise RuntimeError(f"Sync hyper params with distributed cache failed: '{key}' is {mine.get(key)} here, "
                                   f"but {shared[key]} in the cluster")
        local = {key: value for key, value in mine.items() if not _is_shared(key)}
        return Settings({**shared, **local})

    def shared_settings(self, settings: Settings) -> Settings:
        """`settings` with what the cluster decided."""
        text = self.store.get(self.key("settings"))
        if text is None:
            self.store.put_new(self.key("settings"), json.dumps(settings.as_dict()).encode())
            return settings
        shared: dict[str, Value] = json.loads(text)
        return Settings({**settings.as_dict(), **{key: value for key, value in shared.items() if _is_shared(key)}})

    def change_settings(self, settings: Settings, values: Mapping[str, Value]) -> None:
        """Settings for the next instance."""
        merged = self.shared_settings(settings).changed(values, "newInstance")
        self.store.put(self.key("settings"), json.dumps(merged.as_dict()).encode())

    def agree_on_features(self, features: Mapping[str, tuple[int, bool]]) -> None:
        """Check that the features (name, bytes, aggregated or not) are those of the cluster."""
        mine = {name: [size, int(aggregated)] for name, (size, aggregated) in features.items()}
        self.store.put_new(self.key("features"), json.dumps(mine).encode())
        shared: dict[str, list[int]] = json.loads(self.store.get(self.key("features")) or b"{}")
        if len(shared) != len(mine):
            raise RuntimeError(f"The number {len(mine)} of local features != the number {len(shared)} declared in the "
                               "the distributed cache")
        for name, (size, aggregated) in shared.items():
            if name not in mine:
                raise RuntimeError("The features are inconsistent with that declared in distributed cache: cannot find "
                                   f"feature {name} here")
            if mine[name][0] != size:
                raise RuntimeError(f"The feature size {mine[name][0]} of local != that {size} declared in the "
                                   f"distributed cache, feature {name}")
            if mine[name][1] != aggregated:
                raise RuntimeError(f"The feature require_aggr {mine[name][1]} of local != that {aggregated} declared "
                                   f"in the distributed cache, feature {name}")

    def round_key(self, instance: Instance, iteration: int, what: str) -> str:
        """A key of one iteration."""
        return self.key(instance.name, iteration, what)

    def forget_round(self, instance: Instance, iteration: int) -> None:
        """Remove what an old iteration left."""
        self.store.delete(*(self.round_key(instance, iteration, what) for what in _ROUND_KEYS))

    def set_state(self, instance: Instance, state: str) -> Instance:
        """Enable, disable or finish the instance."""
        return self.write(replace(instance, state=state))


def new_instance_name() -> str:
    """A name no other instance has."""
    return time.strftime("%Y%m%d_%H%M%S_") + uuid.uuid4().hex[:8]


def _is_shared(key: str) -> bool:
    groups = ("round.", "client.", "encrypt.", "aggregation.", "compression.", "unsupervised.")
    return key == "fl_iteration_num" or key.startswith(groups)


def only_instance_keys(given: Iterable[str]) -> None:
    """Refuse names that a new instance cannot change."""
    unknown = sorted(set(given) - set(INSTANCE_KEYS))
    if unknown:
        raise RuntimeError(f"New instance failed: {unknown[0]} is unknown, it can be one of {sorted(INSTANCE_KEYS)}")
