"""Indexing, gathering and scattering against NumPy, in both modes."""

# ruff: noqa: E501, B023 - one case per line

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from op_harness import check

import mindspore as ms
from mindspore import Parameter, Tensor, ops

RNG = np.random.default_rng(4)
X = RNG.normal(size=(3, 4, 5))
I = np.array([2, 0, 2])
J = np.array([[1, 0, 3]])

INDICES = [
    0, -1, slice(1, 3), slice(None, None, -2), None, Ellipsis, (0, 1), (slice(None), 2), (Ellipsis, 1), (None, 1, ...),
    (slice(0, 2), None, slice(1, None, 2)), I, [0, 2], (I, J), (slice(None), I[:2]), (0, slice(None), [4, 0]),
    ([0, 1], slice(1, 3), [2, 2]), (I, slice(None), 1), (Ellipsis, J), X > 0, (X[:, :, 0] > 0), (slice(None), np.array([True, False, True, True])),
    (slice(3, 1),), [], (1, [True, False, False, True]),
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=[str(i) for i in range(len(INDICES))])
def test_getitem_and_setitem(index):
    check(lambda x: x[index], lambda x: x[index], X, grad=1)
    value = RNG.normal(size=np.shape(X[index]))

    def assign(x, v):
        y = x * 1.0
        y[index] = v
        return y * 2

    def oracle(x, v):
        y = x.copy()
        y[index] = v
        return y * 2

    unique = not isinstance(index, (np.ndarray, tuple)) or index is not I
    if unique and index is not INDICES[13] and index is not INDICES[17] and index is not INDICES[16]:
        check(assign, oracle, X, value, grad=1)
    check(lambda x: assign(x, 7.5), lambda x: oracle(x, 7.5), X, grad=1)


bounds = st.one_of(st.none(), st.integers(-5, 5))
part = st.one_of(
    st.integers(-3, 2), st.builds(slice, bounds, bounds, st.sampled_from([None, 1, 2, -1, -2])), st.none(),
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(st.lists(part, max_size=4))
def test_basic_indices_agree_with_numpy(parts):
    x, index = np.arange(60.0).reshape(3, 4, 5), tuple(parts)
    try:
        expected = x[index]
    except IndexError:
        with pytest.raises(IndexError):
            Tensor(x)[index]
        return
    np.testing.assert_array_equal(Tensor(x)[index].asnumpy(), expected)


def test_tensors_as_indices():
    x = Tensor(X)
    assert np.array_equal(x[Tensor(1)].asnumpy(), X[1])
    assert np.array_equal(x[Tensor(I)].asnumpy(), X[I])
    assert np.array_equal(x[x > 0].asnumpy(), X[X > 0])
    assert np.array_equal(x[Tensor(0), 1:, Tensor(2)].asnumpy(), X[0, 1:, 2])
    assert x[True].shape == (1, 3, 4, 5) and x[False].shape == (0, 3, 4, 5)


def test_indices_known_only_to_the_graph():
    f = ms.jit(lambda x, i: x[i])
    assert np.array_equal(f(Tensor(X), Tensor(I)).asnumpy(), X[I])
    assert np.array_equal(ms.jit(lambda x: x[x > 0])(Tensor(X)).asnumpy(), X[X > 0])

    @ms.jit
    def through_mask(x, v):
        y = x * 1
        y[y > 0] = v
        return y

    expected = X.copy()
    expected[X > 0] = 0.5
    assert np.array_equal(through_mask(Tensor(X), Tensor(0.5)).asnumpy(), expected)
    rows = ms.jit(lambda x, m, v: _write_rows(x, m, v))
    mask = np.array([True, False, True])
    expected = X.copy()
    expected[mask] = X[:2] * 3
    np.testing.assert_allclose(rows(Tensor(X), Tensor(mask), Tensor(X[:2] * 3)).asnumpy(), expected)


def _write_rows(x, m, v):
    y = x * 1
    y[m] = v
    return y


def test_setitem_leaves_other_tensors_alone():
    """Views (tests/runtime/test_views.py) are parts of the tensor; what was computed or copied of it is not."""
    x = Tensor(X)
    others = [x[0] + 0, x.copy(), x[[0]]]
    x[0] = 9.0
    assert not any(np.any(other.asnumpy() == 9) for other in others) and np.all(x[0].asnumpy() == 9)


@pytest.mark.parametrize(
    "fn,error",
    [
        (lambda x: x[3], IndexError), (lambda x: x[0, 0, 0, 0], IndexError), (lambda x: x["a"], IndexError),
        (lambda x: x[1.5], IndexError), (lambda x: x[Tensor([0.5])], IndexError), (lambda x: x[[5]], IndexError),
        (lambda x: x.__setitem__(0, Tensor(np.ones(7))), ValueError), (lambda x: x.__setitem__(0, "a"), TypeError),
        (lambda x: x[..., ...], IndexError),
    ],
)  # fmt: skip
def test_bad_indices(fn, error):
    with pytest.raises(error):
        fn(Tensor(X))


# -- gather and scatter -------------------------------------------------------------------------------------------------
D = RNG.integers(0, 4, (3, 2, 5))
ND = np.array([[0, 1], [2, 3], [0, 1]])
U = RNG.normal(size=(3, 5))

GATHER = [
    ("gather", lambda x, i: ops.gather(x, i, 1), lambda x, i: x[:, i], (X, J)),
    ("gather_axis0", lambda x, i: ops.gather(x, i, 0), lambda x, i: x[i], (X, I)),
    ("gather_scalar", lambda x: ops.gather(x, Tensor(2), -1), lambda x: x[..., 2], (X,)),
    ("gather_batch", lambda x, i: ops.gather(x, i, 1, 1), lambda x, i: np.stack([a[b] for a, b in zip(x, i)]), (X, RNG.integers(0, 4, (3, 2)))),
    ("gather_batch2", lambda x, i: ops.gather(x, i, 2, 1), lambda x, i: np.stack([a[:, b] for a, b in zip(x, i)]), (X, RNG.integers(0, 5, (3, 2, 2)))),
    ("gather_elements", lambda x, i: ops.gather_elements(x, 1, i), lambda x, i: np.take_along_axis(x, i, 1), (X, D)),
    ("gather_smaller", lambda x, i: ops.gather_d(x, 1, i), lambda x, i: np.take_along_axis(x[:2], i, 1), (X, D[:2])),
    ("gather_nd", ops.gather_nd, lambda x, i: x[i[:, 0], i[:, 1]], (X, ND)),
    ("index_select", lambda x, i: ops.index_select(x, 2, i), lambda x, i: x[..., i], (X, I)),
    ("scatter_nd", lambda u, i: ops.scatter_nd(i, u, (3, 4, 5)), lambda u, i: _added(np.zeros((3, 4, 5)), i, u), (U, ND)),
    ("tensor_scatter_add", ops.tensor_scatter_add, lambda x, i, u: _added(x, i, u), (X, ND, U)),
    ("tensor_scatter_sub", ops.tensor_scatter_sub, lambda x, i, u: _added(x, i, -u), (X, ND, U)),
    ("tensor_scatter_update", ops.tensor_scatter_update, lambda x, i, u: _at(x, i, u), (X, ND[:2], U[:2])),
    ("tensor_scatter_max", ops.tensor_scatter_max, lambda x, i, u: _ufunc_at(np.maximum, x, i, u), (X, ND, U)),
    ("tensor_scatter_min", ops.tensor_scatter_min, lambda x, i, u: _ufunc_at(np.minimum, x, i, u), (X, ND, U)),
    ("tensor_scatter_mul", ops.tensor_scatter_mul, lambda x, i, u: _ufunc_at(np.multiply, x, i, u), (X, ND, U)),
    ("tensor_scatter_div", ops.tensor_scatter_div, lambda x, i, u: _ufunc_at(np.divide, x, i, u), (X, ND, np.abs(U) + 1)),
    ("elements_add", lambda x, i, u: ops.tensor_scatter_elements(x, i, u, 1, "add"), lambda x, i, u: _along(x, i, u), (X, D, RNG.normal(size=(3, 2, 5)))),
    ("index_add", lambda x, y: ops.index_add(x, Tensor(I), y, 1), lambda x, y: _index_added(x, I, y), (X, RNG.normal(size=(3, 3, 5)))),
    ("index_fill", lambda x: ops.index_fill(x, 1, Tensor([0, 2]), 5.0), lambda x: _filled(x), (X,)),
    ("select_scatter", lambda x, s: ops.select_scatter(x, s, 1, 2), lambda x, s: np.concatenate([x[:, :2], s[:, None], x[:, 3:]], 1), (X, U)),
    ("diagonal_scatter", lambda x, s: ops.diagonal_scatter(x, s), lambda x, s: x + np.diag(s - np.diag(x)), (X[0, :4, :4], RNG.normal(size=4))),
    ("masked_scatter", lambda x, s: ops.masked_scatter(x, x > 0, s), lambda x, s: _masked(x, s), (X[0], RNG.normal(size=20))),
    ("segment_sum", lambda x: ops.unsorted_segment_sum(x, Tensor([1, -1, 1]), 3), lambda x: np.stack([0 * x[0], x[0] + x[2], 0 * x[0]]), (X,)),
    ("segment_max", lambda x: ops.unsorted_segment_max(x, Tensor([0, 0, 1]), 2), lambda x: np.stack([x[:2].max(0), x[2]]), (X,)),
    ("segment_prod", lambda x: ops.unsorted_segment_prod(x, Tensor([0, 0, 1]), 2), lambda x: np.stack([x[:2].prod(0), x[2]]), (X,)),
    ("reverse_sequence", lambda x: ops.reverse_sequence(x, Tensor([1, 3, 2]), 1), lambda x: np.stack([np.concatenate([a[:n][::-1], a[n:]]) for a, n in zip(x, (1, 3, 2))]), (X,)),
    ("take", lambda x: ops.take(x, Tensor([7, 1])), lambda x: x.ravel()[[7, 1]], (X,)),
]  # fmt: skip


def _at(x, i, u):
    out = x.copy()
    out[i[:, 0], i[:, 1]] = u
    return out


def _ufunc_at(ufunc, x, i, u):
    out = x.copy()
    ufunc.at(out, (i[:, 0], i[:, 1]), u)
    return out


def _added(x, i, u):
    return _ufunc_at(np.add, x, i, u)


def _along(x, i, u):
    out = x.copy()
    for place in np.ndindex(*i.shape):
        out[place[0], i[place], place[2]] += u[place]
    return out


def _index_added(x, i, y):
    out = x.copy()
    np.add.at(out, (slice(None), i), y)
    return out


def _filled(x):
    out = x.copy()
    out[:, [0, 2]] = 5
    return out


def _masked(x, s):
    out = x.copy()
    out[x > 0] = s[: (x > 0).sum()]
    return out


@pytest.mark.parametrize("name,fn,oracle,args", GATHER, ids=[g[0] for g in GATHER])
def test_gather_scatter(name, fn, oracle, args):
    check(fn, oracle, *args, grad=1)


def test_scatter_into_parameters_in_both_modes():
    def run(p, i, u):
        ops.scatter_add(p, i, u)
        ops.ScatterNdUpdate()(p, Tensor([[0]]), u[:1] * 10)
        return p * 1

    for wrap in (lambda f: f, ms.jit):
        p = Parameter(Tensor(np.zeros((3, 2), np.float32)), name="p")
        out = wrap(lambda i, u: run(p, i, u))(Tensor([1, 1]), Tensor(np.ones((2, 2), np.float32)))
        assert out.tolist() == p.asnumpy().tolist() == [[10, 10], [2, 2], [0, 0]]


def test_one_hot():
    check(lambda i: ops.one_hot(i, 4), lambda i: np.eye(4, dtype=np.int64)[i], I, grad=0)
    check(
        lambda i: ops.one_hot(i, 4, 2.0, -1.0, 0),
        lambda i: np.where(np.eye(4)[i].T, 2.0, -1.0).astype(np.float32),
        I,
        grad=0,
    )
    check(lambda i: ops.OneHot()(i, 3, Tensor(1.0), Tensor(0.0)), lambda i: np.eye(3, dtype=np.float32)[i], I, grad=0)


@pytest.mark.parametrize(
    "fn,error,words",
    [
        (lambda x: ops.gather(x, Tensor([9]), 0), IndexError, "range"),
        (lambda x: ops.gather(x, Tensor([0.5]), 0), TypeError, "input_indices"),
        (lambda x: ops.gather_elements(x, 0, Tensor([0])), ValueError, "dimensions"),
        (lambda x: ops.gather_nd(x, Tensor([[0, 0, 0, 0]])), ValueError, "rank"),
        (lambda x: ops.tensor_scatter_add(x, Tensor([[0]]), Tensor(np.ones(3))), ValueError, "updates"),
        (lambda x: ops.tensor_scatter_elements(x, Tensor(D), Tensor(1.0), 1, "mean"), ValueError, "reduction"),
        (lambda x: ops.index_add(x, Tensor([0]), x, 0), ValueError, "index_add"),
    ],
)
def test_bad_gathers(fn, error, words):
    with pytest.raises(error, match=words):
        fn(Tensor(X))


@pytest.mark.parametrize("index", [(slice(0, 2), True, ...), (True, slice(None)), (..., True), (True,)])
def test_true_among_slices_is_a_new_dimension(index):
    array = np.arange(24, dtype=np.float32).reshape(4, 6)
    np.testing.assert_array_equal(Tensor(array)[index].asnumpy(), array[index])
    np.testing.assert_array_equal(ms.jit(lambda x: x[index])(Tensor(array)).asnumpy(), array[index])


BOOLS = [(True, [0, 1]), ([0, 1], True), (0, True, None), ([1], False), (True, True), (True, slice(0, 2), 1), (Ellipsis, True, 2),
         ([0, 1], slice(None), True), (np.array([0, 1, 1]), np.array([2, 0, 1]), True), (False, 1)]  # fmt: skip


@pytest.mark.parametrize("index", BOOLS, ids=str)
@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_bools_among_other_parts_are_masks_without_dimensions(index, mode):
    data = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    ours = tuple(Tensor(part) if isinstance(part, np.ndarray) else part for part in index)
    read = (lambda x: x[ours]) if mode == ms.PYNATIVE_MODE else ms.jit(lambda x: x[ours])
    np.testing.assert_array_equal(read(Tensor(data)).asnumpy(), data[index])
    x = Tensor(data)
    x[ours] = 7.0
    data[index] = 7.0
    np.testing.assert_array_equal(x.asnumpy(), data)


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize(
    "parts",
    [
        ([0, 1], [1, 0]), (np.array([0, 1]), np.array([1, 0])), (np.array([True, False]), 0), (slice(0, 1), 1), (None, 0), (Ellipsis, 0),
        (np.array([0, 1]), 2), (np.array([True, False]), np.array([True, False, True])), (np.array(1), np.array(0)), ([0, 1], 1), ([1],),
    ],
)  # fmt: skip
def test_a_list_of_more_than_numbers_has_a_part_for_each_dimension(parts, mode):
    """As in official MindSpore and PyTorch; NumPy says so of the tuple."""
    ms.set_context(mode=mode)
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    index = [Tensor(part) if isinstance(part, np.ndarray) else part for part in parts]
    found = ms.jit(lambda x: x[index])(Tensor(array)) if mode == ms.GRAPH_MODE else Tensor(array)[index]
    np.testing.assert_array_equal(found.asnumpy(), array[parts])
    x = Tensor(array)
    x[index] = 9.0
    array[parts] = 9
    np.testing.assert_array_equal(x.asnumpy(), array)


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize(
    "key",
    [
        lambda m: m((3,)), lambda m: m((1,)), lambda m: (Ellipsis, m((3,))), lambda m: (slice(None), m((1, 3))), lambda m: (0, m((3,))),
        lambda m: (Ellipsis, m((2, 3))), lambda m: m((2, 1)), lambda m: (Ellipsis, m((3, 2)), 0), lambda m: m((2, 2, 3, 2, 1)),
        lambda m: (None, m((1,))), lambda m: [True],
    ],
)  # fmt: skip
def test_masks_that_do_not_fit_are_refused(key, value, mode):
    """Also where all that is true happens to lie within the tensor, and where nothing is."""

    def mask(shape):
        whole = np.zeros(shape, bool)
        whole.reshape(-1)[0] = value
        return whole

    array = np.zeros((2, 2, 3, 2), np.float32)
    with pytest.raises(IndexError):
        array[key(mask)]
    of_tensors = lambda k: tuple(map(of_tensors, k)) if isinstance(k, tuple) else Tensor(k) if isinstance(k, np.ndarray) else k
    given = of_tensors(key(mask))

    def write(x):
        x = x.copy()
        x[given] = 1
        return x

    for function in (lambda x: x[given], write):
        with pytest.raises(IndexError, match=r"mask of shape|too many"):
            (function if mode == ms.PYNATIVE_MODE else ms.jit(function))(Tensor(array))
