"""Arguments that were once taken and ignored: each is obeyed, or refused by name."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, mint, ops
from mindspore.nn.layer.flash_attention import FlashAttention
from mindspore.ops.operations import sparse_ops
from mindspore.scipy import fft, optimize

RNG = np.random.default_rng(3)


def floats(*shape):
    return Tensor(RNG.standard_normal(shape).astype(np.float32))


def test_multinomial_draws_from_its_generator():
    weights = mint.ones((3, 50))
    for replacement in (True, False):
        drawn = []
        for _ in range(2):
            generator = ms.Generator()
            generator.manual_seed(5)
            drawn += [mint.multinomial(weights, 20, replacement, generator=generator) for _ in range(2)]
        first, second, again, after = (d.asnumpy() for d in drawn)
        np.testing.assert_array_equal(first, again)
        np.testing.assert_array_equal(second, after)
        assert not np.array_equal(first, second)
        assert drawn[0].dtype == ms.int64 and ops.multinomial(weights, 2).dtype == ms.int32


def test_candidates_without_the_true_classes():
    true = Tensor([[0, 3], [3, 1]])
    for _ in range(20):
        drawn = ops.uniform_candidate_sampler(true, 2, 4, True, 7, remove_accidental_hits=True)[0]
        assert set(drawn.asnumpy().tolist()) == {2, 4, 5, 6}


def test_keys_and_values_that_are_given_whole():
    x, heads = floats(3, 2, 4), 2
    inward, outward = (floats(12, 4), None), (Tensor(np.eye(4, dtype=np.float32)), None)
    given = floats(4, 5, 2), floats(4, 5, 2)
    out, shares = ops.multi_head_attention_forward(
        x, x, x, 4, heads, *inward, None, None, False, 0.0, *outward, static_k=given[0], static_v=given[1])
    q = (x.asnumpy() @ inward[0].asnumpy()[:4].T).reshape(3, 2, heads, 2).transpose(1, 2, 0, 3)
    k, v = (g.asnumpy().reshape(2, heads, 5, 2) for g in given)
    weights = np.exp(q @ k.transpose(0, 1, 3, 2) / np.sqrt(2))
    weights /= weights.sum(-1, keepdims=True)
    np.testing.assert_allclose(shares.asnumpy(), weights.mean(1), rtol=1e-5)
    np.testing.assert_allclose(out.asnumpy(), (weights @ v).transpose(2, 0, 1, 3).reshape(3, 2, 4), rtol=1e-4, atol=1e-6)
    with pytest.raises(ValueError, match=r"'static_v' must have the shape \(4, length, 2\)"):
        ops.multi_head_attention_forward(x, x, x, 4, heads, *inward, None, None, False, 0.0, *outward, static_k=floats(3, 5, 2))


def test_minimize_within_limits_and_below_constraints():
    def squares(x):
        return ((x - 1) ** 2).sum()

    start = Tensor(np.zeros(2, np.float32))
    below = optimize.minimize(squares, start, method="LAGRANGE", constraints=[lambda x: x[0] + x[1] - 1]).x
    np.testing.assert_allclose(below.asnumpy(), 0.5, atol=1e-4)
    idle = optimize.minimize(squares, start, method="LAGRANGE", constraints=[lambda x: x[0] + x[1] - 9]).x
    np.testing.assert_allclose(idle.asnumpy(), 1, atol=1e-4)
    limits = {"lower": Tensor([2.0, -5.0]), "upper": Tensor([3.0, 0.5])}
    np.testing.assert_allclose(optimize.minimize(squares, start, method="LAGRANGE", options=limits).x.asnumpy(), [2, 0.5], atol=1e-4)
    asked = []
    optimize.minimize(squares, start, method="BFGS", jac=lambda x: asked.append(1) or 2 * (x - 1))
    assert asked


ROWS, TOKENS = floats(2, 3), floats(1, 4, 16)
REFUSED = {
    "bounds": lambda: optimize.minimize(lambda x: x.sum(), Tensor([1.0]), method="BFGS", bounds=[(0, 1)]),
    "constraints": lambda: optimize.minimize(lambda x: x.sum(), Tensor([1.0]), method="BFGS", constraints=[lambda x: x]),
    "type": lambda: fft.dctn(ROWS, type=3),
    "prefix": lambda: ops.flash_attention_score(TOKENS, TOKENS, TOKENS, 2, prefix=Tensor([1])),
    "enable_alibi": lambda: ops.FlashAttentionScore(2, enable_alibi=True),
    "prev_block_num": lambda: FlashAttention(8, 2, prev_block_num=1),
    "act_type": lambda: ops.grouped_matmul_v4([ROWS], [floats(3, 5)], act_type=1),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_supported_is_refused_by_name(name):
    with pytest.raises(ValueError, match=f"'{name}' is not supported here"):
        REFUSED[name]()


def test_lists_of_tensors_and_numbers_of_any_kind():
    parts = ops.atleast_2d([Tensor(1.0), Tensor([1.0, 2.0])])
    assert [p.shape for p in parts] == [(1, 1), (1, 2)]
    with pytest.raises(TypeError, match="atleast_1d"):
        ops.atleast_1d([1, 2])
    heights = np.arange(6, dtype=np.float32).reshape(2, 3)
    for step in (3, 3.0, Tensor(3)):
        np.testing.assert_allclose(ms.numpy.trapz(Tensor(heights), dx=step, axis=0).asnumpy(), [4.5, 7.5, 10.5])


def test_aminmax_leaves_out_what_is_no_number():
    x = Tensor([[9.0, 3.0], [5.0, float("nan")]])
    low, high = ops.aminmax(x, axis=0)
    assert low.tolist() == [5.0, 3.0] and high.tolist() == [9.0, 3.0]


@pytest.mark.parametrize("name", ["SparseAdd", "SparseSparseMaximum"])
def test_sparse_tensors_of_other_shapes_do_not_meet(name):
    places, values = Tensor([[0, 1]]), Tensor([1.0])
    more = (Tensor(0.0),) if name == "SparseAdd" else ()
    with pytest.raises(ValueError, match="'x1_shape' and 'x2_shape' must be the same"):
        getattr(sparse_ops, name)()(places, values, Tensor([2, 2]), places, values, Tensor([3, 2]), *more)
