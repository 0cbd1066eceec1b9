"""The life of a round.

    open     clients take places with startFLJob until the threshold (times the over-selection) is reached
    update   they upload; each server adds what it gets to its own partial sum
    close    the update threshold is reached, or the deadline learned from earlier rounds has passed: one server becomes
             the closer, every server that took an update publishes its partial sum
    finish   the closer adds the sums, writes the model to the store and moves the instance to the next iteration
    fail     a window passed, a server with updates died, the store lost its memory, the job was disabled: the model
             stays, the reason is recorded, the next iteration begins

Only the step from one iteration to the next changes the model: instance and model are one write. A crash at any moment
therefore loses at most the round that was going on. Every server writes a new model to its own disk before it answers with it,
with the name of the instance and the number of its finished rounds: when the store and servers die together, whoever comes
back with the most finished rounds brings its model to the others (the iteration's number would not tell: failed rounds count
there as well). In hybrid training the finished sum waits for a worker to pull it, train on and push it back before the
iteration moves.

With `round.async_buffer_size` a round is a buffer of that many updates, which may have started from older models
(FedBuff, Nguyen et al., AISTATS 2022): the change of an update that is s iterations late counts 1/sqrt(1+s).
"""
from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from mindspore_federated import log
from mindspore_federated.common.settings import Settings
from mindspore_federated.server.aggregate import ROBUST, Partial, PartialResult, Totals, next_model
from mindspore_federated.server.cluster import (
    DISABLED,
    FINISHED,
    HEARTBEAT_SECONDS,
    READY,
    Cluster,
    Instance,
    Node,
    new_instance_name,
)
from mindspore_federated.server.features import Arrays, Floats, pack, unpack, with_state, without_state
from mindspore_federated.server.metrics import Metrics, Visits, short
from mindspore_federated.server.scores import cluster_score
from mindspore_federated.server.store import StoreError, claim
from mindspore_federated.wire.schema import Code

TICK_SECONDS = 0.05
CLOSING_SECONDS = 0.1            # after the last update, so that the servers' answers to late uploads stay exact
PUSH_METRICS_SECONDS = 1.0       # how long a pushed model waits for its metrics
MAX_DATA_SIZE = 0xFFFF
KEPT_MODELS = 5
SLACK = 1.5                      # over the quantile of earlier durations


_ENOUGH = "Current amount for updateModel is enough. Please retry later."


class Refused(Exception):
    """A request that a client should see refused, with the code and reason."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


@dataclass(frozen=True)
class Update:
    """What a client uploads; `weights` are multiplied by its number of samples."""
    fl_id: str
    iteration: int
    weights: Mapping[str, Floats]
    loss: float = 0.0
    accuracy: float = 0.0
    evaluation: Floats | None = None


class Journal(Protocol):
    """What a server keeps on its own disk."""

    def ended(self, kept: Arrays, instance: Instance, iteration: int) -> None:
        """This server ended an iteration. `kept`: the model and the optimizer's state (`features.with_state`)."""

    def adopted(self, kept: Arrays, instance: Instance, iteration: int) -> None:
        """The model after an iteration, and the instance it belongs to, are what this server answers with from now on."""


class Rounds:
    """One server's part in the rounds of a job."""

    def __init__(self, cluster: Cluster, settings: Settings, node: Node, kept: Arrays, fixed: frozenset[str],
                 iteration: int, journal: Journal, known: Instance | None = None) -> None:
        self.cluster = cluster
        self.store = cluster.store
        self.node = node
        self.fixed = fixed                                  # weights that are not aggregated
        self.metrics, self.visits = Metrics(settings), Visits(settings)
        self._journal = journal
        self._lock = threading.RLock()
        self._stopping = threading.Event()
        self._worker = threading.Thread(target=self._loop, name="federated-rounds", daemon=True)
        self._beaten = 0.0
        self._durations: list[float] = []
        model, self._optimizer = without_state(kept)        # what FedAdam and FedYogi remember
        self._published = False                             # whether this server's part of the round is in the store
        self._pushed: tuple[float, float] | None = None
        self.available = True
        self.settings = cluster.agree_on_settings(settings)
        self.models: dict[int, Arrays] = {iteration - 1: model}
        shared = cluster.begin(known or Instance(new_instance_name(), iteration), pack(kept, {"iteration": iteration - 1}))
        self._view = shared, model                          # replaced at once: nobody sees the one without the other
        self._partial: PartialResult = self._new_partial()
        if known is not None and shared.behind(known):
            self._view = known, model
            self._bring_back(shared)
        else:
            self._adopt(self.instance)

    @property
    def instance(self) -> Instance:
        """The instance as this server knows it."""
        return self._view[0]

    @property
    def model(self) -> Arrays:
        """The global model that clients of the instance's iteration start from."""
        return self._view[1]

    # ---- start and stop

    def start(self) -> None:
        """Begin to take part."""
        self.cluster.beat(self.node)
        self._worker.start()

    def stop(self) -> None:
        """Leave; a round that needs this server's updates fails at once instead of waiting for a time-out."""
        self._stopping.set()
        self._worker.join(timeout=5)
        try:
            with self._lock:
                self.refresh()
                if self._partial.clients and not self._published:
                    self.fail(f"server {self.node.node_id}, which holds updates, stopped")
            self.cluster.leave(self.node.node_id)
        except StoreError as error:
            log.warning("the cluster could not be told that this server stops: %s", error)

    # ---- what clients ask

    def start_job(self, fl_id: str, data_size: int, eval_size: int) -> tuple[Instance, Arrays]:
        """Give a client a place in the round; the round and the model to start from."""
        if data_size < 1:
            raise Refused(Code.REQUEST_ERROR, "FL job data size is not enough.")
        if data_size > MAX_DATA_SIZE and self.settings.word("server_mode") != "CLOUD_TRAINING":
            raise Refused(Code.REQUEST_ERROR, f"FL job data size is too large. It should be at most {MAX_DATA_SIZE}.")
        entry = json.dumps([data_size, eval_size, time.time()]).encode()
        with self._lock:                                    # the round does not change meanwhile
            self.refresh()
            answer = claim(self.store, self._key("start"), fl_id, entry, self._places())
            if answer == "full":
                raise Refused(Code.OUT_OF_TIME, "Current amount for startFLJob has reached the threshold. Please "
                                                "startFLJob later.")
            if answer == "present":
                raise Refused(Code.OUT_OF_TIME, f"Updating device metadata failed for fl id {fl_id}: it takes part already")
            self._mark("opened")
            if self.store.count(self._key("start")) >= self.settings.whole("round.start_fl_job_threshold"):
                self._mark("selected")
            return self._view

    def update(self, update: Update) -> None:
        """Take in a client's update."""
        self._expect(update)
        weights = self._verified(update)
        with self._lock:                                    # the round does not change between its keys and its sum
            staleness, data_size, eval_size, began = self._expect(update)
            if self._published:
                raise Refused(Code.OUT_OF_TIME, _ENOUGH)
            if not self.store.put_new_field(self._key("update"), update.fl_id, self.node.node_id.encode()):
                raise Refused(Code.OUT_OF_TIME, f"Updating metadata of UpdateModelClientList failed for fl id "
                                                f"{update.fl_id}: it has uploaded already")
            if staleness:
                weights = self._late(weights, data_size, staleness)
            assert isinstance(self._partial, Partial)
            self._partial.add(weights, data_size, loss=update.loss, accuracy=update.accuracy, eval_size=eval_size)
            self._took_part(time.time() - began)
            if update.evaluation is not None:
                self.store.put_field(self._key("eval"), update.fl_id, update.evaluation.astype("<f4").tobytes())
            if self.store.count(self._key("update")) >= self._wanted():
                self._close()

    def _took_part(self, seconds: float) -> None:
        """A client needed so long from its place to its upload."""
        self._durations = [*self._durations[-999:], seconds]
        self.visits.participated(seconds)

    def _expect(self, update: Update) -> tuple[int, int, int, float]:
        """Whether an update is for the round: how late it is, the client's numbers of samples, when it began."""
        self.refresh()
        if self._closed() or self.store.count(self._key("update")) >= self._wanted():
            raise Refused(Code.OUT_OF_TIME, _ENOUGH)
        current = self.instance.iteration
        staleness = self._staleness(update.iteration)
        entry = self.store.field(self._key("start", current - staleness), update.fl_id)
        if entry is None:
            raise Refused(Code.OUT_OF_TIME, f"devices_meta for {update.fl_id} is not set. Please retry later.")
        if update.iteration != current - staleness:
            raise Refused(Code.OUT_OF_TIME, f"UpdateModel iteration number is invalid:{update.iteration}, current "
                                            f"iteration:{current}")
        data_size, eval_size, began = json.loads(entry)
        return staleness, data_size, eval_size, began

    def remember_attested(self, fl_id: str, key_attestation: str, timestamp: str) -> None:
        """Keep the key of a client that has a place, and the time of its request."""
        self.store.put_field(self._key("attested"), fl_id, key_attestation.encode())
        self.store.put_field(self.cluster.key("starts"), fl_id, timestamp.encode())

    def attested(self, fl_id: str, iteration: int) -> str | None:
        """The certificate of the key that a client of a round has to sign with."""
        found = self.store.field(self._key("attested", max(1, iteration)), fl_id)
        return None if found is None else found.decode()

    def last_start(self, fl_id: str) -> int:
        """When a client last asked for a place and got it, by its own clock in milliseconds."""
        return int(self.store.field(self.cluster.key("starts"), fl_id) or b"0")

    def data_size(self, fl_id: str) -> int:
        """How many samples a client of this round said it has."""
        entry = self._get("start", fl_id)
        if entry is None:
            raise Refused(Code.OUT_OF_TIME, f"devices_meta for {fl_id} is not set. Please retry later.")
        return int(json.loads(entry)[0])

    def model_of(self, iteration: int) -> Arrays:
        """The model after `iteration`, or the newest one if that is long ago."""
        self.refresh()
        current = self.instance.iteration
        if iteration == current and self.instance.state != FINISHED:
            raise Refused(Code.NOT_READY, f"The model is not ready yet for iteration {iteration}. Maybe this is "
                                          "because\n1. Client doesn't not send enough update model request.\n"
                                          "2. Worker has not push weights to server.")
        return self.models.get(iteration, self.model)

    def check_open(self, reading: bool) -> str | None:
        """Why the server takes no requests just now, if so."""
        if not self.available:
            return "The cluster is in safemode."
        self.refresh()
        if self.instance.state == DISABLED or (self.instance.state == FINISHED and not reading):
            return "The server's training job is disabled or finished."
        return None

    # ---- hybrid training: what a worker asks

    def pull(self) -> Arrays:
        """The sum of the round, for the worker."""
        self.refresh()
        data = self.store.get(self._key("aggregated"))
        if data is None:
            raise Refused(Code.NOT_READY, f"The aggregation for the weights is not done yet, iteration "
                                          f"{self.instance.iteration}.")
        return {name: value for name, value in without_state(unpack(data)[0])[0].items() if name not in self.fixed}

    def push(self, weights: Mapping[str, Floats]) -> None:
        """The weights that the worker trained."""
        self.refresh()
        data = self.store.get(self._key("aggregated"))
        if data is None:
            raise Refused(Code.NOT_READY, "No round waits for weights.")
        arrays, note = unpack(data)
        for name, value in weights.items():
            if name not in self.model or arrays[name].size != value.size:
                raise Refused(Code.REQUEST_ERROR, f"The pushed weight {name} with {value.size} values is none of the "
                                                  "model's.")
            arrays[name] = value.reshape(arrays[name].shape)
        self.store.put(self._key("pushed"), pack(arrays, {**note, "at": time.time(), "by": self.node.node_id}))

    def push_metrics(self, loss: float, accuracy: float) -> None:
        """Loss and accuracy of what the worker pushed; they end the iteration."""
        with self._lock:
            self.refresh()
            data = self.store.get(self._key("pushed"))
            if data is None:
                raise Refused(Code.NOT_READY, "No weights were pushed in this iteration.")
            arrays, note = unpack(data)
            self._move_on(arrays, {**note, "loss": loss, "accuracy": accuracy})

    # ---- the clock

    def _loop(self) -> None:
        try:
            while not self._stopping.wait(TICK_SECONDS):
                self._guarded_tick()
        finally:
            self.available = False                          # also after an error nobody foresaw: clients go elsewhere

    def _guarded_tick(self) -> None:
        try:
            self._tick()
            self.available = True
        except StoreError as error:
            if self.available:
                log.warning("safe mode: %s", error)
            self.available = False

    def _tick(self) -> None:
        if time.monotonic() - self._beaten > HEARTBEAT_SECONDS:
            self.cluster.beat(self.node)
            self._beaten = time.monotonic()
        with self._lock:
            self.refresh()
            if self.instance.state == READY:
                self._advance()

    def refresh(self) -> None:
        """Follow what other servers and the scheduler decided."""
        shared = self.cluster.instance()
        if shared == self.instance:
            return
        with self._lock:
            shared = self.cluster.instance()
            if shared is None:
                self._revive()
            elif shared != self.instance:
                self.cluster.beat(self.node)                # the store may have come back without this server's heartbeat
                if shared.behind(self.instance):
                    self._bring_back(shared)
                else:
                    self._adopt(shared)

    def _revive(self) -> None:
        """The store came back empty: bring it what this server knows. The round that was going on is lost."""
        lost = self.instance
        self.cluster.beat(self.node)
        self.settings = self.cluster.shared_settings(self.settings)
        moved = replace(lost, iteration=lost.iteration + 1, valid=False, reason="the store lost its data")
        there = self.cluster.begin(moved, self._packed(lost.iteration - 1))
        self._record(lost, {}, valid=False, reason=moved.reason)
        if there.behind(lost):
            self._bring_back(there)
        else:
            self._adopt(there)

    def _bring_back(self, there: Instance) -> None:
        """The store was filled again by a server that did not know the newest model: this one does."""
        newest, reason = self.instance, "the store lost its data"
        moved = replace(newest, iteration=max(there.iteration, newest.iteration) + 1, valid=False, reason=reason)
        self._adopt(self.cluster.write_with_model(moved, self._packed(newest.iteration - 1)))

    def _adopt(self, instance: Instance) -> None:
        """Take over model and settings of the cluster for an instance that changed."""
        self.settings = self.cluster.shared_settings(self.settings)
        data = self.store.get(self.cluster.key("model"))
        model, of_iteration = self.model, instance.iteration - 1
        if data is None:
            self._share_model(of_iteration)
        else:
            kept, note = unpack(data)
            model, self._optimizer = without_state(kept)
            of_iteration = int(str(note["iteration"]))
            self.models[of_iteration] = model
        try:
            self._journal.adopted(with_state(model, self._optimizer), instance, of_iteration)
        except OSError as error:
            log.warning("the model of iteration %d could not be written: %s", of_iteration, error)
        self.models[instance.iteration - 1] = model
        with self._lock:
            self._view = instance, model
            self._partial, self._published = self._new_partial(), False
        self.visits.reset()
        for old in sorted(self.models)[:-KEPT_MODELS]:
            del self.models[old]
        for server in set(self.store.fields(self._key("update")).values()):
            if server == self.node.node_id.encode():        # this server's memory of the round died with its process
                self.fail("the server that held updates was restarted")
                return

    def _share_model(self, iteration: int) -> None:
        self.store.put_new(self.cluster.key("model"), self._packed(iteration))

    def _packed(self, iteration: int) -> bytes:
        return pack(with_state(self.model, self._optimizer), {"iteration": iteration})

    def _advance(self) -> None:
        closed = self.store.get(self._key("close"))
        if closed is None:
            self._watch_windows()
            return
        closing = json.loads(closed)
        if closing["by"] != self.node.node_id and time.time() - closing["at"] < CLOSING_SECONDS:
            self.store.put_field(self._key("visits"), self.node.node_id, json.dumps(self.visits.taken()).encode())
        if self._partial.clients and not self._published:
            self._published = True                          # what comes later is refused, not lost
            self.store.put_field(self._key("partial"), self.node.node_id, self._partial.pack())
        if closing["by"] == self.node.node_id and time.time() - closing["at"] >= CLOSING_SECONDS:
            self._finish()
        elif closing["by"] != self.node.node_id and not self.cluster.alive(closing["by"]):
            self.fail(f"server {closing['by']} died while it closed the round")

    def _watch_windows(self) -> None:
        opened, selected = self.store.get(self._key("opened")), self.store.get(self._key("selected"))
        if opened is None:
            return
        now = time.time()
        since_open = (now - float(opened)) * 1000
        gone = self._dead_contributor()
        if gone:
            self.fail(f"server {gone}, which held updates, died")
        elif since_open > self.settings.whole("round.global_iteration_time_window"):
            self.fail("the global iteration time window passed")
        elif selected is None and since_open > self.settings.whole("round.start_fl_job_time_window"):
            self.fail(f"only {self.store.count(self._key('start'))} clients started in the time window of startFLJob")
        elif selected is not None and self._deadline_passed(now - float(selected)):
            self._close()
        elif selected is not None and (now - float(selected)) * 1000 > self.settings.whole(
                "round.update_model_time_window"):
            self.fail(f"only {self.store.count(self._key('update'))} of {self._wanted()} updates came in the time "
                      "window of updateModel")

    def _dead_contributor(self) -> str | None:
        servers = {name.decode() for name in self.store.fields(self._key("update")).values()}
        return next((server for server in sorted(servers - {self.node.node_id}) if not self.cluster.alive(server)),
                    None)

    def _deadline_passed(self, waited: float) -> bool:
        """Whether clients have had longer than almost all needed before, and half of the updates are here."""
        quantile = self.settings.number("round.deadline_quantile")
        if not quantile or len(self._durations) < 10:
            return False
        limit = SLACK * float(np.quantile(self._durations, quantile))
        return waited > limit and 2 * self.store.count(self._key("update")) >= self._wanted()

    # ---- close, finish, fail

    def _close(self) -> None:
        self.store.put_new(self._key("close"), json.dumps({"by": self.node.node_id, "at": time.time()}).encode())

    def _finish(self) -> None:
        pushed = self.store.get(self._key("pushed"))
        if pushed is not None:
            arrays, note = unpack(pushed)
            if time.time() - float(str(note["at"])) > PUSH_METRICS_SECONDS:
                self._move_on(arrays, note)
            return
        if self.store.get(self._key("aggregated")) is not None:
            return                                          # a worker has to push
        contributors = {name.decode() for name in self.store.fields(self._key("update")).values()}
        partials = self.store.fields(self._key("partial"))
        missing = contributors - set(partials)
        dead = [server for server in missing if not self.cluster.alive(server)]
        if dead:
            self.fail(f"server {dead[0]} died before its updates were added")
        elif not missing:
            self._aggregate(partials)

    def _aggregate(self, partials: dict[str, bytes]) -> None:
        totals = Totals(partials.values())
        self._publish(next_model(self.model, totals, self.settings, self._optimizer),
                      {"loss": totals.mean("loss", "loss_size"),
                       "accuracy": totals.mean("accuracy", "accuracy_size"), "score": self._score()})

    def _publish(self, kept: Arrays, note: Mapping[str, object]) -> None:
        """The round gave a model: end it, or let a worker train on."""
        if not all(np.isfinite(value).all() for value in kept.values()):
            self.fail("the sum of the updates has values that are not finite")
            return
        if self.settings.word("server_mode") == "HYBRID_TRAINING":
            self.store.put(self._key("aggregated"), pack(kept, note))
            return
        try:
            self._move_on(kept, note)
        except OSError as error:                            # a full disk must not stop the job
            self.fail(f"the new model could not be written: {error}")

    def _score(self) -> float:
        kind = self.settings.word("unsupervised.eval_type")
        vectors = [np.frombuffer(value, "<f4") for value in self.store.fields(self._key("eval")).values()]
        if (kind == "NOT_EVAL" or len(vectors) < self.settings.whole("unsupervised.cluster_client_num")
                or len({vector.size for vector in vectors}) != 1):
            return 0.0
        return cluster_score(kind, np.stack(vectors).astype(np.float64))

    def _move_on(self, kept: Arrays, note: Mapping[str, object]) -> None:
        ended = self.instance
        done = ended.iteration >= self.settings.whole("fl_iteration_num")
        moved = replace(ended, iteration=ended.iteration + 1, valid=True, reason="", failures=0, finished=ended.finished + 1,
                        state=FINISHED if done else ended.state)
        self._journal.ended(kept, moved, ended.iteration)
        self._record(ended, note, valid=True, reason="")
        self._clean_up(moved)
        self._adopt(self.cluster.write_with_model(moved, pack(kept, {"iteration": ended.iteration})))

    def fail(self, reason: str) -> None:
        """End the round without a new model."""
        ended = self.instance
        log.warning("iteration %d of %s failed: %s", ended.iteration, self.cluster.fl_name, reason)
        self.metrics.failures(ended.failures + 1, self.cluster.fl_name, ended.iteration, reason)
        done = ended.iteration >= self.settings.whole("fl_iteration_num")
        self._record(ended, {}, valid=False, reason=reason)
        moved = replace(ended, iteration=ended.iteration + 1, valid=False, reason=reason, failures=ended.failures + 1,
                        state=FINISHED if done else ended.state)
        self._clean_up(moved)
        self._adopt(self.cluster.write(moved))

    def _clean_up(self, moved: Instance) -> None:
        self._forget(moved, moved.iteration - 1 - max(2, self.settings.whole("round.max_staleness")))

    def _forget(self, moved: Instance, iteration: int) -> None:
        self.cluster.forget_round(moved, iteration)

    def _record(self, ended: Instance, note: Mapping[str, object], *, valid: bool, reason: str) -> None:
        opened = self.store.get(self.cluster.round_key(ended, ended.iteration, "opened"))
        began = float(opened) if opened else time.time()
        self.metrics.iteration(
            instanceName=ended.name, flName=self.cluster.fl_name, instanceStatus=ended.state,
            flIterationNum=self.settings.whole("fl_iteration_num"), currentIteration=ended.iteration,
            iterationResult="success" if valid else "fail", failureEvent=reason,
            metricsLoss=short(float(str(note.get("loss", 0.0)))),
            metricsAuc=short(float(str(note.get("accuracy", 0.0)))),
            unsupervisedEval=short(float(str(note.get("score", 0.0)))),
            startTime=_clock(began), endTime=_clock(time.time()),
            iterationExecutionTime=int((time.time() - began) * 1000),
            clientVisitedInfo=Visits.together([self.visits.taken(), *map(json.loads, self.store.fields(
                self.cluster.round_key(ended, ended.iteration, "visits")).values())]))

    # ---- small things

    def _new_partial(self) -> PartialResult:
        return Partial(keep_each=self.settings.word("aggregation.aggregation_type") in ROBUST)

    def _key(self, what: str, iteration: int | None = None) -> str:
        return self.cluster.round_key(self.instance, iteration or self.instance.iteration, what)

    def _get(self, what: str, field: str) -> bytes | None:
        return self.store.field(self._key(what), field)

    def _mark(self, what: str) -> None:
        self.store.put_new(self._key(what), str(time.time()).encode())

    def _closed(self) -> bool:
        return self.store.get(self._key("close")) is not None

    def _places(self) -> int:
        if self.settings.whole("round.async_buffer_size"):
            return 1 << 30
        wanted = self.settings.whole("round.start_fl_job_threshold") * self.settings.number("round.over_selection_ratio")
        return -int(-wanted // 1)

    def _wanted(self) -> int:
        return self.settings.whole("round.async_buffer_size") or self.settings.update_threshold

    def _staleness(self, iteration: int) -> int:
        late = self.instance.iteration - iteration
        allowed = self.settings.whole("round.max_staleness") if self.settings.whole("round.async_buffer_size") else 0
        return late if 0 < late <= allowed and iteration - 1 in self.models else 0

    def _late(self, weights: Arrays, data_size: int, staleness: int) -> Arrays:
        then = self.models[self.instance.iteration - staleness - 1]
        scale, size = np.float32(1 / np.sqrt(1 + staleness)), np.float32(data_size)
        return {name: size * (self.model[name] + scale * (value / size - then[name]))
                for name, value in weights.items()}

    def _verified(self, update: Update) -> Arrays:
        if not (np.isfinite(update.loss) and np.isfinite(update.accuracy)):
            raise Refused(Code.REQUEST_ERROR, f"The upload loss is nan or inf, client fl id is {update.fl_id}")
        weights = {name: value for name, value in update.weights.items() if name not in self.fixed}
        if not weights:
            raise Refused(Code.REQUEST_ERROR, f"Feature map is empty for fl id {update.fl_id}")
        for name, value in weights.items():
            if name not in self.model or self.model[name].size != value.size:
                expected = f"{self.model[name].size} values" if name in self.model else "no such feature"
                raise Refused(Code.REQUEST_ERROR, f"Verify model feature map failed: feature {name} has {value.size} "
                                                  f"values, the model has {expected}")
            if not np.isfinite(value).all():
                raise Refused(Code.REQUEST_ERROR, f"Verify model feature map failed: feature {name} has values that "
                                                  "are not finite")
        return {name: value.reshape(self.model[name].shape) for name, value in weights.items()}


def _clock(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
