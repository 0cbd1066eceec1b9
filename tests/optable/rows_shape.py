"""Shapes: reshaping, moving, joining, splitting, padding, diagonals."""

import numpy as np
from table import ANY, FLOAT, NUMBER, ints, plus, positive, real, row

import mindspore as ms
from mindspore import Tensor

X, Y, Z = real(2, 3, 4), positive(2, 3, 4), real(2, 1, 4)
M, V = real(3, 4), real(5)
ALL = ANY.replace(" D", "")


def joined(f, *xs):
    return f(xs)


# -- reshaping --------------------------------------------------------------------------------------------------------
row("reshape Reshape() Tensor.reshape mint.reshape", lambda x: x.reshape(4, 6), X, call=plus((4, -1)), dtypes=ALL)
row("Tensor.reshape Tensor.view", lambda x: x.reshape(6, 4), X, call=plus(6, -1), dtypes=ALL)
row("reshape", lambda x: x.reshape(0, 4), X[:0], call=plus((-1, 4)))
row(
    "flatten Flatten() Tensor.flatten",
    lambda x: x.reshape(2, 12),
    X,
    dtypes=ALL,
    call=lambda f, x: f(x) if hasattr(f, "attrs") else f(x, start_dim=1),
)
row("flatten mint.flatten", lambda x: x.reshape(6, 4), X, call=plus(start_dim=0, end_dim=-2))
row("ravel Tensor.ravel", np.ravel, X, dtypes=ALL)
row("squeeze Squeeze() Tensor.squeeze", np.squeeze, Z, dtypes=ALL)
row("squeeze Squeeze(1) Tensor.squeeze mint.squeeze", lambda x: x[:, 0], Z, call=plus(1), dtypes=ALL, empty=True)
row("squeeze Squeeze(-2)", lambda x: x[:, 0], Z, call=plus(axis=-2))
row(
    "expand_dims unsqueeze ExpandDims() Tensor.expand_dims mint.unsqueeze Tensor.unsqueeze",
    lambda x: x[:, None],
    X,
    call=lambda f, x: f(x, 1),
    dtypes=ALL,
    empty=True,
)
row("expand_dims unsqueeze ExpandDims()", lambda x: x[..., None], X, call=lambda f, x: f(x, -1))
row("atleast_1d", np.atleast_1d, np.float64(2.5))
row("atleast_2d", np.atleast_2d, V)
row("atleast_3d", np.atleast_3d, M)
row("view_as", lambda x, y: x.reshape(6, 4), X, real(6, 4))
row("t Tensor.t mint.t", np.transpose, M, dtypes=ALL)
row(
    "transpose Transpose() permute Tensor.transpose Tensor.permute mint.permute",
    lambda x: x.transpose(2, 0, 1),
    X,
    call=lambda f, x: f(x, (2, 0, 1)),
    dtypes=ALL,
    empty=True,
)
row("transpose permute", lambda x: x.transpose(1, 2, 0), X, call=plus((1, -1, 0)))
row(
    "swapaxes swapdims Tensor.swapaxes Tensor.swapdims mint.transpose mint.swapaxes",
    lambda x: x.swapaxes(0, -1),
    X,
    call=plus(0, -1),
    dtypes=ALL,
)
row(
    "moveaxis movedim Tensor.moveaxis Tensor.movedim",
    lambda x: np.moveaxis(x, (0, 1), (1, -1)),
    X,
    call=plus((0, 1), (1, -1)),
)
row(
    "adjoint ConjugateTranspose()",
    lambda x: np.conj(np.swapaxes(x, -1, -2)),
    M,
    dtypes="f F",
    grad=0,
    call=lambda f, x: f(x, (1, 0)) if type(f).__name__ == "ConjugateTranspose" else f(x),
)
row("flip ReverseV2((0,2)) Tensor.flip reverse mint.flip", lambda x: x[::-1, :, ::-1], X, call=plus((0, 2)), dtypes=ALL)
row("fliplr Tensor.fliplr", np.fliplr, M)
row("flipud Tensor.flipud", np.flipud, M)
row("rot90 Tensor.rot90", lambda x: np.rot90(x, 3, (0, 2)), X, call=plus(3, (0, 2)))
row("roll Roll(2,1) Tensor.roll mint.roll", lambda x: np.roll(x, 2, 1), X, call=plus(2, 1), dtypes=ALL)
row("roll mint.roll", lambda x: np.roll(x, 5), X, call=plus(5))
row("roll", lambda x: np.roll(x, (1, -2), (0, 2)), X, call=plus((1, -2), (0, 2)))
row(
    "reverse_sequence ReverseSequence(1,0)",
    lambda x, n: np.stack([np.concatenate([x[i, : n[i]][::-1], x[i, n[i] :]]) for i in range(2)]),
    X,
    np.array([2, 3]),
    call=lambda f, x, n: f(x, n) if hasattr(f, "attrs") else f(x, n, 1, 0),
)
row(
    "broadcast_to BroadcastTo((2,3,4)) Tensor.broadcast_to mint.broadcast_to",
    lambda x: np.broadcast_to(x, (2, 3, 4)),
    Z,
    call=plus((2, 3, 4)),
    dtypes=ALL,
)
row("broadcast_to", lambda x: np.broadcast_to(x, (5, 2, 3, 4)), Z, call=plus((5, -1, 3, -1)))
row("expand_as Tensor.expand_as", lambda x, y: np.broadcast_to(x, y.shape), Z, Y)
row(
    "expand Expand()",
    lambda x: np.broadcast_to(x, (2, 3, 4)),
    Z,
    call=lambda f, x: f(x, Tensor([2, 3, 4], ms.int32)),
)
row(
    "tile Tile() Tensor.tile mint.tile",
    lambda x: np.tile(x, (2, 1, 3)),
    X,
    call=lambda f, x: f(x, (2, 1, 3)),
    dtypes=ALL,
)
row("tile mint.tile", lambda x: np.tile(x, (2, 1, 1, 2)), X, call=plus((2, 1, 1, 2)))
row(
    "repeat_interleave Tensor.repeat_interleave mint.repeat_interleave",
    lambda x: np.repeat(x, 2, 1),
    X,
    call=plus(2, 1),
    dtypes=ALL,
)
row("repeat_elements", lambda x: np.repeat(x, 3, -1), X, call=plus(3, -1))
row("size Size() numel Tensor.numel", lambda x: 24, X, grad=0, graph=False)
row("rank Rank()", lambda x: 3, X, grad=0, graph=False)
row("shape Shape() shape_", lambda x: (2, 3, 4), X, grad=0, graph=False)
row("dyn_shape TensorShape() DynamicShape()", lambda x: np.array([2, 3, 4]), X, grad=0, graph=False)

# -- joining and splitting --------------------------------------------------------------------------------------------
row(
    "cat concat Concat(1) mint.cat mint.concat",
    lambda a, b: np.concatenate([a, b], 1),
    X,
    Z,
    call=lambda f, a, b: f((a, b)) if hasattr(f, "attrs") else f((a, b), 1),
    dtypes=ALL,
    empty=True,
)
row(
    "cat concat Concat(-1) mint.cat",
    lambda a, b: np.concatenate([a, b], -1),
    X,
    Y,
    call=lambda f, a, b: f([a, b]) if hasattr(f, "attrs") else f([a, b], -1),
)
row("ParallelConcat()", lambda a, b: np.concatenate([a, b]), real(1, 3), real(1, 3), call=lambda f, a, b: f((a, b)))
row(
    "stack Stack(1) Pack(1) mint.stack",
    lambda a, b: np.stack([a, b], 1),
    X,
    Y,
    call=lambda f, a, b: f((a, b)) if hasattr(f, "attrs") else f((a, b), 1),
    dtypes=ALL,
    empty=True,
)
row("stack mint.stack", lambda a, b: np.stack([a, b], -1), X, Y, call=lambda f, a, b: f([a, b], -1))
row("hstack", lambda a, b: np.hstack([a, b]), X, Y, call=joined)
row("vstack row_stack", lambda a, b: np.vstack([a, b]), X, Y, call=joined)
row("dstack", lambda a, b: np.dstack([a, b]), X, Y, call=joined)
row("column_stack", lambda a, b: np.column_stack([a, b]), V, real(5), call=joined)
row("block_diag", lambda a, b: np.block([[a, np.zeros((3, 3))], [np.zeros((2, 4)), b]]), M, real(2, 3))
row("split Tensor.split mint.split", lambda x: np.split(x, 2, 2), X, call=plus(2, 2), dtypes=ALL)
row("split Tensor.split mint.split", lambda x: np.split(x, [1], -1), X, call=plus([1, 3], -1))
row("Split(2,2) Split(axis=-1,output_num=2)", lambda x: np.split(x, 2, 2), X, dtypes=ALL)
row("SplitV([1,3],2,2)", lambda x: np.split(x, [1], 2), X)
row("chunk Tensor.chunk mint.chunk", lambda x: np.split(x, [2], 1), X, call=plus(2, 1))
row("tensor_split Tensor.tensor_split", lambda x: np.array_split(x, 3, 2), X, call=plus(3, 2))
row("hsplit Tensor.hsplit", lambda x: np.hsplit(x, [1, 2]), X, call=plus([1, 2]))
row("vsplit Tensor.vsplit", lambda x: np.vsplit(x, 2), X, call=plus(2))
row("dsplit Tensor.dsplit", lambda x: np.dsplit(x, 2), X, call=plus(2))
row(
    "unbind unstack Unstack(1) Unpack(1) Tensor.unbind mint.unbind",
    lambda x: [x[:, i] for i in range(3)],
    X,
    call=plus(1),
    dtypes=ALL,
)
row(
    "meshgrid Meshgrid('ij') mint.meshgrid",
    lambda a, b: np.meshgrid(a, b, indexing="ij"),
    V,
    real(3),
    call=lambda f, a, b: f((a, b)) if hasattr(f, "attrs") else f(a, b, indexing="ij"),
)
row("cartesian_prod", lambda a, b: np.stack([np.repeat(a, 3), np.tile(b, 5)], 1), V, real(3))
row("combinations", lambda x: np.array([[x[i], x[j]] for i in range(5) for j in range(i + 1, 5)]), V)
row("narrow Tensor.narrow mint.narrow", lambda x: x[:, 1:3], X, call=plus(1, 1, 2), dtypes=ALL)
row("slice Slice() tensor_slice", lambda x: x[1:2, :, 1:3], X, call=lambda f, x: f(x, (1, 0, 1), (1, 3, 2)), dtypes=ALL)
row(
    "strided_slice StridedSlice()",
    lambda x: x[0:2:1, ::-1, 0:4:2],
    X,
    call=lambda f, x: f(x, (0, 2, 0), (2, -4, 4), (1, -1, 2)),
    dtypes=ALL,
)
row(
    "StridedSlice(begin_mask=1,end_mask=2,shrink_axis_mask=4)",
    lambda x: x[:2, 1:, 3],
    X,
    call=lambda f, x: f(x, (1, 1, 3), (2, 1, 4), (1, 1, 1)),
)

# -- padding ----------------------------------------------------------------------------------------------------------
row(
    "pad mint.nn.functional.pad",
    lambda x: np.pad(x, ((0, 0), (2, 0), (1, 2)), constant_values=3),
    X,
    call=plus((1, 2, 2, 0), "constant", 3),
    dtypes=FLOAT + " i l",
)
row("pad", lambda x: np.pad(x, ((0, 0), (0, 0), (1, 2)), "reflect"), X, call=plus((1, 2), "reflect"))
row("pad", lambda x: np.pad(x, ((0, 0), (0, 0), (1, 2)), "edge"), X, call=plus((1, 2), "replicate"))
row("pad", lambda x: np.pad(x, ((0, 0), (0, 0), (1, 2)), "wrap"), X, call=plus((1, 2), "circular"))
row("pad", lambda x: x[..., 1:-1], X, call=plus((-1, -1)))
row("Pad(((0,0),(1,2),(2,0)))", lambda x: np.pad(x, ((0, 0), (1, 2), (2, 0))), X, dtypes=FLOAT + " i")
row(
    "mirror_pad MirrorPad()",
    lambda x: np.pad(x, ((0, 0), (1, 2), (2, 1)), "reflect"),
    X,
    call=lambda f, x: (
        f(x, Tensor([[0, 0], [1, 2], [2, 1]]))
        if hasattr(f, "attrs")
        else f(x, Tensor([[0, 0], [1, 2], [2, 1]]), "REFLECT")
    ),
)
row(
    "MirrorPad('SYMMETRIC')",
    lambda x: np.pad(x, ((0, 0), (1, 2), (2, 1)), "symmetric"),
    X,
    call=lambda f, x: f(x, Tensor([[0, 0], [1, 2], [2, 1]])),
)
row(
    "PadV3()",
    lambda x: np.pad(x, ((0, 0), (0, 0), (1, 2)), constant_values=1.5),
    X,
    call=lambda f, x: f(x, Tensor([1, 2]), 1.5),
)
row("padding Padding(8)", lambda x: np.pad(x, ((0, 0), (0, 0), (0, 7))), real(2, 3, 1))

# -- triangles and diagonals ------------------------------------------------------------------------------------------
row("tril Tril(-1) Tensor.tril mint.tril", lambda x: np.tril(x, -1), X, call=plus(-1), dtypes=ALL)
row("triu Triu(1) Tensor.triu mint.triu", lambda x: np.triu(x, 1), X, call=plus(1), dtypes=ALL)
row(
    "matrix_band_part MatrixBandPart()",
    lambda x: np.tril(np.triu(x, -1), 2),
    X,
    call=lambda f, x: f(x, 1, 2),
)
row("diag Diag() Tensor.diag", np.diag, V, dtypes=NUMBER)
row("mint.diag", lambda x: np.diag(x, 1), M, call=plus(1))
row("diag_part DiagPart()", lambda x: np.diag(x), real(4, 4))
row("diagonal Tensor.diagonal", lambda x: np.diagonal(x, 1, 1, 2), X, call=plus(1, 1, 2), dtypes=ALL)
row("diagflat Tensor.diagflat", lambda x: np.diagflat(x, 1), M, call=plus(1))
row("diag_embed Tensor.diag_embed", lambda x: np.stack([np.diag(r, 1) for r in x]), M, call=plus(1))
row("trace Trace() Tensor.trace mint.trace", np.trace, real(4, 4), dtypes=FLOAT + " i l")
row("vander", lambda x: np.vander(x, 3), V, call=plus(3), dtypes="f d")
row(
    "fill_diagonal FillDiagonal(2.5) Tensor.fill_diagonal",
    lambda x: np.where(np.eye(3, 4, dtype=bool), 2.5, x),
    M,
    call=plus(2.5),
    dtypes=FLOAT,
)
row(
    "diagonal_scatter Tensor.diagonal_scatter",
    lambda x, s: np.where(np.eye(4, dtype=bool), np.diag(s), x),
    real(4, 4),
    real(4),
)
row(
    "select_scatter Tensor.select_scatter",
    lambda x, s: np.concatenate([x[:, :1], s[:, None], x[:, 2:]], 1),
    X,
    real(2, 4),
    call=lambda f, x, s: f(x, s, 1, 1),
)
row(
    "slice_scatter Tensor.slice_scatter",
    lambda x, s: np.concatenate([x[:, :1], s], 1),
    X,
    real(2, 2, 4),
    call=lambda f, x, s: f(x, s, 1, 1, 3, 1),
)
row(
    "matrix_diag MatrixDiagV3()",
    lambda x: np.stack([np.diag(r) for r in x]),
    M,
    call=lambda f, x: (
        f(x, Tensor(0, ms.int32), Tensor(-1, ms.int32), Tensor(-1, ms.int32), Tensor(0.0))
        if hasattr(f, "attrs")
        else f(x)
    ),
    dtypes="f",
)
row(
    "matrix_diag_part MatrixDiagPartV3()",
    lambda x: np.stack([np.diag(r, 1) for r in x]),
    X,
    call=lambda f, x: f(x, Tensor(1, ms.int32), Tensor(0.0)),
    dtypes="f",
)
row(
    "matrix_set_diag MatrixSetDiagV3()",
    lambda x, d: np.where(np.eye(3, 4, dtype=bool), d[:, :, None], x),
    X,
    real(2, 3),
    call=lambda f, x, d: f(x, d, Tensor(0, ms.int32)),
    dtypes="f",
)

# -- choosing ---------------------------------------------------------------------------------------------------------
C = X > 0
row("where select Select() mint.where", np.where, C, X, Y, dtypes=ALL.replace("? ", ""), empty=True)
row("where mint.where", lambda c, x: np.where(c, x, 0.5), C, X, call=lambda f, c, x: f(c, x, 0.5))
row(
    "masked_fill MaskedFill() Tensor.masked_fill",
    lambda x, c: np.where(c, -1.5, x),
    X,
    C,
    call=lambda f, x, c: f(x, c, -1.5),
)
row(
    "masked_select MaskedSelect() Tensor.masked_select mint.masked_select",
    lambda x, c: x[c],
    X,
    C,
    graph=False,
)
row(
    "masked_scatter MaskedScatter() Tensor.masked_scatter",
    lambda x, c, s: np.array(
        [s.ravel()[np.cumsum(c.ravel())[i] - 1] if c.ravel()[i] else v for i, v in enumerate(x.ravel())]
    ).reshape(x.shape),
    X,
    C,
    Y,
)
row("sequence_mask", lambda n: np.arange(5) < n[:, None], ints(1, 5, 4), call=plus(5), dtypes="i l", grad=0)
row(
    "identity Identity() merge stop_gradient StopGradient() stop_gradient_ deepcopy", lambda x: x, X, dtypes=ALL, grad=0
)
row("IdentityN()", lambda a, b: [a, b], X, Y, call=joined)
row("depend Depend()", lambda x, y: x, X, Y)
row(
    "invert_permutation InvertPermutation()",
    lambda p: tuple(np.argsort(p)),
    np.array([2, 0, 3, 1]),
    call=lambda f, p: f((2, 0, 3, 1)),
    dtypes="l",
    grad=0,
    graph=False,
)
