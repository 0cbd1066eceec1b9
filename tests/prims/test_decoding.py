"""What language models decode with: packed products, attention over pages, rows reduced in one order."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn
from mindspore.backends.cpu import jit
from mindspore.prims.cached_attention import PAGE, CachedAttention
from mindspore.prims.packed_product import KINDS, PackedProduct, pack
from mindspore.prims.row_reductions import RowNorm, RowPeak

BACKENDS = ("interp", "cpu", "xla")
#: how the host packs weights; bfloat16 is accelerators' (test_row_kernels.py)
HOST = tuple(kind for kind in KINDS if kind != "bfloat16")


def normal(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def rounded(x, group, largest):
    """x with the numbers of each group on a grid of `largest` steps on either side of 0."""
    parts = x.reshape(len(x), -1, group)
    steps = np.abs(parts).max(-1, keepdims=True) / largest
    return (np.rint(parts / steps) * steps).reshape(x.shape)


def product(packed, backend="cpu", bias=None):
    op = PackedProduct(packed.outputs, packed.kind)
    weight, scales = Tensor(packed.weight), None if packed.scales is None else Tensor(packed.scales)
    shift = None if bias is None else Tensor(bias)
    ms.set_context(backend=backend)
    compiled = ms.jit(lambda x, residual: op(x, weight, scales, shift, residual))
    return lambda x, residual=None: compiled(Tensor(x), None if residual is None else Tensor(residual)).asnumpy()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", HOST)
def test_packed_product(backend, kind):
    for rows, inputs, outputs, group in ((1, 32, 5, 32), (3, 128, 48, 64), (11, 192, 130, 64)):
        x, w, b = normal(rows, rows, inputs), normal(1, outputs, inputs), normal(2, outputs)
        if kind == "int8" and inputs == 128:
            group = 128
        want = x @ w.T + b
        if kind != "float32":
            exact_x, exact_w = rounded(x, group, 127), rounded(w, group, 127)
            want = exact_x @ exact_w.T + b if kind == "int8" else exact_x @ four_bits(w, group).T + b
        multiply, residual = product(pack(w, kind), backend, b), normal(3, rows, outputs)
        np.testing.assert_allclose(multiply(x), want, atol=2e-4)
        np.testing.assert_allclose(multiply(x, residual), want + residual, atol=2e-4)


@pytest.mark.parametrize("backend", BACKENDS)
def test_product_in_16_bits(backend):
    """Both operands are rounded, sums are not."""
    x, w, b = normal(3, 3, 128), normal(1, 48, 128), normal(2, 48)
    wide = lambda a: Tensor(a).astype(ms.bfloat16).astype(ms.float32).asnumpy()
    np.testing.assert_allclose(product(pack(w, "bfloat16"), backend, b)(x), wide(x) @ wide(w).T + b, atol=2e-4)


def four_bits(w, group):
    parts = w.reshape(len(w), -1, group)
    extreme = np.take_along_axis(parts, np.abs(parts).argmax(-1, keepdims=True), -1)
    return (np.clip(np.rint(parts / (extreme / -8)), -8, 7) * (extreme / -8)).reshape(w.shape)


@pytest.mark.parametrize("kind", HOST)
@pytest.mark.parametrize("threads", (1, 2))
def test_bits_of_a_row_do_not_depend_on_others(kind, threads, monkeypatch):
    ms.set_context(runtime_num_threads=threads)
    x, packed = normal(0, 128, 256), pack(normal(1, 300, 256), kind)  # so many rows are shared out, fewer share the panels
    multiply = product(packed)
    found = multiply(x)
    for some in (slice(0, 1), slice(5, 7), slice(3, 11), slice(2, 27), slice(20, 120), slice(64, 128)):
        assert (multiply(x[some]) == found[some]).all()
    if kind != "float32":
        monkeypatch.setattr(jit, "has_vnni", lambda: False)
        assert (product(packed)(x) == found).all()


def test_not_a_number_stays_in_its_row():
    x, packed = normal(0, 3, 64), pack(normal(1, 48, 64), "int8")
    x[1, 5] = np.nan
    found = product(packed)(x)
    assert np.isnan(found[1]).all() and np.isfinite(found[[0, 2]]).all()


@pytest.mark.parametrize("kind", ("int8", "int4"))
def test_zero_rows_and_weights(kind):
    w = normal(0, 50, 64)
    w[7] = 0
    found = product(pack(w, kind))(np.concatenate([np.zeros((1, 64), np.float32), normal(1, 2, 64)]))
    assert (found[0] == 0).all() and (found[:, 7] == 0).all() and np.isfinite(found).all()


def test_refusals():
    packed = pack(normal(0, 50, 64), "int8")
    op, x = PackedProduct(50, "int8"), Tensor(normal(1, 2, 64))
    with pytest.raises(ValueError, match="'scales' must be Float32"):
        op(x, Tensor(packed.weight), None, None, None)
    with pytest.raises(ValueError, match="'weight' must be UInt8"):
        op(Tensor(normal(1, 2, 32)), Tensor(packed.weight), Tensor(packed.scales), None, None)
    with pytest.raises(ValueError, match="multiple of 16"):
        pack(normal(0, 4, 24), "int8")
    with pytest.raises(ValueError, match="one of"):
        PackedProduct(4, "int2")


class Attending(nn.Cell):
    def __init__(self, pages, heads, width, cache=ms.float32, window=0):
        super().__init__()
        self.keys = Parameter(Tensor(normal(0, pages, heads, width, PAGE), cache), name="keys")
        self.values = Parameter(Tensor(normal(1, pages, heads, PAGE, width), cache), name="values")
        self.attention = CachedAttention(0.25, window=window)

    def construct(self, q, k, v, positions, tables):
        return self.attention(q, k, v, self.keys, self.values, positions, tables)[0]


def attended(q, keys, values):
    """One query over the keys and values it sees."""
    scores = keys @ q * 0.25
    weights = np.exp(scores - scores.max())
    return weights @ values / weights.sum()


def order_of(cache, table, head, is_key):
    pages = [cache[page, head].T if is_key else cache[page, head] for page in table]
    return np.concatenate(pages)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("heads", "kv_heads", "width", "cache"), [
    (4, 2, 8, ms.float32), (6, 6, 20, ms.float32), (8, 1, 128, ms.float32), (3, 1, 64, ms.float32), (4, 2, 32, ms.float16),
])  # fmt: skip
def test_cached_attention(backend, heads, kv_heads, width, cache):
    ms.set_context(backend=backend, mode=ms.GRAPH_MODE)
    net = Attending(12, kv_heads, width, cache)
    tables = np.array([[3, 5, 0], [3, 5, 0], [7, 1, 2], [9, 0, 0]], np.int32)
    positions = np.array([20, 21, 47, 0], np.int32)  # two of one sequence, the end of a page, a beginning
    q, k, v = normal(2, 4, heads, width), normal(3, 4, kv_heads, width), normal(4, 4, kv_heads, width)
    out = net(*map(Tensor, (q, k, v, positions, tables))).asnumpy()
    keys, values = net.keys.asnumpy(), net.values.asnumpy()
    k, v = k.astype(keys.dtype), v.astype(keys.dtype)
    for row, (position, table) in enumerate(zip(positions, tables)):
        for head in range(heads):
            own = head // (heads // kv_heads)
            seen = order_of(keys, table, own, True)[: position + 1], order_of(values, table, own, False)[: position + 1]
            assert (seen[0][position] == k[row, own]).all() and (seen[1][position] == v[row, own]).all()
            want = attended(q[row, head], *(part.astype(np.float32) for part in seen))
            np.testing.assert_allclose(out[row, head], want, rtol=2e-5, atol=2e-6)
    untouched = [page for page in range(12) if page not in (5, 2, 9)]
    assert (keys[untouched] == normal(0, 12, kv_heads, width, PAGE)[untouched].astype(keys.dtype)).all()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("window", (1, 5, 16, 33))
def test_attention_within_a_window(backend, window):
    ms.set_context(backend=backend, mode=ms.GRAPH_MODE)
    net = Attending(12, 2, 8, window=window)
    tables = np.array([[3, 5, 6], [3, 5, 6], [7, 1, 2], [9, 0, 0]], np.int32)
    positions = np.array([31, 32, 47, 0], np.int32)
    q, k, v = normal(2, 4, 4, 8), normal(3, 4, 2, 8), normal(4, 4, 2, 8)
    out = net(*map(Tensor, (q, k, v, positions, tables))).asnumpy()
    keys, values = net.keys.asnumpy(), net.values.asnumpy()
    for row, (position, table) in enumerate(zip(positions, tables)):
        near = slice(max(position + 1 - window, 0), position + 1)
        for head in range(4):
            seen = order_of(keys, table, head // 2, True)[near], order_of(values, table, head // 2, False)[near]
            np.testing.assert_allclose(out[row, head], attended(q[row, head], *seen), rtol=2e-5, atol=2e-6)


def test_a_window_is_refused_where_it_is_none():
    with pytest.raises(ValueError, match="'window' must be 0 or more, but got -1"):
        CachedAttention(window=-1)


@pytest.mark.parametrize("window", (0, 1, 7, 20))
@pytest.mark.parametrize("cache", (ms.float32, ms.float16))
@pytest.mark.parametrize(("heads", "kv_heads", "width"), [(2, 2, 64), (6, 2, 16), (2, 1, 128)])
def test_rows_of_a_prompt_have_the_bits_of_rows_alone(heads, kv_heads, width, cache, window):
    """Two prompts, one of which begins in its second page, and two rows that are alone, together and row by row."""
    ms.set_context(backend="cpu", mode=ms.GRAPH_MODE)
    lengths, starts = (29, 37, 1, 1), (0, 20, 50, 3)
    tables = np.repeat([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 16]], lengths, 0).astype(np.int32)
    positions = np.concatenate([np.arange(start, start + n) for start, n in zip(starts, lengths)]).astype(np.int32)
    rows = len(positions)
    q, k, v = normal(2, rows, heads, width), normal(3, rows, kv_heads, width), normal(4, rows, kv_heads, width)
    nets = [Attending(20, kv_heads, width, cache, window) for _ in range(2)]
    together = nets[0](*map(Tensor, (q, k, v, positions, tables))).asnumpy()
    alone = [nets[1](*(Tensor(x[n : n + 1]) for x in (q, k, v, positions, tables))).asnumpy() for n in range(rows)]
    assert (together == np.concatenate(alone)).all()
    assert (nets[0].keys.asnumpy() == nets[1].keys.asnumpy()).all()
    keys, values = (net.asnumpy().astype(np.float32) for net in (nets[0].keys, nets[0].values))
    for row in (0, 15, 28, 29, 40, 66, 67):
        near = slice(max(positions[row] + 1 - window, 0) if window else 0, positions[row] + 1)
        seen = [order_of(c, tables[row], 0, n == 0)[near] for n, c in enumerate((keys, values))]
        np.testing.assert_allclose(together[row, 0], attended(q[row, 0], *seen), rtol=2e-5, atol=2e-6)


def test_a_value_that_is_not_finite_stays_out_of_earlier_rows():
    ms.set_context(backend="cpu", mode=ms.GRAPH_MODE)
    q, k, v = normal(2, 24, 1, 16), normal(3, 24, 1, 16), normal(4, 24, 1, 16)
    v[13] = np.inf
    tables = np.tile(np.array([[1, 2]], np.int32), (24, 1))
    out = Attending(4, 1, 16)(*map(Tensor, (q, k, v, np.arange(24, dtype=np.int32), tables))).asnumpy()
    assert np.isfinite(out[:13]).all() and not np.isfinite(out[13:]).any()


@pytest.mark.parametrize("backend", BACKENDS)
def test_places_outside_the_cache_are_refused(backend):
    ms.set_context(backend=backend, mode=ms.GRAPH_MODE)
    net = Attending(4, 1, 8)
    q = Tensor(normal(0, 1, 1, 8))
    for position, page in ((-1, 0), (2 * PAGE, 0), (0, 4), (0, -1)):
        before = net.keys.asnumpy().copy()
        with pytest.raises(IndexError):
            net(q, q, q, Tensor([position], ms.int32), Tensor([[page, 0]], ms.int32))
        assert (net.keys.asnumpy() == before).all()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("width", (7, 50, 768))
def test_row_reductions(backend, width):
    ms.set_context(backend=backend)
    x, scale, shift = normal(0, 5, width) * 3, normal(1, width), normal(2, width)
    centred = x - x.mean(-1, keepdims=True)
    for values, is_centred in ((x, False), (centred, True)):
        want = values / np.sqrt((values**2).mean(-1, keepdims=True) + 1e-3) * scale
        norm = ms.jit(lambda x, scale, shift, op=RowNorm(1e-3, is_centred): op(x, scale, shift))
        found = norm(Tensor(x), Tensor(scale), Tensor(shift)).asnumpy()
        np.testing.assert_allclose(found, want + shift, rtol=1e-5, atol=1e-5)
        if backend == "cpu":
            assert (norm(Tensor(x[2:3]), Tensor(scale), Tensor(shift)).asnumpy() == found[2:3]).all()
        np.testing.assert_allclose(norm(Tensor(x), Tensor(scale), None).asnumpy(), want, rtol=1e-5, atol=1e-5)
    x[0, [2, width - 1]] = 20.0  # of two that are equal the first counts
    peak = ms.jit(lambda x: RowPeak()(x))
    places, totals = peak(Tensor(x))
    assert places.asnumpy().tolist() == x.argmax(-1).tolist()
    np.testing.assert_allclose(totals.asnumpy(), np.log(np.exp(x.astype(np.float64)).sum(-1)), rtol=1e-6)


@pytest.mark.parametrize("kind", HOST)
def test_a_transposed_weight_is_packed_as_its_copy(kind):
    weight = normal(0, 64, 100).T
    found, want = pack(weight, kind), pack(np.ascontiguousarray(weight), kind)
    assert (found.weight == want.weight).all()
    assert kind == "float32" or (found.scales == want.scales).all()
