"""Differential privacy: what the mechanisms do, and what they cost, against closed forms and published values."""
from math import erfc, exp, log, sqrt

import numpy as np
import pytest

from mindspore import Tensor
from mindspore_federated import simulate
from mindspore_federated.compression import (
    bit_pack,
    bit_unpack,
    decode_diff_sparse_quant,
    dequantize,
    encode_diff_sparse_quant,
    quantize,
)
from mindspore_federated.privacy import EmbeddingDP, LabelDP
from mindspore_federated.privacy.accounting import Rounds, epsilon, gaussian_epsilon
from mindspore_federated.privacy.central_dp import CentralDP
from mindspore_federated.privacy.distributed_dp import DistributedDP, Spent
from mindspore_federated.privacy.local_dp import LocalDP, gaussian_noise
from mindspore_federated.privacy.signds import apply_signds, select
from mindspore_federated.secagg import from_ring


def _gaussian_delta(noise, eps):
    """The exact delta of one Gaussian round (Balle and Wang, ICML 2018)."""
    def phi(t):
        return 0.5 * erfc(-t / sqrt(2))
    return phi(0.5 / noise - eps * noise) - exp(eps) * phi(-0.5 / noise - eps * noise)


@pytest.mark.parametrize("noise, rounds", [(1.0, 1), (4.0, 1), (4.0, 16), (8.0, 100)])
def test_epsilon_bounds_the_exact_gaussian_closely(noise, rounds):
    eps = gaussian_epsilon(noise, 1.0, rounds, 1e-5)
    whole = noise / sqrt(rounds)                         # many Gaussian rounds are one with less noise
    assert _gaussian_delta(whole, eps) <= 1e-5, "never less than the truth"
    assert _gaussian_delta(whole, 0.85 * eps) > 1e-5, "and not far above"


def test_sampling_helps_and_rounds_cost():
    assert gaussian_epsilon(1.0, 0.01, 100, 1e-5) < gaussian_epsilon(1.0, 0.1, 100, 1e-5) < \
        gaussian_epsilon(1.0, 1.0, 100, 1e-5)
    assert gaussian_epsilon(1.0, 0.01, 100, 1e-5) < gaussian_epsilon(1.0, 0.01, 200, 1e-5)
    assert gaussian_epsilon(0.0, 0.01, 1, 1e-5) == float("inf") and gaussian_epsilon(1.0, 0.01, 0, 1e-5) == 0
    # Abadi et al. 2016: noise 4, sampling 0.01, 10,000 steps, delta 1e-5: the moments accountant bounds it by 1.26
    assert 0.9 < gaussian_epsilon(4.0, 0.01, 10000, 1e-5) < 1.26


# eps of dp-accounting 0.6.0: from_gaussian_mechanism(noise, sampling_prob=q).self_compose(rounds), step 1e-4
_DP_ACCOUNTING = [((1.0, 1.0, 1, 1e-5), 4.377178), ((1.0, 0.01, 1000, 1e-5), 1.828244), ((0.8, 0.05, 200, 1e-5), 7.702170),
                  ((1.1, 0.001, 10000, 1e-6), 0.470078), ((2.0, 0.1, 500, 1e-8), 7.390077), ((0.3, 0.01, 100, 1e-6), 31.569886),
                  ((0.6, 1.0, 10, 1e-5), 35.636461), ((1.0, 0.01, 1, 1e-9), 1.129693)]


@pytest.mark.parametrize("rounds, expected", _DP_ACCOUNTING)
def test_epsilon_is_that_of_dp_accounting(rounds, expected):
    assert gaussian_epsilon(*rounds) == pytest.approx(expected, rel=1e-5)


def test_rounds_of_several_kinds():
    both = epsilon([Rounds(1.0, 0.01, 500), Rounds(2.0, 0.1, 50)], 1e-5)
    assert both == pytest.approx(2.0936225, rel=1e-5)                   # dp-accounting, composed
    assert epsilon([], 1e-5) == 0.0 and epsilon([Rounds(0.0)], 1e-5) == float("inf")
    for wrong in (lambda: epsilon([Rounds(1.0)], 0.0), lambda: Rounds(1.0, 1.5), lambda: Rounds(1.0, 0.5, -1)):
        with pytest.raises(ValueError, match="should be"):
            wrong()


@pytest.mark.parametrize("eps, delta", [(0.1, 1e-5), (1.0, 1e-5), (50.0, 0.01)])
def test_local_noise_is_as_large_as_needed(eps, delta):
    noise = gaussian_noise(eps, delta)
    assert _gaussian_delta(noise, eps) == pytest.approx(delta, rel=1e-3)
    assert gaussian_epsilon(noise, 1.0, 1, delta) == pytest.approx(eps, rel=1e-4)


def test_local_dp_clips_noises_and_counts():
    local = LocalDP()
    start = {"w": np.zeros(40000, np.float32)}
    noised = local(start, {"w": np.full(40000, 7, np.float32)}, 1.0, 1e-5, 2.0)["w"].astype(np.float64)
    assert noised.std() == pytest.approx(2 * 2.0 * gaussian_noise(1.0, 1e-5), rel=0.03)
    assert noised.mean() == pytest.approx(2.0 / 200, abs=4 * noised.std() / 200)
    assert local.epsilon(1e-5) == pytest.approx(1.0, rel=1e-4)
    local(start, start, 1.0, 1e-5, 2.0)
    assert 1.0 < local.epsilon(1e-5) < 2.0


def test_poisson_sampling_is_what_amplifies():
    def run(sampling):
        algorithm = CentralDP(clip=1.0, noise_multiplier=1.0)
        simulate(None, {"w": np.zeros(2, np.float32)}, 100, rounds=30, clients_per_round=5, algorithm=algorithm,
                 client_update=lambda vectors, ids: vectors, sampling=sampling)
        return algorithm

    poisson, fixed = run("poisson"), run("fixed")
    assert poisson.epsilon(1e-5) == gaussian_epsilon(1.0, 0.05, 30, 1e-5)
    assert fixed.epsilon(1e-5) == max(fixed.client_epsilon(client, 1e-5) for client in range(100)) > poisson.epsilon(1e-5)
    with pytest.raises(ValueError, match="'fixed' or 'poisson'"):
        run("some")


def test_an_empty_round_looks_like_the_others():
    algorithm = CentralDP(clip=1.0, noise_multiplier=1.0)
    history = simulate(None, {"w": np.zeros(2, np.float32)}, 1000, rounds=3, clients_per_round=1, algorithm=algorithm,
                       client_update=lambda vectors, ids: vectors, sampling="poisson", seed=3)
    assert [] in history.clients and not np.any(history.weights["w"] == 0)
    assert algorithm.epsilon(1e-5) == gaussian_epsilon(1.0, 0.001, 3, 1e-5)


def test_central_dp_clips_and_adds_the_stated_noise():
    algorithm = CentralDP(clip=2.0, noise_multiplier=0.5)
    history = simulate(None, {"w": np.zeros(20000, np.float32)}, 10, rounds=1, clients_per_round=10,
                       algorithm=algorithm, client_update=lambda vectors, ids: vectors + 1000)
    weights = history.weights["w"].astype(np.float64)
    each = 2.0 / np.sqrt(20000)
    assert abs(weights.mean() - each) < 4 * 0.1 / np.sqrt(20000)
    assert weights.std() == pytest.approx(0.5 * 2.0 / 10, rel=0.03)
    assert algorithm.epsilon(1e-5) == gaussian_epsilon(0.5, 1.0, 1, 1e-5)


def test_adaptive_clipping_finds_the_quantile():
    algorithm = CentralDP(clip=100.0, noise_multiplier=0.1, quantile=0.5, count_noise=0.5)
    norms = np.linspace(1, 9, 40)

    def update(vectors, ids):
        vectors[:, 0] += norms[ids]
        return vectors

    simulate(None, {"w": np.zeros(4, np.float32)}, 40, rounds=120, clients_per_round=40, algorithm=algorithm,
             client_update=update)
    assert 4 < algorithm.clip < 6


def test_label_dp_flips_as_often_as_eps_says():
    labels = np.eye(4, dtype=np.float32)[np.zeros(20000, int)]
    kept = LabelDP(1.0)(Tensor(labels)).asnumpy()
    assert kept.sum() == 20000 and kept[:, 0].mean() == pytest.approx(exp(1) / (exp(1) + 3), abs=0.02)
    assert kept[:, 1].mean() == pytest.approx(kept[:, 3].mean(), abs=0.02)
    binary = LabelDP(log(3))(Tensor(np.ones((20000, 1), np.float32))).asnumpy()
    assert binary.mean() == pytest.approx(0.75, abs=0.02)


def test_embedding_dp():
    values = Tensor(np.array([-4, 1.3, -0.02, 32, 0], np.float32))
    np.testing.assert_array_equal(EmbeddingDP()(values).asnumpy(), [0, 1, 0, 1, 0])
    bits = EmbeddingDP(2 * log(3))(Tensor(np.ones(20000, np.float32))).asnumpy()
    assert bits.mean() == pytest.approx(0.75, abs=0.02)


def test_signds_mostly_picks_large_changes_of_its_sign():
    random = np.random.default_rng(0)
    change = np.concatenate([np.full(50, 5.0), np.full(50, -5.0), np.zeros(900)]).astype(np.float32)
    right = 0
    for _ in range(50):
        sign, chosen = select(change, 0.05, 100.0, 0.6, 0, random)
        right += np.mean(np.sign(change[chosen]) == sign) >= 0.6
    assert right == 50
    sign, chosen = select(change, 0.05, 1e-9, 0.6, 10, random)
    assert len(chosen) == 10
    model = {"a": np.zeros(600, np.float32), "b": np.zeros(400, np.float32), "fixed": np.zeros(3, np.float32)}
    update = apply_signds(model, frozenset({"fixed"}), -1, np.array([1, 601], np.int32), 0.5, 4)
    assert update["a"][1] == -2 and update["b"][1] == -2 and update["a"].sum() + update["b"].sum() == -4
    with pytest.raises(ValueError, match="index_array"):
        apply_signds(model, frozenset(), 1, np.array([5000], np.int32), 0.5, 4)


def test_compression_round_trips():
    random = np.random.default_rng(0)
    value = random.normal(size=(7, 9)).astype(np.float32)
    np.testing.assert_allclose(dequantize(quantize("w", value)), value.reshape(-1), atol=np.ptp(value) / 255 / 2 * 1.01)
    model = {"w": value, "b": np.zeros(5, np.float32)}
    update = {"w": value + 1, "b": np.ones(5, np.float32)}
    features, names = encode_diff_sparse_quant(update, model, 0.5, 3)
    got = decode_diff_sparse_quant(features, names, model, 0.5, 3, 2.0)
    changed = np.isclose(got["w"] / 2, value + 1)
    assert changed.sum() == 31 and np.allclose((got["w"] / 2)[~changed], value[~changed])
    with pytest.raises(ValueError, match="should have"):
        decode_diff_sparse_quant(features, names, model, 0.9, 3, 2.0)
    for bits in range(1, 9):
        codes = random.integers(0, 1 << bits, 37, dtype=np.uint8)
        np.testing.assert_array_equal(bit_unpack(bit_pack(codes, bits), 37, bits), codes)


def test_noise_under_masks_adds_up_to_what_was_promised():
    plan, clients, size = DistributedDP(noise=2.0, norm_clip=3.0, least=4), 5, 4000
    random = np.random.default_rng(0)
    changes = [random.standard_normal(size).astype(np.float32) * scale for scale in (10.0, 1.0, 0.001, 0.0, 5.0)]
    total = np.sum([plan.vector(change, clients, random) for change in changes], axis=0, dtype=np.uint32)
    cut = sum(change * min(1.0, 3.0 / max(np.linalg.norm(change), 1e-9)) for change in changes)
    noise = from_ring(total, plan.ring_clip(clients), clients) - cut
    assert noise.std() == pytest.approx(2.0 * 3.0 * np.sqrt(clients / plan.least), rel=0.05)
    assert abs(noise.mean()) < 4 * noise.std() / np.sqrt(size)


def test_what_noise_under_masks_costs():
    spent, plan = Spent(), DistributedDP(noise=4.0, norm_clip=1.0, least=50)
    for _ in range(20):
        spent.add(plan, 100000, 100)
    gaussian = gaussian_epsilon(4.0, 1.0, 20, 1e-5)         # the least possible; Rényi's way is a few per cent above it
    assert gaussian < spent.epsilon(1e-5) < 1.1 * gaussian
    assert Spent().epsilon(1e-5) == 0
