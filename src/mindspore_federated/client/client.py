"""A client that takes part in rounds: it trains what it is given and uploads as the server's plan says.

Uploads follow the plan: plain, as sparse quantized differences, as SignDS, under pairwise masks, or clipped and noised
(local DP with the plan's eps, delta and norm). Before each round `policy()` may say no: on battery, on a metered network
(`client/policy.py`). Where the job evaluates clusters, a client sends how much it belongs to each of them.
"""
from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mindspore_federated import log as logger
from mindspore_federated.client.connection import Connection, FederatedError, JobFinished, features
from mindspore_federated.client.masked import MASKED_UPLOADS
from mindspore_federated.common.pki import Authority
from mindspore_federated.compression import encode_diff_sparse_quant
from mindspore_federated.privacy.distributed_dp import Spent
from mindspore_federated.privacy.laplace import noised_memberships
from mindspore_federated.privacy.local_dp import LocalDP
from mindspore_federated.privacy.signds import select
from mindspore_federated.server.features import Arrays
from mindspore_federated.wire.flat import Message
from mindspore_federated.wire.schema import COMPRESS_TYPES


@dataclass(frozen=True)
class Plan:
    """What the server wants of local training."""
    iteration: int
    epochs: int
    batch_size: int
    learning_rate: float


Train = Callable[[Arrays, Plan], tuple[Mapping[str, Any], float]]


class FederatedClient:
    """`train(weights, plan)` gets the global flat weights by name and returns new ones and the loss.

    A connection with an identity takes part under that identity's name; `authority` are the roots by which this client
    checks the other clients of masked rounds. Where `policy()` says no the client stops, or asks it again after `policy_pause`
    seconds. `memberships(weights)` tells how much this client belongs to each cluster, for `unsupervised.eval_type`; with
    `privacy_eval_type: LAPLACE` it is noised before it is sent.
    """

    def __init__(self, connection: Connection, fl_name: str, train: Train, data_size: int, *, fl_id: str | None = None,
                 policy: Callable[[], bool] = lambda: True, policy_pause: float | None = None, wait: float = 300.0,
                 authority: Authority | None = None, memberships: Callable[[Arrays], Any] | None = None) -> None:
        self._connection = connection
        self._fl_name = fl_name
        self._train = train
        self._data_size = data_size
        self._fl_id = connection.identity.fl_id if connection.identity else fl_id or uuid.uuid4().hex
        self._authority = authority
        self._policy, self._policy_pause = policy, policy_pause
        self._memberships = memberships
        self._wait = wait
        self._random = np.random.default_rng()             # seeded by the system: it protects this client
        self._local_dp, self._spent = LocalDP(), Spent()

    def run(self, rounds: int | None = None) -> int:
        """Take part until the job is finished, or in so many rounds; returns how many updates were taken."""
        taken = 0
        while rounds is None or taken < rounds:
            if not self._policy():
                logger.info("the policy keeps this client out of the round")
                if self._policy_pause is None:
                    break
                time.sleep(self._policy_pause)
                continue
            try:
                taken += self.one_round()
            except JobFinished:
                break
        return taken

    def epsilon(self, delta: float) -> float:
        """The privacy that this client's uploads have cost it so far: under DP_ENCRYPT each of them, under masks with noise
        the sums that they are in."""
        return self._local_dp.epsilon(delta) + self._spent.epsilon(delta)

    def one_round(self) -> bool:
        """Start, train, upload, wait for the result; whether the update was taken."""
        answer = self._connection.start_job(self._fl_name, self._fl_id, self._data_size, wait=self._wait,
                                            compress_types=[COMPRESS_TYPES["QUANT"]])
        model, settings = features(answer), answer["fl_plan_config"]
        plan = Plan(answer["iteration"], settings["epochs"], settings["mini_batch"], settings["lr"])
        weights, loss = self._train(model, plan)
        update = {name: np.asarray(value, np.float32).reshape(-1) for name, value in weights.items() if name in model}
        try:
            self._upload(answer, plan, model, update, loss)
        except JobFinished:
            raise
        except FederatedError as error:
            logger.warning("iteration %d: the update was not taken: %s", plan.iteration, error)
            return False
        try:
            self._connection.get_model(self._fl_name, plan.iteration, wait=self._wait)
        except FederatedError as error:
            logger.warning("iteration %d: no result: %s", plan.iteration, error)
        return True

    def _upload(self, answer: Message, plan: Plan, model: Arrays, update: Arrays, loss: float) -> None:
        cipher = answer["fl_plan_config"]["cipher"] or {"encrypt_type": ""}
        kind = cipher["encrypt_type"]
        size = np.float32(self._data_size)
        more: dict[str, Any] = {"upload_loss": loss}
        if kind in MASKED_UPLOADS:
            MASKED_UPLOADS[kind](self._connection, self._fl_name, self._fl_id, plan.iteration, cipher["pw_params"],
                                 self._wait, self._authority, self._spent).run(model, update, self._data_size)
            return
        if kind == "DP_ENCRYPT":
            params = cipher["dp_params"]
            update = self._local_dp(model, update, params["dp_eps"], params["dp_delta"], params["dp_norm_clip"])
        if kind == "SIGNDS":
            params = cipher["ds_params"]
            change = np.concatenate([update[name] - model[name] for name in model])
            sign, indices = select(change, params["sign_k"], params["sign_eps"], params["sign_thr_ratio"],
                                   params["sign_dim_out"], self._random)
            more.update(sign=sign, index_array=indices)
            update = {}
        elif answer["upload_compress_type"] == COMPRESS_TYPES["DIFF_SPARSE_QUANT"]:
            more["upload_compress_type"] = COMPRESS_TYPES["DIFF_SPARSE_QUANT"]
            more["upload_sparse_rate"] = answer["upload_sparse_rate"]
            more["compress_feature_map"], more["name_vec"] = encode_diff_sparse_quant(
                update, model, answer["upload_sparse_rate"], plan.iteration)
            update = {}
        more.update(self._evaluation(answer, cipher, model))
        self._connection.update_model(self._fl_name, self._fl_id, plan.iteration,
                                      {name: value * size for name, value in update.items()}, wait=self._wait, **more)

    def _evaluation(self, answer: Message, cipher: Message, model: Arrays) -> dict[str, Any]:
        """The fields that tell of this client's cluster, where the job wants them."""
        if self._memberships is None or answer["unsupervised_eval_flg"] in (None, "", "NOT_EVAL"):
            return {}
        vector = np.asarray(self._memberships(model), np.float32).reshape(-1)
        eps = float(cipher.get("laplace_params") or 0.0)
        if eps:
            vector = noised_memberships(vector, eps, self._random)
        return {"unsupervised_eval_items": {"eval_items": [{"eval_name": "memberships", "eval_data": vector}]}}
