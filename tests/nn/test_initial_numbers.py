"""The numbers of initial values: those of official MindSpore 2.10 for the same seed of NumPy, which were printed there."""

import numpy as np
import pytest
from scipy import stats

import mindspore as ms
from mindspore import nn
from mindspore.common import initial_numbers
from mindspore.common import initializer as init

OFFICIAL = [
    (init.TruncatedNormal(0.02), [0.01623419, -0.01383788, 0.00910783, -0.02303587, -0.01308358, -0.02789828]),
    (init.TruncatedNormal(0.02), [-0.01049346, -0.00083757, 0.03413198, 0.0130782, -0.03230375, -0.01976103]),
    (init.Normal(), [0.01112375, 0.00049706, 0.00451992, 0.00250492, -0.01054352, 0.00085967]),
    (init.Uniform(), [0.03045655, 0.00955244, -0.0689711, -0.04362543, 0.03150508, -0.05423858]),
    (init.HeUniform(), [1.205712, 0.236612, -1.3617846, -0.5819629, -1.1093901, 0.7015758]),
    (init.XavierUniform(), [1.0906839, 0.49007896, -0.75472474, -0.8795875, -0.7776033, -0.37354907]),
]
AFTER_SET_SEED_3 = [-0.01214375, -0.00015176, -0.00575664, -0.01636455, 0.0268208, -0.0197583]


def test_values_are_the_official_ones():
    np.random.seed(1)
    for given, expected in OFFICIAL:
        np.testing.assert_allclose(init.initializer(given, [2, 3]).asnumpy().ravel(), expected, rtol=1e-5)
    ms.set_seed(3)
    found = init.initializer(init.TruncatedNormal(0.02), [2, 3]).asnumpy().ravel()
    np.testing.assert_allclose(found, AFTER_SET_SEED_3, rtol=1e-4)
    np.random.seed(1)
    first = nn.LSTM(5, 4, 2, bidirectional=True)
    np.testing.assert_allclose(first.w_ih_list[0].asnumpy()[0, :3], [-0.082978, 0.22032449, -0.49988562], rtol=1e-6)
    np.testing.assert_allclose(first.b_hh_list[3].asnumpy()[:3], [0.13630612, -0.12490898, 0.3574845], rtol=1e-6)


def _philox(counter, key):
    """Philox-4x32-10 as the paper writes it, one counter at a time."""
    mask = 0xFFFFFFFF
    for _ in range(10):
        low, high = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [(high >> 32) ^ counter[1] ^ key[0], high & mask, (low >> 32) ^ counter[3] ^ key[1], low & mask]
        key = [(key[0] + 0x9E3779B9) & mask, (key[1] + 0xBB67AE85) & mask]
    return counter


def test_words_are_philox():
    assert initial_numbers.words(0, 0, 4).tolist() == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]  # Random123's known answer
    seed = 0x123456789ABCDEF0
    parts = [seed & 0xFFFFFFFF, seed >> 32]
    expected = [word for n in (5, 6, 7) for word in _philox([n, 0, *parts], parts)]
    assert initial_numbers.words(seed, 20, 11).tolist() == expected[:11]


def test_blocks_are_parts_of_one_stream():
    count = 40 * (1 << 15) + 7  # on several threads
    whole = initial_numbers.normal(9, 0.5, 2.0, (count,))
    for first in (0, 1 << 15, 39 * (1 << 15)):
        u = (initial_numbers.words(9, first, 100) & 0x7FFFFF) / 2.0**23
        pairs = np.sqrt(-2 * np.log(u[::2])) * 2 * np.exp(2j * np.pi * u[1::2])
        expected = np.stack([pairs.real, pairs.imag], 1).ravel() + 0.5
        np.testing.assert_allclose(whole[first : first + 100], expected, rtol=1e-5, atol=1e-6)
    assert initial_numbers.uniform(9, 0, 1, (3, 5)).shape == (3, 5)


@pytest.mark.parametrize("a,b", [(-2, 2), (-0.5, 3), (1, 1.5), (6, 7), (-9, -8.5), (30, 31)])
def test_truncated_normal_ends_at_its_values(a, b):
    mean, sigma = 3.0, 0.5
    drawn = init.TruncatedNormal(sigma, mean, mean + a * sigma, mean + b * sigma)
    np.random.seed(0)
    found = init.initializer(drawn, (20000,)).asnumpy().astype(np.float64)
    assert (found >= mean + a * sigma).all() and (found <= mean + b * sigma).all()
    assert stats.kstest((found - mean) / sigma, stats.truncnorm(a, b).cdf).statistic < 0.015


def test_quantiles_of_the_normal_distribution():
    share = np.concatenate([np.logspace(-300, -1, 200), np.linspace(0.05, 0.95, 50), 1 - np.logspace(-15, -1, 50)])
    np.testing.assert_allclose(initial_numbers._normal_quantile(share), stats.norm.ppf(share), rtol=1e-13, atol=1e-15)


def test_a_local_context_draws_from_its_own_source():
    np.random.seed(4)
    before = np.random.get_state()[1:3]
    with ms.context.local_context():
        ms.set_seed(3)
        local = init.initializer(init.TruncatedNormal(0.02), [2, 3]).asnumpy()
    np.testing.assert_allclose(local.ravel(), AFTER_SET_SEED_3, rtol=1e-4)
    after = np.random.get_state()[1:3]
    assert (before[0] == after[0]).all() and before[1] == after[1]


def test_values_that_are_drawn_later_are_the_same():
    np.random.seed(5)
    now = nn.Dense(3, 4)
    np.random.seed(5)
    with nn.utils.no_init_parameters():
        later = nn.Dense(3, 4)
    np.random.seed(6)
    for name in ("bias", "weight"):
        np.testing.assert_array_equal(getattr(later, name).asnumpy(), getattr(now, name).asnumpy())
    seeded = init.HeUniform()
    seeded.seed = 7
    first, second = (init.initializer(seeded, (3, 4)).asnumpy() for _ in range(2))
    np.testing.assert_array_equal(first, second)
