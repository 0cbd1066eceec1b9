"""`FFNExt`, `LstsqV2` and `WeightQuantBatchMatmul` against NumPy, in both modes."""

import numpy as np
import pytest
from mindspore.ops.auto_generate import WeightQuantBatchMatmul

import mindspore as ms
from mindspore import Tensor, jit, ops

DRAW = np.random.default_rng(0).standard_normal


@pytest.fixture(params=[False, True], ids=["pynative", "graph"])
def call(request):
    return (lambda f, *a: jit(f)(*a)) if request.param else (lambda f, *a: f(*a))


def test_experts_take_the_rows_that_follow_one_another(call):
    x, up, down, b1, b2 = (DRAW(s).astype("f") for s in ((6, 4), (3, 4, 8), (3, 8, 5), (3, 8), (3, 5)))
    op = ops.FFNExt("relu", 1)
    out = call(lambda *a: op(*a), *map(Tensor, (x, up, down)), Tensor([2, 0, 4]), Tensor(b1), Tensor(b2))
    owner = [0, 0, 2, 2, 2, 2]
    wanted = [np.maximum(row @ up[e] + b1[e], 0) @ down[e] + b2[e] for row, e in zip(x, owner)]
    np.testing.assert_allclose(out.asnumpy(), wanted, rtol=1e-5, atol=1e-5)


def test_least_squares_of_batches(call):
    a, b = DRAW((3, 5, 2)).astype("f"), DRAW((3, 5)).astype("f")
    a[2, :, 1] = a[2, :, 0]  # of rank 1
    op = ops.LstsqV2()
    x, residual, rank, values = call(lambda *t: op(*t), Tensor(a), Tensor(b))
    for i in range(3):
        wanted, _, wanted_rank, singular = np.linalg.lstsq(a[i], b[i], rcond=None)
        np.testing.assert_allclose(x.asnumpy()[i], wanted, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(values.asnumpy()[i], singular, rtol=1e-4, atol=1e-5)
        assert rank.asnumpy()[i] == wanted_rank
    np.testing.assert_allclose(residual.asnumpy()[0, 0], ((a[0] @ x.asnumpy()[0] - b[0]) ** 2).sum(), rtol=1e-4)


@pytest.mark.parametrize("groups", [1, 2, 8])
def test_weights_kept_as_integers_have_scales_for_groups_of_rows(groups, call):
    x, scale, offset = DRAW((4, 8)).astype("f"), DRAW((groups, 3)).astype("f"), DRAW((groups, 3)).astype("f")
    weight = np.random.default_rng(1).integers(-8, 8, (8, 3)).astype(np.int8)
    op = WeightQuantBatchMatmul()
    out = call(lambda *a: op(*a), Tensor(x), Tensor(weight), Tensor(scale), Tensor(offset))
    spread = [np.repeat(v, 8 // groups, 0) for v in (scale, offset)]
    np.testing.assert_allclose(out.asnumpy(), x @ ((weight + spread[1]) * spread[0]), rtol=1e-4, atol=1e-4)


def test_borders_of_a_single_image_are_its_own():
    alone = [-1] * 8
    exchange = ops.operations.comm_ops.NeighborExchangeV2(alone, [0, 1, 0, 0], alone, [0, 1, 0, 0], "NCHW")
    assert exchange(ops.ones((1, 1, 2, 2))).shape == (1, 1, 2, 2)
    with pytest.raises(ValueError, match="rectangle"):
        ops.operations.comm_ops.NeighborExchangeV2([-1, 1, -1, -1, -1, -1, -1, -1], [0] * 4, alone, [0] * 4, "NCHW")
    with pytest.raises(TypeError, match="list of ints"):
        ops.operations.comm_ops.NeighborExchangeV2(tuple(alone), [0] * 4, alone, [0] * 4, "NCHW")


def test_dropout_by_seed_and_offset_is_repeatable():
    from mindspore.ops.auto_generate import dropout_ext_op

    x = ops.ones((64, 64))
    first, mask = dropout_ext_op(x, 0.25, Tensor(1), Tensor(2))
    again, _ = dropout_ext_op(x, 0.25, Tensor(1), Tensor(2))
    other, _ = dropout_ext_op(x, 0.25, Tensor(1), Tensor(3))
    np.testing.assert_array_equal(first.asnumpy(), again.asnumpy())
    assert (first.asnumpy() != other.asnumpy()).any()
    assert 0.7 < mask.asnumpy().mean() < 0.8
    assert mask.dtype == ms.bool_
