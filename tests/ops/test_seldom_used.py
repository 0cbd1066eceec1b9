"""Operations that few scripts use: assertions, keys of tables, random crops, choices of blocks, Adafactor's step."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, jit, ops

RNG = np.random.default_rng(7)


@pytest.mark.parametrize("backend", ["interp", "xla", "cpu"])
def test_assert(backend):
    ms.set_context(backend=backend)
    try:
        checked = jit(lambda x: ops.depend(x + 1, ops.Assert(2)(x.sum() > 0, [x, x * 2])))
        np.testing.assert_array_equal(checked(Tensor([1.0, 2.0, 3.0])).asnumpy(), [2, 3, 4])
        with pytest.raises(RuntimeError, match="assert failed"):
            checked(Tensor([-1.0, -2.0, -3.0])).asnumpy()
    finally:
        ms.set_context(backend="")
    assert ops.Assert()(Tensor([True, True]), [Tensor([1])]) is None
    with pytest.raises(RuntimeError, match=r"input data: \[1 2\]"):
        ops.Assert(2)(False, [Tensor([1, 2, 3])])
    for call in (lambda: ops.Assert("3"), lambda: ops.Assert()(3, [Tensor(1)]), lambda: ops.Assert()(True, Tensor(1))):
        with pytest.raises(TypeError, match="Assert"):
            call()


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (5,)])
@pytest.mark.parametrize("scale, moment, decay", [(False, False, False), (True, True, True), (False, True, False)])
def test_fused_ada_factor(shape, scale, moment, decay):
    param, mean, square, grad = (RNG.uniform(0.1, 1, shape).astype(np.float32) for _ in range(4))
    row, col = (RNG.uniform(0.1, 1, s or (1,)).astype(np.float32) for s in (shape[:-1], shape[:-2] + shape[-1:]))
    if len(shape) == 1:
        row, col = np.zeros(1, np.float32), np.zeros(1, np.float32)
    kept = [Parameter(Tensor(v), name=str(i)) for i, v in enumerate((param, mean, row, col, square))]
    for kind, norm in ((ops.FusedAdaFactor, ()), (ops.FusedAdaFactorWithGlobalNorm, (2.0,))):
        before = [p.asnumpy().astype(np.float64) for p in kept]
        kind(scale, moment, decay)((1e-3, 1e-2), 1.0, 0.9, 0.8, 0.1, 0.03, Tensor(grad), *kept, *norm)
        wanted = _adafactor(grad.astype(np.float64) / (norm or (1.0,))[0], *before, scale, moment, decay)
        for p, w in zip(kept, wanted):
            np.testing.assert_allclose(p.asnumpy(), w, rtol=2e-5, atol=1e-6)


def _adafactor(grad, param, mean, row, col, square, scale, moment, decay):
    rms = lambda x: np.sqrt((x**2).mean())
    rate = 0.03 * max(1e-2, rms(param)) if scale else 0.03
    if param.ndim > 1:
        row = 0.8 * row + 0.2 * (grad**2 + 1e-3).mean(-1)
        col = 0.8 * col + 0.2 * (grad**2 + 1e-3).mean(-2)
        second = row[..., :, None] * col[..., None, :] / row.mean(-1)[..., None, None]
    else:
        square = second = 0.8 * square + 0.2 * (grad**2 + 1e-3)
    update = grad / np.sqrt(second)
    update = rate * update / max(1.0, rms(update))
    if moment:
        mean = update = 0.9 * mean + 0.1 * update
    return param * (1 - rate * 0.1 if decay else 1) - update, mean, row, col, square


def test_fused_ada_factor_refuses_wrong_shapes():
    p = [Parameter(Tensor(np.ones(s, np.float32)), name=str(i)) for i, s in enumerate(((2, 3), (2, 3), 2, 2, (2, 3)))]
    with pytest.raises(ValueError, match="exp_avg_sq_col"):
        ops.FusedAdaFactor()((1e-3, 1e-2), 1.0, 0.9, 0.8, 0.1, 0.03, Tensor(np.ones((2, 3), np.float32)), *p)


def test_keys_and_hits():
    rows, ids, weights = ops.ComputeAccidentalHits(2)(Tensor([[1, 2], [0, 4], [3, 3]]), Tensor([0, 1, 2, 3, 4]))
    assert rows.tolist() == [0, 0, 1, 1, 2, 2] and ids.tolist() == [1, 2, 0, 4, 3, 3]
    assert (weights.asnumpy() == np.finfo(np.float32).min).all()
    kept, places = ops.SubAndFilter()(Tensor([1, 3, 5, 8, 9, 16], ms.int32), 10, 5)
    assert kept.tolist() == [0, 3, 4] and places.tolist() == [2, 3, 4]
    assert ops.MapUniform()(Tensor(np.arange(8)), 4, 2).tolist() == [0, 4, 1, 5, 2, 6, 3, 7]
    with pytest.raises(ValueError, match="true_classes"):
        ops.ComputeAccidentalHits(3)(Tensor([[1, 2]]), Tensor([0]))


def test_random_crops_cover_the_object():
    box = np.array([[[0.2, 0.3, 0.6, 0.7]]], np.float32)
    op = ops.SampleDistortedBoundingBoxV2(aspect_ratio_range=(0.5, 2.0), area_range=(0.3, 0.9))
    found = set()
    for _ in range(20):
        begin, size, out = op(Tensor([40, 50, 3], ms.int32), Tensor(box), Tensor([0.5], ms.float32))
        (top, left, _), (high, wide, rest) = begin.asnumpy(), size.asnumpy()
        assert rest == -1 and 0 <= top <= top + high <= 40 and 0 <= left <= left + wide <= 50
        np.testing.assert_allclose(
            out.asnumpy().reshape(4), [top / 40, left / 50, (top + high) / 40, (left + wide) / 50]
        )
        common = (min(24, top + high) - max(8, top)) * (min(35, left + wide) - max(15, left))
        assert common >= 0.5 * 16 * 20 - 1e-6 and 0.3 <= high * wide / 2000 <= 0.9
        found.add((top, left, high, wide))
    assert len(found) > 1
    seeded = [
        ops.SampleDistortedBoundingBoxV2(seed=3)(Tensor([9, 9, 3]), Tensor(box), Tensor([0.1]))[2] for _ in range(2)
    ]
    np.testing.assert_array_equal(seeded[0].asnumpy(), seeded[1].asnumpy())
    nothing = Tensor(np.zeros((1, 0, 4), np.float32))
    with pytest.raises(ValueError, match="no bounding boxes"):
        op(Tensor([40, 50, 3]), nothing, Tensor([0.5]))
    assert ops.SampleDistortedBoundingBoxV2(use_image_if_no_bounding_boxes=True)(
        Tensor([40, 50, 3]), nothing, Tensor([0.1])
    )[2].shape == (1, 1, 4)


@pytest.mark.parametrize(
    "name, method", [("lanczos3", "lanczos3"), ("lanczos5", "lanczos5"), ("keyscubic", "cubic"), ("triangle", "linear")]
)
def test_scale_and_translate(name, method):
    image = pytest.importorskip("jax.image")
    x = RNG.normal(size=(1, 6, 7, 2)).astype(np.float32)
    for scale, shift in (((0.5, 2.0), (0.3, -1.0)), ((1.7, 0.9), (-0.4, 0.6))):
        found = ops.ScaleAndTranslate(name)(Tensor(x), Tensor([4, 5], ms.int32), Tensor(scale), Tensor(shift))
        wanted = image.scale_and_translate(x, (1, 4, 5, 2), (1, 2), np.float32(scale), np.float32(shift), method)
        np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-4, atol=1e-4)


def test_filters_of_scale_and_translate():
    """Numbers of official MindSpore."""
    x = Tensor(np.arange(30).reshape(1, 5, 6, 1).astype(np.float32))
    wanted = {
        ("gaussian", True): [3.0542307, 3.5609117, 4.009667, 4.560911],
        ("box", True): [0.0, 1.0, 1.0, 2.0],
        ("mitchellcubic", False): [0.31304955, 0.81622654, 1.3416755, 1.8416758],
    }
    for settings, row in wanted.items():
        out = ops.ScaleAndTranslate(*settings)(x, Tensor([3, 4], ms.int32), Tensor([0.5, 2.0]), Tensor([0.3, -1.0]))
        np.testing.assert_allclose(out.asnumpy()[0, 0, :, 0], row, rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError, match="kernel_type"):
        ops.ScaleAndTranslate("square")(x, Tensor([3, 4]), Tensor([1.0, 1.0]), Tensor([0.0, 0.0]))


def test_glimpses_with_noise_and_settings():
    x = Tensor(np.arange(60).reshape(2, 5, 6, 1).astype(np.float32))
    size = Tensor([3, 4], ms.int32)
    out = ops.ExtractGlimpse(True, True, False, "zero")(x, size, Tensor([[0.3, -0.4], [1.2, 0.9]]))
    np.testing.assert_array_equal(out.asnumpy()[0, :, :, 0], [[6, 7, 8, 9], [12, 13, 14, 15], [18, 19, 20, 21]])
    np.testing.assert_array_equal(out.asnumpy()[1, :, :, 0], [[57, 58, 59, 0], [0] * 4, [0] * 4])
    for noise in ("uniform", "gaussian"):
        beyond = ops.ExtractGlimpse(False, False, False, noise)(x, size, Tensor([[20.0, 20.0], [2.5, 3.0]])).asnumpy()
        assert np.unique(beyond[0]).size == 12 and (beyond[1, 0, 0] == 37)
    with pytest.raises(ValueError, match="noise"):
        ops.ExtractGlimpse(noise="zero")(x, size, Tensor([[0.0, 0.0], [0.0, 0.0]]))


def test_blocks_that_matter_most():
    q, k = RNG.normal(size=(3, 4, 8)).astype(np.float32), RNG.normal(size=(6, 2, 8)).astype(np.float32)
    hidden = np.zeros((3, 3), bool)
    hidden[:, 1] = True
    out = ops.nsa_compress_attention(
        Tensor(q), Tensor(k), Tensor(k), 0.5, 4, 2, 1, 2, 2, topk_mask=Tensor(hidden), actual_seq_qlen=(3,),
        actual_cmp_seq_kvlen=(6,), actual_sel_seq_kvlen=(3,),
    )  # fmt: skip
    for t in range(3):
        for n in range(2):
            scores = 0.5 * q[t, 2 * n : 2 * n + 2] @ k[:, n].T
            p = (np.exp(scores) / np.exp(scores).sum(1, keepdims=True)).sum(0)
            at = lambda i, p=p: p[i] if 0 <= i < 6 else 0.0
            blocks = [sum(at(2 * j - m - i) for m in range(2) for i in range(2)) for j in (0, 2)]
            assert out[1].asnumpy()[t, n].tolist() == ([0, 2] if blocks[0] > blocks[1] else [2, 0])
            np.testing.assert_allclose(out[2].asnumpy()[t, 2 * n, 0], scores[0].max(), rtol=1e-5)
            np.testing.assert_allclose(
                out[3].asnumpy()[t, 2 * n, 3], np.exp(scores[0] - scores[0].max()).sum(), rtol=1e-5
            )


def test_keys_in_pages():
    """Keys in blocks, found through a table, are the same as keys in a row."""
    q = Tensor(RNG.normal(size=(2, 2, 4, 8)).astype(np.float32))
    pages = RNG.normal(size=(6, 2, 1, 8)).astype(np.float32)
    table, lengths = np.array([[3, 0, 5], [1, 4, -1]], np.int32), np.array([5, 3], np.int32)
    w = Tensor(RNG.uniform(size=(2, 2, 4)).astype(np.float32))
    paged = {"block_table": Tensor(table), "layout_query": "BSND"}
    found, values = ops.lightning_indexer(
        q,
        Tensor(pages),
        w,
        actual_seq_lengths_key=Tensor(lengths),
        layout_key="PA_BSND",
        sparse_count=4,
        return_value=True,
        **paged,
    )
    chosen = Tensor(np.array([[[[0, 4]], [[2, 1]]], [[[1, 0]], [[2, -1]]]], np.int32))
    out, top, total = ops.sparse_flash_attention(
        q,
        Tensor(pages),
        Tensor(pages),
        chosen,
        0.5,
        actual_seq_lengths_kv=Tensor(lengths),
        layout_kv="PA_BSND",
        **paged,
    )
    for b in range(2):
        keys = pages[np.maximum(table[b], 0)].reshape(-1, 1, 8)[: lengths[b]]
        one, k = q[b : b + 1], Tensor(keys[None])
        alone, sums = ops.lightning_indexer(one, k, w[b : b + 1], sparse_count=4, return_value=True)
        np.testing.assert_array_equal(found.asnumpy()[b], alone.asnumpy()[0])
        np.testing.assert_allclose(values.asnumpy()[b], sums.asnumpy()[0], rtol=1e-5)
        for x, y in zip((out, top, total), ops.sparse_flash_attention(one, k, k, chosen[b : b + 1], 0.5)):
            np.testing.assert_allclose(x.asnumpy()[b], y.asnumpy()[0], rtol=1e-5, atol=1e-6)
    packed = ops.lightning_indexer(
        q.reshape((4, 4, 8)), Tensor(pages.reshape(12, 1, 8)), w.reshape((4, 4)), layout_query="TND", layout_key="TND",
        actual_seq_lengths_query=(2, 4), actual_seq_lengths_key=(6, 12), sparse_count=2,
    )[0]  # fmt: skip
    first = ops.lightning_indexer(q[:1], Tensor(pages.reshape(2, 6, 1, 8)[:1]), w[:1], sparse_count=2)[0]
    np.testing.assert_array_equal(packed.asnumpy()[:2], first.asnumpy()[0])
    with pytest.raises(ValueError, match="block_table"):
        ops.lightning_indexer(q, Tensor(pages), w, layout_key="PA_BSND")


def test_transducer_gradient_is_returned():
    acts = RNG.normal(size=(2, 3, 3, 4)).astype(np.float32)
    rest = (Tensor([[1, 2], [3, 3]], ms.int32), Tensor([3, 2], ms.int32), Tensor([2, 1], ms.int32))
    _, grads = ops.RNNTLoss()(Tensor(acts), *rest)
    wanted = ms.grad(lambda a: ops.RNNTLoss()(a, *rest)[0].sum())(Tensor(acts))
    np.testing.assert_allclose(grads.asnumpy(), wanted.asnumpy(), rtol=1e-5, atol=1e-6)
    assert np.abs(grads.asnumpy()[1, 2]).max() == 0  # beyond the second input's length
    for bad in (lambda: ops.RNNTLoss(9)(Tensor(acts), *rest), lambda: ops.RNNTLoss()(Tensor(acts), rest[1], *rest[1:])):
        with pytest.raises(ValueError, match="RNNTLoss"):
            bad()


def test_experts_of_other_processes_are_refused():
    x, experts = Tensor(np.ones((2, 3), np.float32)), Tensor([[0], [1]], ms.int32)
    with pytest.raises(ValueError, match="one process"):
        ops.moe_distribute_dispatch(x, experts, 8, 0, 8)
    with pytest.raises(ValueError, match="expert_scales"):
        ops.moe_distribute_combine(x, experts, experts, experts, Tensor(np.ones((2, 2), np.float32)), 1, 0, 2)


def test_no_warnings_escape(recwarn):
    scores = Tensor(RNG.integers(0, 9, (3, 2, 4)).astype(np.uint8))
    assert ops.ctc_greedy_decoder(scores, Tensor([3, 3], ms.int32))[3].dtype == ms.uint8
    with pytest.raises(TypeError, match="real elements"):
        ops.histogram_fixed_width(Tensor([1 + 2j, 3j]), Tensor([0.0, 5.0]), 3)
    assert not recwarn.list
