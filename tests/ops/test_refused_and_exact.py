"""Calls that would give a plausible wrong result are refused in both modes; rare values and empty batches give the right one."""

import numpy as np
import pytest

import mindspore as ms
import mindspore.numpy as mnp
from mindspore import Tensor, mint, nn, ops

NAN, INF = float("nan"), float("inf")
TWO, COLUMN = Tensor([1.0, 0.0]), Tensor([[1.0], [2.0]])


@pytest.fixture(params=["pynative", "graph"])
def run(request):
    """Call a function in one of the modes."""
    with ms.context.local_context(mode=ms.PYNATIVE_MODE):
        yield (lambda f, *args: f(*args)) if request.param == "pynative" else (lambda f, *args: ms.jit(f)(*args))


@pytest.mark.parametrize(
    "loss",
    [
        ops.binary_cross_entropy_with_logits,
        ops.smooth_l1_loss,
        ops.kl_div,
        ops.soft_margin_loss,
        ops.SigmoidCrossEntropyWithLogits(),
        ops.BCEWithLogitsLoss(),
        ops.KLDivLoss(),
        nn.SmoothL1Loss(),
        nn.BCEWithLogitsLoss(),
    ],
)
def test_losses_do_not_stretch_a_column_over_a_row(run, loss):
    extra = (Tensor([1.0]), Tensor([1.0])) if isinstance(loss, ops.BCEWithLogitsLoss) else ()
    with pytest.raises(ValueError, match="must have the shape of"):
        run(lambda x, y: loss(x, y, *extra), COLUMN, TWO)


REFUSED = {
    "mask wider than the input": (lambda x: ops.masked_scatter(x, Tensor([True, True, True]), x), (Tensor([1.0]),)),
    "too few elements for a mask": (lambda x: ops.masked_scatter(x, Tensor([True, True]), Tensor([5.0])), (TWO,)),
    "products of four dimensions": (lambda x: mint.bmm(x, x), (ops.ones((2, 2, 3, 3)),)),
    "negative depth": (lambda x: ops.one_hot(x, -1), (Tensor([0, 1]),)),
    "a dimension beyond the last": (lambda x: x.select(2, 0), (Tensor([[1, 2]]),)),
    "a negative size": (lambda x: ops.ResizeNearestNeighbor((-1, 2))(x), (ops.ones((1, 1, 2, 2)),)),
    "a transform over no dimension": (lambda x: ops.FFTWithSize(0, False, False)(x), (ops.ones(2, ms.complex64),)),
    "a negative norm": (lambda x: ops.cdist(x, x, -1.0), (COLUMN,)),
    "negative mirrors": (lambda x: ops.mirror_pad(x, Tensor([[0, 0], [-1, 0]]), "REFLECT"), (ops.ones((2, 2)),)),
    "a layout of its own": (lambda x, b: ops.BiasAdd("abc")(x, b), (ops.ones((2, 2)), ops.ones(2))),
    "norms that are no number": (lambda x: ops.clip_by_global_norm((x,), NAN), (TWO,)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_values_that_make_no_sense_are_refused(run, name):
    function, args = REFUSED[name]
    with pytest.raises(ValueError, match=r"must|does not fit"):
        run(function, *args)


@pytest.mark.parametrize("word", ["a", "unknown", "S8", None])
def test_types_that_are_none_are_refused(run, word):
    with pytest.raises(TypeError, match="element type"):
        run(lambda x: ops.cast(x, word), TWO)


def test_a_fraction_of_integers_is_no_integer(run):
    with pytest.raises(TypeError, match="alpha"):
        run(lambda x: mint.add(x, x, alpha=0.5), Tensor([1, 2]))


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.ExponentialDecayLR(NAN, 0.9, 4),
        lambda: nn.PolynomialDecayLR(0.1, NAN, 4, 0.5),
        lambda: nn.piecewise_constant_lr([2, 5], [0.1, NAN]),
        lambda: nn.cosine_decay_lr(0.0, NAN, 4, 2, 2),
        lambda: nn.DiceLoss(NAN),
    ],
)
def test_settings_that_are_nan_are_refused(make):
    with pytest.raises(ValueError, match="nan"):
        make()


def test_parts_of_complex_numbers_stay_apart(run):
    found = run(lambda a, b: ops.Complex()(a, b), Tensor([1.0, 2.0, INF]), Tensor([NAN, INF, 3.0])).asnumpy()
    np.testing.assert_array_equal(found.real, [1, 2, INF])
    np.testing.assert_array_equal(found.imag, [NAN, INF, 3])


def test_a_bound_that_is_nan_gives_nan(run):
    x, bound = np.array([1, 5, NAN], np.float32), np.array([NAN, 2, 2], np.float32)
    np.testing.assert_array_equal(run(lambda a, b: ops.clamp(a, b, 4.0), Tensor(x), Tensor(bound)).asnumpy(), [NAN, 4, NAN])
    np.testing.assert_array_equal(run(lambda a: ops.clamp(a, max=NAN), Tensor(x)).asnumpy(), [NAN] * 3)


def test_types_of_results(run):
    half = Tensor([1.0, 5.0], ms.float16)
    assert run(lambda x, b: ops.clip_by_value(x, b, Tensor(4.0)), half, Tensor(2.0)).dtype is ms.float16
    assert run(lambda x, y: x.sub(y, alpha=0.5), half, Tensor(1, ms.int32)).dtype is ms.float16
    assert run(lambda: ops.tuple_to_array((1, 2))).dtype is ms.int32
    assert run(lambda: ops.tuple_to_array((1, 2**40))).tolist() == [1, 2**40]
    assert run(lambda x: x.cumsum(0), Tensor([100, 100], ms.int8)).tolist() == [100, 200]
    assert run(lambda x: nn.ClipByNorm()(x, Tensor(1.0)), half).dtype is ms.float32


def test_clipping_zeros_to_a_norm_of_zero_gives_zeros(run):
    assert run(lambda x: nn.ClipByNorm()(x, Tensor(0.0)), Tensor([0.0, 0.0])).tolist() == [0, 0]


def test_arguments_of_select_go_by_their_names(run):
    x = Tensor([[1, 2], [3, 4]])
    assert run(lambda x: x.select(index=0, dim=1), x).tolist() == [1, 3]
    assert run(lambda x: x.select(y=0, condition=x > 2), x).tolist() == [[0, 0], [3, 4]]


def test_samples_at_positions_that_are_no_numbers_are_outside(run):
    grid = Tensor([[[[NAN, 0.0], [0.0, INF], [1e30, -INF], [0.0, 0.0]]]])
    assert run(lambda x, g: ops.grid_sample(x, g), ops.ones((1, 1, 2, 2)), grid).tolist() == [[[[0, 0, 0, 1]]]]
    border = run(lambda x, g: ops.grid_sample(x, g, padding_mode="border"), Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), grid)
    assert border[0, 0, 0, 2].item() == 2


@pytest.mark.parametrize(
    ("layer", "shape", "result"),
    [
        (nn.Conv1d(2, 3, 3), (0, 2, 5), (0, 3, 5)),
        (nn.Conv2d(2, 4, 3, group=2), (0, 2, 5, 5), (0, 4, 5, 5)),
        (nn.Conv3d(2, 3, 3), (0, 2, 3, 3, 3), (0, 3, 3, 3, 3)),
        (nn.Conv2dTranspose(2, 3, 3), (0, 2, 5, 5), (0, 3, 5, 5)),
    ],
)
def test_convolutions_of_empty_batches(run, layer, shape, result):
    x = ops.zeros(shape)
    assert run(layer, x).shape == result
    weights = ms.ParameterTuple(layer.trainable_params())
    grads, by_weight = run(ms.grad(lambda x: layer(x).sum(), 0, weights), x)
    assert grads.shape == shape
    assert all(not g.asnumpy().any() for g in by_weight)


def test_several_tensors_get_dimensions_at_once(run):
    shapes = lambda f: [x.shape for x in run(lambda a, b: f((a, b)), Tensor(1.0), Tensor([1.0, 2.0]))]
    assert shapes(ops.atleast_1d) == [(1,), (2,)]
    assert shapes(ops.atleast_2d) == [(1, 1), (1, 2)]
    assert shapes(ops.atleast_3d) == [(1, 1, 1), (1, 2, 1)]
    with pytest.raises(TypeError, match="atleast_2d"):
        run(lambda a: ops.atleast_2d((a, "b")), TWO)


@pytest.mark.parametrize("huge", [2**31, 2**40, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda n: ops.AvgPoolNd(n, (2,), (2,)), "'rank' must be one of"),
        (lambda n: ops.MaxPoolNd(n, (2,), (2,)), "'rank' must be one of"),
        (lambda n: ops.batch_to_space_nd(ops.ones((4, 1, 1, 1)), [2, n], [[0, 0], [0, 0]]), "block|multiple of"),
        (lambda n: ops.BatchToSpace(n, [[0, 0], [0, 0]])(ops.ones((4, 1, 1, 1))), "block|multiple of"),
        (lambda n: ops.space_to_batch_nd(ops.ones((1, 1, 2, 2)), [n, 2], [[0, 0], [0, 0]]), "block|multiples of"),
    ],
)
def test_huge_numbers_are_refused_in_words(call, words, huge):
    with pytest.raises(ValueError, match=words):
        call(huge)


def test_whole_numbers_stay_exact_or_become_floats():
    big = mnp.array([2**24 + 1, 1, 2**24 + 3])
    assert mnp.nanmax(big).asnumpy() == 2**24 + 3 and mnp.nanmin(big).asnumpy() == 1
    assert mnp.nancumsum(big).tolist() == np.cumsum([2**24 + 1, 1, 2**24 + 3]).tolist()
    np.testing.assert_allclose(ops.clip_by_norm(Tensor([3, 4]), 1.0).asnumpy(), [0.6, 0.8], rtol=1e-5)
    assert [part.tolist() for part in mnp.unravel_index(Tensor([-1, 6, 100, 4]), (2, 3))] == [[1, 1, 1, 1], [2, 2, 2, 1]]
    for mode in ("constant", "wrap", "edge"):
        with pytest.raises(ValueError, match="'pad_width' must not be negative, but got \\(-1, 3\\)"):
            mnp.pad(big, (-1, 3), mode=mode)


def test_regions_keep_the_type_of_their_features():
    features, region = np.arange(64, dtype=np.float32).reshape(1, 1, 8, 8), [[0, 1.25, 0.5, 6.0, 5.75]]
    wide = ops.ROIAlign(2, 2, 0.75)(Tensor(features), Tensor(region, ms.float32))
    half = ops.ROIAlign(2, 2, 0.75)(Tensor(features, ms.float16), Tensor(region, ms.float16))
    assert half.dtype is ms.float16
    np.testing.assert_array_equal(half.asnumpy(), wide.asnumpy().astype(np.float16))


@pytest.mark.parametrize(
    "op",
    [
        lambda x: ops.Identity()(x),
        lambda x: ops.tile(x, (1, 1)),
        lambda x: ops.roll(x, 2, 1),
        lambda x: ops.rot90(x, 4, (0, 1)),
        lambda x: ops.pad(x, (0, 0)),
        lambda x: ops.nan_to_num(x.astype(ms.int32)).astype(ms.float32),
        lambda x: ops.check_numerics(x),
        lambda x: ops.shuffle(x.sum()),
    ],
    ids=["identity", "tile", "roll", "rot90", "pad", "nan_to_num", "check_numerics", "shuffle"],
)
def test_results_that_equal_an_argument_are_tensors_of_their_own(op):
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    y = op(x)
    assert y is not x
    y.add_(1.0)
    assert x.tolist() == [[1, 2], [3, 4]]
    assert ms.grad(lambda v: op(v).sum())(x).tolist() in ([[1, 1], [1, 1]], [[0, 0], [0, 0]])
