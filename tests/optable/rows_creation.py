"""Creation, conversion, clipping, scalars, sequences and collectives of one process."""

import numpy as np
from table import Fixed, plus, positive, real, row

import mindspore as ms
from mindspore import Tensor

ZERO = Fixed(np.float32(0))  # for operations that take no tensor


def made(*args, **kwargs):
    """Call without tensors."""
    return lambda f, x: f(*args, **kwargs)


FREE = {"grad": 0, "vmap": False, "dtypes": "f", "keeps": False}

# -- clipping ---------------------------------------------------------------------------------------------------------
X = real(3, 4)
row(
    "clip_by_norm",
    lambda x: x * min(1, 1 / (np.linalg.norm(x) + 1e-6)),
    X,
    call=plus(1.0),
    dtypes="f d",
    tolerance=8,
    vmap=False,
)
row(
    "clip_by_global_norm",
    lambda x, y: [v / max(np.sqrt((x**2).sum() + (y**2).sum()), 1.0) for v in (x, y)],
    X,
    positive(2, 3),
    call=lambda f, x, y: f((x, y), 1.0),
    dtypes="f",
    tolerance=8,
    vmap=False,
)
row(
    "cast Cast() Tensor.astype Tensor.to",
    lambda x: x.astype(np.float64),
    X,
    call=lambda f, x: f(x, ms.float64),
    dtypes="? e b f d B h i l",
    keeps=False,
    grad=0,
)
row("cast Cast()", lambda x: np.trunc(x).astype(np.int32), X, call=lambda f, x: f(x, ms.int32), grad=0)
row("cast", lambda x: x, X, call=lambda f, x: f(f(x, ms.float32), x.dtype), dtypes="f d", grad=0, tolerance=1e8)
row("type_as Tensor.type_as", lambda x, y: x, X, Fixed(np.zeros(1)), dtypes="f", keeps=False, grad=0)
row("Bitcast(ms.int32)", lambda x: x.astype(np.float32).view(np.int32), X, dtypes="f", grad=0)
row("check_numerics CheckNumerics()", lambda x: x, X, dtypes="f d", grad=0, vmap=False, graph=False)

# -- creation ---------------------------------------------------------------------------------------------------------
row("zeros Zeros()", lambda x: np.zeros((2, 3)), ZERO, call=made((2, 3), ms.float16), **FREE)
row("mint.zeros", lambda x: np.zeros((2, 3)), ZERO, call=made(size=(2, 3), dtype=ms.float16), **FREE)
row(
    "ones Ones() mint.ones",
    lambda x: np.ones((2, 3)),
    ZERO,
    call=lambda f, x: f((2, 3), dtype=ms.int32) if not hasattr(f, "attrs") else f((2, 3), ms.int32),
    **FREE,
)
row("full mint.full", lambda x: np.full((2, 3), 2.5), ZERO, call=made((2, 3), 2.5), **FREE)
row("mint.ones", lambda x: np.ones((2, 3)), ZERO, call=made(2, 3), **FREE)
row("fill Fill()", lambda x: np.full((2, 3), 2), ZERO, call=made(ms.int32, (2, 3), 2), **FREE)
row("FillV2()", lambda x: np.full((2, 3), 2.5), ZERO, call=lambda f, x: f((2, 3), Tensor(2.5)), **FREE)
row("fills Fills()", lambda x: np.full_like(x, 2.5), X, call=lambda f, x: f(x, 2.5), grad=0)
row("zeros_like ZerosLike() mint.zeros_like", np.zeros_like, X, dtypes="? e b f d B i l F", grad=0, empty=True)
row("ones_like OnesLike() mint.ones_like", np.ones_like, X, dtypes="? e b f d B i l F", grad=0, empty=True)
row("full_like mint.full_like", lambda x: np.full_like(x, 2.5), X, call=plus(2.5), grad=0)
row("eye Eye() mint.eye", lambda x: np.eye(3, 4), ZERO, call=made(3, 4, ms.float32), **FREE)
row("arange mint.arange", lambda x: np.arange(1, 7, 2), ZERO, call=made(1, 7, 2), **FREE)
row("range Range() tensor_range", lambda x: np.arange(1, 7, 2), ZERO, call=made(1, 7, 2), **FREE)
row(
    "linspace LinSpace() mint.linspace",
    lambda x: np.linspace(1, 3, 5),
    ZERO,
    call=lambda f, x: f(Tensor(1.0), Tensor(3.0), 5) if hasattr(f, "attrs") else f(1.0, 3.0, 5),
    **FREE,
)
row(
    "logspace LogSpace(5,2)",
    lambda x: 2.0 ** np.linspace(1, 3, 5),
    ZERO,
    call=lambda f, x: f(Tensor(1.0), Tensor(3.0)) if hasattr(f, "attrs") else f(1.0, 3.0, 5, 2),
    **FREE,
)
row(
    "tril_indices TrilIndices(3,4,1)",
    lambda x: np.stack(np.tril_indices(3, 1, 4)),
    ZERO,
    call=lambda f, x: f() if hasattr(f, "attrs") else f(3, 4, 1),
    graph=False,
    **FREE,
)
row(
    "triu_indices TriuIndices(3,4,1)",
    lambda x: np.stack(np.triu_indices(3, 1, 4)),
    ZERO,
    call=lambda f, x: f() if hasattr(f, "attrs") else f(3, 4, 1),
    graph=False,
    **FREE,
)
row(
    "bartlett_window BartlettWindow(False)",
    lambda x: np.bartlett(6),
    ZERO,
    call=lambda f, x: f(Tensor(6)) if hasattr(f, "attrs") else f(6, False),
    graph=False,
    tolerance=4,
    **FREE,
)
row(
    "blackman_window BlackmanWindow(False)",
    lambda x: np.blackman(6),
    ZERO,
    call=lambda f, x: f(Tensor(6)) if hasattr(f, "attrs") else f(6, False),
    graph=False,
    tolerance=4,
    **FREE,
)
row(
    "hamming_window HammingWindow(False)",
    lambda x: np.hamming(6),
    ZERO,
    call=lambda f, x: f(Tensor([6])) if hasattr(f, "attrs") else f(6, False),
    graph=False,
    tolerance=4,
    **FREE,
)
row("hann_window", lambda x: np.hanning(6), ZERO, call=made(6, False), tolerance=4, **FREE)
row("kaiser_window", lambda x: np.kaiser(6, 12.0), ZERO, call=made(6, False), tolerance=8, **FREE)
row("broadcast_shapes", lambda x: (2, 3, 4), ZERO, call=made((3, 1), (2, 1, 4)), graph=False, **FREE)
row(
    "coalesce Coalesce()",
    lambda x: (np.array([[0, 1], [0, 2]]), np.array([3.0, 5.0]), np.array([3, 3])),
    ZERO,
    graph=False,
    **FREE,
    call=lambda f, x: f(
        Tensor([[0, 1, 0], [0, 2, 0]], ms.int64), Tensor([1.0, 5.0, 2.0], ms.float32), Tensor([3, 3], ms.int64)
    ),
)

# -- scalars and sequences --------------------------------------------------------------------------------------------
PAIRS = {
    "scalar_add": 7 + 2, "scalar_sub": 5, "scalar_mul": 14, "scalar_div": 3.5, "scalar_floordiv": 3, "scalar_mod": 1,
    "scalar_pow": 49, "scalar_eq": False, "scalar_ne": True, "scalar_lt": False, "scalar_le": False, "scalar_gt": True,
    "scalar_ge": True, "scalar_max": 7, "scalar_min": 2, "string_eq": False,
}  # fmt: skip
for name, result in PAIRS.items():
    row(name, lambda x, r=result: r, ZERO, call=made(7, 2), graph=False, **FREE)
row("scalar_usub", lambda x: -7, ZERO, call=made(7), graph=False, **FREE)
row("scalar_uadd", lambda x: 7, ZERO, call=made(7), graph=False, **FREE)
row("scalar_log", lambda x: np.log(7), ZERO, call=made(7.0), graph=False, **FREE)
row("scalar_cast ScalarCast()", lambda x: 7, ZERO, call=made(7.9, ms.int32), graph=False, **FREE)
row("scalar_to_tensor ScalarToTensor()", lambda x: 2.5, ZERO, call=made(2.5, ms.float32), **FREE)
row("scalar_to_array ScalarToArray()", lambda x: 2.5, ZERO, call=made(2.5), **FREE)
row(
    "tuple_to_array TupleToArray() TupleToTensor() ListToTensor()",
    lambda x: np.array([1, 2, 3]),
    ZERO,
    call=lambda f, x: f((1, 2, 3)) if "Tensor" not in type(f).__name__ else f((1, 2, 3), ms.int64),
    graph=False,
    **FREE,
)
row(
    "TensorToTuple() TensorToList()",
    lambda x: [1, 2, 3],
    np.array([1, 2, 3]),
    dtypes="i l",
    grad=0,
    vmap=False,
    graph=False,
)
row("TensorToScalar()", lambda x: 2.5, np.array(2.5), dtypes="f d", grad=0, vmap=False, graph=False)
row("make_tuple make_list MakeTuple()", lambda x, y: [x, y], X, positive(2), grad=0, vmap=False)
row(
    "tuple_getitem list_getitem",
    lambda x, y: y,
    X,
    positive(2),
    call=lambda f, x, y: f((x, y), 1),
    grad=0,
    vmap=False,
    keeps=False,
)
row(
    "tuple_setitem list_setitem",
    lambda x, y: [x, x],
    X,
    positive(2),
    call=lambda f, x, y: f((x, y) if "tuple" in f.__name__ else [x, y], 1, x),
    grad=0,
    vmap=False,
)
row(
    "tuple_reversed",
    lambda x, y: [y, x],
    X,
    positive(2),
    call=lambda f, x, y: f((x, y)),
    grad=0,
    vmap=False,
    keeps=False,
)
row("tuple_len list_len", lambda x: 3, ZERO, call=made((1, 2, 3)), graph=False, **FREE)
row("tuple_equal list_equal", lambda x: True, ZERO, call=made((1, 2), (1, 2)), graph=False, **FREE)
row("tuple_div", lambda x: (4, 7, 5), ZERO, call=made((8, 14, 20), (2, 2, 4)), graph=False, **FREE)
row("tail", lambda x: (2, 3), ZERO, call=made((1, 2, 3)), graph=False, **FREE)
row("make_range", lambda x: (1, 3, 5), ZERO, call=made(1, 6, 2), graph=False, **FREE)
row("shape_mul", lambda x: 24, ZERO, call=made((2, 3, 4)), graph=False, **FREE)
row("reduced_shape", lambda x: (2, 1, 4), ZERO, call=made((2, 3, 4), (1,)), graph=False, **FREE)
row("bool_and", lambda x: False, ZERO, call=made(True, False), graph=False, **FREE)
row("bool_or", lambda x: True, ZERO, call=made(True, False), graph=False, **FREE)
row("bool_eq", lambda x: False, ZERO, call=made(True, False), graph=False, **FREE)
row("bool_not", lambda x: False, ZERO, call=made(True), graph=False, **FREE)
row("is_", lambda x: True, ZERO, call=made(None, None), graph=False, **FREE)
row("is_not", lambda x: False, ZERO, call=made(None, None), graph=False, **FREE)
row("in_dict", lambda x: True, ZERO, call=made("a", {"a": 1}), graph=False, **FREE)
row("not_in_dict", lambda x: False, ZERO, call=made("a", {"a": 1}), graph=False, **FREE)
row("dict_getitem", lambda x: 1, ZERO, call=made({"a": 1}, "a"), graph=False, **FREE)
row("is_tensor", lambda x: True, X, graph=False, **FREE)
row("is_floating_point Tensor.is_floating_point", lambda x: True, X, graph=False, **FREE)
row("is_nonzero", lambda x: True, np.array(2.5), graph=False, **FREE)
row("same_type_shape", lambda x, y: x, X, real(3, 4), graph=False, **FREE)
row(
    "dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout",
    lambda x: x,
    real(2, 3, 4, 5, 2),
    call=lambda f, x: (
        f(x if f.__name__ != "dropout2d" else x[0], 0.5, training=False)
        if f.__name__ not in ("dropout1d", "dropout2d")
        else (f(x[0, 0], 0.5, False), x)[1]
    ),
    grad=0,
    vmap=False,
)
row("eps Eps()", lambda x: np.full_like(x, np.finfo(np.float32).eps), X, dtypes="f", grad=0, vmap=False)
row(
    "sparse_tensor_dense_matmul SparseTensorDenseMatmul()",
    lambda v, d: np.array([[0, v[0], 0], [v[1], 0, 0]]) @ d,
    positive(2),
    real(3, 2),
    dtypes="f d",
    vmap=False,
    call=lambda f, v, d: f(Tensor([[0, 1], [1, 0]], ms.int64), v, (2, 3), d),
)
row(
    "SparseToDense()",
    lambda v: np.array([[0, v[0], 0], [v[1], 0, 0]]),
    positive(2),
    dtypes="f d",
    vmap=False,
    call=lambda f, v: f(Tensor([[0, 1], [1, 0]], ms.int32), v, (2, 3)),
)
row(
    "SparseTensorDenseAdd()",
    lambda v, d: np.array([[0, v[0], 0], [v[1], 0, 0]]) + d,
    positive(2),
    real(2, 3),
    dtypes="f d",
    vmap=False,
    call=lambda f, v, d: f(Tensor([[0, 1], [1, 0]], ms.int32), v, (2, 3), d),
)

# -- collectives of one process ---------------------------------------------------------------------------------------
row(
    "AllReduce() AllReduce('max') AllGather() ReduceScatter() Broadcast(0)",
    lambda x: x,
    X,
    dtypes="f",
    grad=0,
    vmap=False,
    graph=False,
    call=lambda f, x: f((x,))[0] if type(f).__name__ == "Broadcast" else f(x),
)
row(
    "Reduce(0) CollectiveGather(0) CollectiveScatter(0) AlltoAll(1,0,0)",
    lambda x: x,
    X,
    dtypes="f",
    grad=0,
    vmap=False,
    graph=False,
)
