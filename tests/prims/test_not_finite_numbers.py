"""`spreads` and `keeps_finite`, which watchpoints rely on: every primitive that states one is tried with NaN and infinities."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops
from mindspore.prims import values
from mindspore.prims.primitive import Primitive

RNG = np.random.default_rng(0)


def draw(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


X, Y, SQUARE, IMAGE, VECTOR = draw(3, 4), draw(3, 4), draw(4, 3), draw(2, 3, 6, 6), np.ones(3, np.float32)
CASES = {
    **{name: (lambda p: p(), (X, Y)) for name in ("Add", "Sub", "Mul", "Maximum", "Minimum")},
    **{name: (lambda p: p(), (X,)) for name in ("Neg", "Abs", "ReLU", "Tanh", "Sigmoid", "GeLU", "GeLUErf", "SiLU", "Identity",
                                                "ZerosLike", "OnesLike", "Softmax", "LogSoftmax")},
    "Cast": (lambda p: lambda x: p()(x, ms.float32), (X.astype(np.float16),)),
    "Reshape": (lambda p: lambda x: p()(x, (4, 3)), (X,)),
    "Transpose": (lambda p: lambda x: p()(x, (1, 0)), (X,)),
    "BroadcastTo": (lambda p: p((2, 3, 4)), (X,)),
    "MatMul": (lambda p: p(), (X, SQUARE)),
    "BatchMatMul": (lambda p: p(), (X[None], SQUARE[None])),
    "ReduceSum": (lambda p: lambda x: p()(x, 1), (X,)),
    "ReduceMean": (lambda p: lambda x: p()(x, 0), (X,)),
    "LayerNorm": (lambda p: p(), (X, np.ones(4, np.float32), np.zeros(4, np.float32))),
    "LayerNormBackward": (lambda p: lambda x, d, g: p()(x, d, g, *map(Tensor, (X[:, :1], Y[:, :1] ** 2, X[:, :1], Y[:, :1]))),
                          (X, Y, np.ones(4, np.float32))),
    "RmsNormBackward": (lambda p: lambda x, d, g: p()(x, d, g, Tensor(Y[:, :1] ** 2), Tensor(X[:, :1])), (X, Y, np.ones(4, np.float32))),
    "BatchNorm": (lambda p: lambda x, g, b: p(is_training=True)(x, g, b, Tensor(VECTOR * 0), Tensor(VECTOR)),
                  (IMAGE, VECTOR, VECTOR * 0)),
    "MaxPool": (lambda p: p(2, 2), (IMAGE,)),
    "Conv2DBackpropFilter": (lambda p: lambda d: p(4, 3, pad_mode="pad", pad=1, stride=2)(d, Tensor(IMAGE), (4, 3, 3, 3)),
                             (draw(2, 4, 3, 3),)),
    "ReluGrad": (lambda p: lambda d: p()(d, Tensor(Y)), (X,)),
    "Select": (lambda p: lambda x, y: p()(Tensor(X > 0), x, y), (X, Y)),
    "GetItem": (lambda p: lambda x: x[1:], (X,)),
    "Gather": (lambda p: lambda x: p()(x, Tensor([1, 2]), 0), (X,)),
    "Concat": (lambda p: lambda x, y: p(0)((x, y)), (X, Y)),
    "Fill": (lambda p: lambda: ops.fill(ms.float32, (2,), 3.0), ()),
}  # fmt: skip
#: kin of a tried primitive that share its code
SAME = {"MaxPoolNd", "MaxPool3D", "MaxPoolWithMask", "MaxPoolWithArgmaxV2", "MaxPoolWithArgmax", "Conv1DBackpropFilter",
        "Conv3DBackpropFilter", "ConvNdBackpropFilter"}  # fmt: skip


def first(result):
    return np.asarray((result[0] if isinstance(result, tuple) else result).asnumpy(), np.float32)


def subclasses(cls):
    for found in cls.__subclasses__():
        yield found
        yield from subclasses(found)


def test_every_primitive_that_states_one_is_tried():
    library = (p for p in subclasses(Primitive) if p.__module__.startswith("mindspore.prims."))
    stated = {p.__name__ for p in library if p.spreads or p.keeps_finite}
    assert {name for name in stated if not name.startswith("_") and name != "MatrixProduct"} - SAME <= CASES.keys()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("backend", ["interp", "cpu", "xla"])
def test_what_is_not_finite_spreads_or_stays_away(name, backend):
    ms.set_context(mode=ms.GRAPH_MODE, backend=backend)
    make, arguments = CASES[name]
    prim = getattr(ops.operations, name)
    run = ms.jit(make(prim))
    assert not prim.keeps_finite or np.isfinite(first(run(*map(Tensor, arguments)))).all()
    for number, array in enumerate(arguments if prim.spreads else ()):
        for bad in (np.nan, np.inf, -np.inf):
            for place in RNG.integers(0, array.size, 4):
                given = [a.copy() for a in arguments]
                given[number].reshape(-1)[place] = bad
                assert not np.isfinite(first(run(*(values.from_array(g) for g in given)))).all(), (number, bad, place)
