"""The oneDNN binding: descriptions, layouts, primitives, statuses."""

from __future__ import annotations

import numpy as np
import pytest

from mindspore.backends.cpu import available

if not available():
    pytest.skip("oneDNN is not installed", allow_module_level=True)

from mindspore.backends.cpu import dnnl

F = "float32"


def memory(desc: dnnl.Desc, array: np.ndarray) -> dnnl.Memory:
    return dnnl.Memory(desc, array.ctypes.data)


def test_descriptions():
    plain = dnnl.Desc.strided((2, 3, 4), F)
    assert plain.shape == (2, 3, 4)
    assert plain.strides == (12, 4, 1)
    assert plain.nbytes == 96
    assert plain == dnnl.Desc.strided((2, 3, 4), F, (12, 4, 1))
    assert plain != dnnl.Desc.strided((2, 3, 4), F, (1, 2, 6))
    blocked = dnnl.Desc.tagged((1, 20, 2, 2), F, "aBcd8b")
    assert blocked.blocks == ((1, 8),)
    assert blocked.padded_shape == (1, 24, 2, 2)
    assert blocked.nbytes == 24 * 4 * 4


def test_reorder_there_and_back():
    x = np.random.default_rng(0).standard_normal((2, 20, 3, 3)).astype(np.float32)
    plain, blocked = dnnl.Desc.strided(x.shape, F), dnnl.Desc.tagged(x.shape, F, "aBcd8b")
    middle, back = np.empty(blocked.nbytes // 4, np.float32), np.empty_like(x)
    dnnl.reorder(plain, blocked).run({dnnl.SRC: memory(plain, x), dnnl.DST: memory(blocked, middle)})
    dnnl.reorder(blocked, plain).run({dnnl.SRC: memory(blocked, middle), dnnl.DST: memory(plain, back)})
    np.testing.assert_array_equal(back, x)


def test_product_with_strides():
    rng = np.random.default_rng(0)
    a, b, c = (
        rng.standard_normal((5, 7)).astype(np.float32),
        rng.standard_normal((9, 7)).astype(np.float32),
        np.empty((5, 9), np.float32),
    )
    descs = dnnl.Desc.strided((5, 7), F), dnnl.Desc.strided((7, 9), F, (1, 7)), dnnl.Desc.strided((5, 9), F)
    op = dnnl.matmul(*descs)
    op.run({dnnl.SRC: memory(descs[0], a), dnnl.WEIGHTS: memory(descs[1], b), dnnl.DST: memory(descs[2], c)})
    np.testing.assert_allclose(c, a @ b.T, rtol=1e-5)


def test_post_operations():
    a, b, c = np.full((2, 3), -1, np.float32), np.ones((3, 2), np.float32), np.full((2, 2), 5, np.float32)
    descs = [dnnl.Desc.strided(x.shape, F) for x in (a, b, c)]
    op = dnnl.matmul(*descs, post_ops=(("sum",), ("relu",)))
    op.run({dnnl.SRC: memory(descs[0], a), dnnl.WEIGHTS: memory(descs[1], b), dnnl.DST: memory(descs[2], c)})
    np.testing.assert_array_equal(c, np.full((2, 2), 2))


def test_mistakes_are_errors_not_crashes():
    with pytest.raises(dnnl.DnnlError, match="matrix product"):
        dnnl.matmul(dnnl.Desc.strided((2, 3), F), dnnl.Desc.strided((4, 5), F), dnnl.Desc.strided((2, 5), F))
    with pytest.raises(dnnl.DnnlError):
        dnnl.Desc.tagged((2, 3), F, "nonsense")


def test_no_reference_implementations():
    """They are orders of magnitude slower, and must be refused."""
    x, w, y = (dnnl.Desc.any(s, F) for s in ((2, 6, 14, 14), (16, 6, 5, 5), (2, 16, 10, 10)))
    convolution = dnnl.Convolution(dnnl.Window((1, 1), (1, 1), (0, 0), (0, 0)))
    for op in (
        convolution.forward(x, w, y),
        convolution.backward_data(x, w, y, (x, w, y)),
        convolution.backward_weights(x, w, y, (x, w, y)),
    ):
        assert "ref" not in op.implementation
