"""Secure aggregation: bit-exact sums, dropouts at every stage, tampering."""
import itertools

import numpy as np
import pytest

from mindspore_federated.secagg import SecureAggregation, SecureClient, from_ring, secure_sum, to_ring
from mindspore_federated.secagg.shamir import join, split

STAGES = ("advertise", "share", "mask", "unmask")


def _vectors(count, size=50):
    random = np.random.default_rng(count)
    return {one: random.integers(0, 2 ** 32, size, dtype=np.uint32) for one in range(1, count + 1)}


def _plain(vectors, ids):
    return np.sum([vectors[one] for one in ids], axis=0, dtype=np.uint32)


@pytest.mark.parametrize("neighbours", [None, 6])
def test_nobody_drops(neighbours):
    vectors = _vectors(12)
    total, ids = secure_sum(vectors, neighbours=neighbours, seed=0)
    assert ids == list(vectors)
    np.testing.assert_array_equal(total, _plain(vectors, ids))


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("neighbours, threshold", [(None, 5), (8, 3)])
def test_dropouts_at_each_stage(stage, neighbours, threshold):
    vectors = _vectors(12)
    gone = {2, 7, 11}
    total, ids = secure_sum(vectors, neighbours=neighbours, threshold=threshold, seed=1,
                            drops=lambda client, at: at == stage and client in gone)
    assert ids == (list(vectors) if stage == "unmask" else sorted(set(vectors) - gone))
    np.testing.assert_array_equal(total, _plain(vectors, ids))


def test_every_pair_of_dropouts_in_different_stages():
    vectors = _vectors(6, 9)
    for first, second in itertools.product(STAGES, STAGES):
        total, ids = secure_sum(vectors, threshold=3, drops=lambda client, at, a=first, b=second: (
            (client == 1 and at == a) or (client == 4 and at == b)))
        np.testing.assert_array_equal(total, _plain(vectors, ids))


def test_too_many_dropouts_give_an_error_and_no_sum():
    with pytest.raises(ValueError, match="shares are needed"):
        secure_sum(_vectors(6), threshold=4, drops=lambda client, at: at == "unmask" and client <= 3)


def test_an_upload_alone_looks_random():
    plan = SecureAggregation([1, 2, 3], threshold=2)
    clients = {one: SecureClient(one, plan) for one in plan.clients}
    keys = {one: client.advertise() for one, client in clients.items()}
    boxes = {one: client.share(keys) for one, client in clients.items()}
    masked = clients[1].mask(np.zeros(4096, np.uint32), {2: boxes[2][1], 3: boxes[3][1]})
    bits = np.unpackbits(masked.view(np.uint8))
    assert abs(bits.mean() - 0.5) < 0.01
    assert len(np.unique(masked)) > 4090


def test_changed_shares_and_second_lists_are_refused():
    plan = SecureAggregation([1, 2, 3], threshold=2)
    clients = {one: SecureClient(one, plan) for one in plan.clients}
    keys = {one: client.advertise() for one, client in clients.items()}
    boxes = {one: client.share(keys) for one, client in clients.items()}
    broken = boxes[2][1][:-1] + bytes([boxes[2][1][-1] ^ 1])
    with pytest.raises(ValueError, match="changed on its way"):
        clients[1].mask(np.zeros(4, np.uint32), {2: broken, 3: boxes[3][1]})
    clients[2].mask(np.zeros(4, np.uint32), {1: boxes[1][2], 3: boxes[3][2]})
    seeds, masks = clients[2].unmask([2, 3])
    assert set(seeds) == {3} and set(masks) == {1}
    with pytest.raises(ValueError, match="given once"):
        clients[2].unmask([1, 2, 3])


def test_shamir_needs_the_threshold():
    secret = bytes(range(32))
    shares = split(secret, [1, 2, 5, 9], 3)
    for some in itertools.combinations(shares, 3):
        assert join({one: shares[one] for one in some}, 3, 32) == secret
    with pytest.raises(ValueError, match="3 shares are needed"):
        join({1: shares[1], 2: shares[2]}, 3, 32)
    with pytest.raises(ValueError, match="do not belong together"):
        join({1: shares[1], 2: shares[2], 5: shares[9]}, 3, 32)


def test_real_values_through_the_ring():
    random = np.random.default_rng(0)
    values = {one: random.normal(size=100).astype(np.float32) for one in range(1, 9)}
    total, ids = secure_sum({one: to_ring(value, 4.0, 8) for one, value in values.items()})
    np.testing.assert_allclose(from_ring(total, 4.0, 8), np.sum([values[one] for one in ids], axis=0), atol=1e-6)
