"""Reshaping, permuting, joining, splitting, repeating and padding against NumPy."""

# ruff: noqa: E501 - one case per line

import numpy as np
import pytest
from op_harness import check

from mindspore import Tensor, ops

RNG = np.random.default_rng(1)
X = RNG.normal(size=(2, 3, 4))
M = RNG.normal(size=(2, 3))

CASES = [
    ("reshape", lambda x: ops.reshape(x, (4, -1)), lambda x: x.reshape(4, -1)),
    ("transpose", lambda x: ops.transpose(x, (2, 0, 1)), lambda x: x.transpose(2, 0, 1)),
    ("transpose_negative", lambda x: ops.transpose(x, (-1, 0, 1)), lambda x: x.transpose(2, 0, 1)),
    ("permute", lambda x: ops.permute(x, (1, 2, 0)), lambda x: x.transpose(1, 2, 0)),
    ("swapaxes", lambda x: ops.swapaxes(x, 0, -1), lambda x: x.swapaxes(0, -1)),
    ("moveaxis", lambda x: ops.moveaxis(x, 0, 2), lambda x: np.moveaxis(x, 0, 2)),
    ("moveaxis_many", lambda x: ops.movedim(x, (0, 1), (2, 0)), lambda x: np.moveaxis(x, (0, 1), (2, 0))),
    ("flatten", lambda x: ops.flatten(x), lambda x: x.reshape(2, 12)),
    ("flatten_f", lambda x: ops.flatten(x, "F", start_dim=0), lambda x: x.flatten("F")),
    ("flatten_part", lambda x: ops.flatten(x, start_dim=0, end_dim=1), lambda x: x.reshape(6, 4)),
    ("ravel", ops.ravel, np.ravel),
    ("expand_dims", lambda x: ops.expand_dims(x, -1), lambda x: x[..., None]),
    ("unsqueeze", lambda x: ops.unsqueeze(x, 1), lambda x: x[:, None]),
    ("squeeze", lambda x: ops.squeeze(x[:1]), lambda x: x[0]),
    ("squeeze_other", lambda x: ops.squeeze(x, 0), lambda x: x),
    ("broadcast_to", lambda x: ops.broadcast_to(x, (5, -1, 3, 4)), lambda x: np.broadcast_to(x, (5, 2, 3, 4))),
    ("tile", lambda x: ops.tile(x, (2, 1, 3)), lambda x: np.tile(x, (2, 1, 3))),
    ("tile_more", lambda x: ops.tile(x, (2, 1, 1, 2)), lambda x: np.tile(x, (2, 1, 1, 2))),
    ("tile_fewer", lambda x: ops.tile(x, (2,)), lambda x: np.tile(x, 2)),
    ("repeat_interleave", lambda x: ops.repeat_interleave(x, 2, 1), lambda x: np.repeat(x, 2, 1)),
    ("repeat_each", lambda x: ops.repeat_interleave(x, [1, 0, 2], 1), lambda x: np.repeat(x, [1, 0, 2], 1)),
    ("repeat_flat", lambda x: ops.repeat_interleave(x, 2), lambda x: np.repeat(x, 2)),
    ("flip", lambda x: ops.flip(x, (0, 2)), lambda x: np.flip(x, (0, 2))),
    ("fliplr", ops.fliplr, np.fliplr),
    ("rot90", lambda x: ops.rot90(x, 1, (0, 1)), lambda x: np.rot90(x, 1)),
    ("rot270", lambda x: ops.rot90(x, 3, (1, 2)), lambda x: np.rot90(x, 3, (1, 2))),
    ("roll", lambda x: ops.roll(x, 1, 2), lambda x: np.roll(x, 1, 2)),
    ("roll_many", lambda x: ops.roll(x, (1, -2), (0, 1)), lambda x: np.roll(x, (1, -2), (0, 1))),
    ("roll_flat", lambda x: ops.roll(x, 5), lambda x: np.roll(x, 5)),
    ("concat", lambda x: ops.concat((x, x * 2), -1), lambda x: np.concatenate((x, x * 2), -1)),
    ("stack", lambda x: ops.stack([x, x * x], 1), lambda x: np.stack([x, x * x], 1)),
    ("hstack", lambda x: ops.hstack((x, x)), lambda x: np.hstack((x, x))),
    ("vstack", lambda x: ops.vstack((x, x)), lambda x: np.vstack((x, x))),
    ("dstack", lambda x: ops.dstack((x[0], x[1])), lambda x: np.dstack((x[0], x[1]))),
    ("column_stack", lambda x: ops.column_stack((x[0, 0], x[1, 0])), lambda x: np.column_stack((x[0, 0], x[1, 0]))),
    ("split", lambda x: ops.split(x, 3, 2), lambda x: np.split(x, [3], 2)),
    ("split_sizes", lambda x: ops.split(x, (1, 3), -1), lambda x: np.split(x, [1], -1)),
    ("chunk", lambda x: ops.chunk(x, 2, 1), lambda x: np.split(x, [2], 1)),
    ("tensor_split", lambda x: ops.tensor_split(x, 3, 2), lambda x: np.array_split(x, 3, 2)),
    ("tensor_split_at", lambda x: ops.tensor_split(x, (1, 2), 2), lambda x: np.split(x, [1, 2], 2)),
    ("hsplit", lambda x: ops.hsplit(x, 3), lambda x: np.hsplit(x, 3)),
    ("unbind", lambda x: ops.unbind(x, 1), lambda x: [x[:, i] for i in range(3)]),
    ("narrow", lambda x: ops.narrow(x, 2, 1, 2), lambda x: x[:, :, 1:3]),
    ("slice", lambda x: ops.slice(x, (0, 1, 1), (2, 2, -1)), lambda x: x[:, 1:3, 1:]),
    ("strided_slice", lambda x: ops.strided_slice(x, (0, 0, 3), (2, 3, 0), (1, 2, -1)), lambda x: x[:, ::2, 3:0:-1]),
    ("pad", lambda x: ops.pad(x, (1, 2, 0, 1)), lambda x: np.pad(x, ((0, 0), (0, 1), (1, 2)))),
    ("pad_value", lambda x: ops.pad(x, (1, 0), value=2.5), lambda x: np.pad(x, ((0, 0), (0, 0), (1, 0)), constant_values=2.5)),
    ("pad_crop", lambda x: ops.pad(x, (-1, 1)), lambda x: np.pad(x[..., 1:], ((0, 0), (0, 0), (0, 1)))),
    ("pad_reflect", lambda x: ops.pad(x, (2, 1), "reflect"), lambda x: np.pad(x, ((0, 0), (0, 0), (2, 1)), "reflect")),
    ("pad_replicate", lambda x: ops.pad(x, (2, 1), "replicate"), lambda x: np.pad(x, ((0, 0), (0, 0), (2, 1)), "edge")),
    ("pad_circular", lambda x: ops.pad(x, (2, 1), "circular"), lambda x: np.pad(x, ((0, 0), (0, 0), (2, 1)), "wrap")),
    ("mirror_pad", lambda x: ops.mirror_pad(x, ((0, 0), (1, 1), (2, 0)), "SYMMETRIC"), lambda x: np.pad(x, ((0, 0), (1, 1), (2, 0)), "symmetric")),
    ("atleast_3d", lambda x: ops.atleast_3d(x[0]), lambda x: np.atleast_3d(x[0])),
    ("meshgrid", lambda x: ops.meshgrid(x[0, 0], x[0, :, 0]), lambda x: np.meshgrid(x[0, 0], x[0, :, 0])),
    ("meshgrid_ij", lambda x: ops.meshgrid(x[0, 0], x[0, :, 0], indexing="ij"), lambda x: np.meshgrid(x[0, 0], x[0, :, 0], indexing="ij")),
    ("unstack_class", lambda x: ops.Unstack(axis=-1)(x), lambda x: [x[..., i] for i in range(4)]),
    ("split_class", lambda x: ops.Split(2, 2)(x), lambda x: np.split(x, 2, 2)),
    ("reverse_class", lambda x: ops.ReverseV2([1])(x), lambda x: x[:, ::-1]),
    ("tile_class", lambda x: ops.Tile()(x, (1, 2, 1)), lambda x: np.tile(x, (1, 2, 1))),
]  # fmt: skip


@pytest.mark.parametrize("name,fn,oracle", CASES, ids=[c[0] for c in CASES])
def test_shape(name, fn, oracle):
    check(fn, oracle, X, grad=1)


def test_block_diag_and_diagonals():
    check(lambda a, b: ops.block_diag(a, b), lambda a, b: __import__("scipy.linalg").linalg.block_diag(a, b), M, M.T)
    check(lambda a: ops.diagonal(a, 1), lambda a: np.diagonal(a, 1), M)
    check(lambda a: ops.diagonal(a, -1, 2, 1), lambda a: np.diagonal(a, -1, 2, 1), X)
    check(lambda a: ops.diag_embed(a, 1), lambda a: np.stack([np.diag(r, 1) for r in a]), M)
    check(lambda a: ops.diag_embed(a, 0, 0, 2), lambda a: np.moveaxis(np.stack([np.diag(r) for r in a]), 1, 0), M)
    check(lambda a: ops.diagflat(a, -1), lambda a: np.diagflat(a, -1), M)
    check(lambda a: ops.tril(a, -1), lambda a: np.tril(a, -1), X)
    check(lambda a: ops.triu(a, 1), lambda a: np.triu(a, 1), X)
    check(ops.trace, np.trace, M)


def test_depth_and_space_are_inverse():
    x = RNG.normal(size=(2, 8, 3, 2))
    check(lambda x: ops.SpaceToDepth(2)(ops.DepthToSpace(2)(x)), lambda x: x, x, grad=1)
    check(lambda x: ops.batch_to_space_nd(ops.space_to_batch_nd(x, [1, 2], [[0, 0], [1, 1]]), [1, 2], [[0, 0], [1, 1]]),
          lambda x: x, x, grad=1)  # fmt: skip


def test_space_to_batch_values():
    x = np.arange(4.0).reshape(1, 1, 2, 2)
    out = ops.space_to_batch_nd(Tensor(x), [2, 2], [[0, 0], [0, 0]])
    assert out.tolist() == [[[[0.0]]], [[[1.0]]], [[[2.0]]], [[[3.0]]]]


BAD = [
    (lambda x: ops.reshape(x, (5, 5)), ValueError, "cannot take the shape"),
    (lambda x: ops.reshape(x, (-1, -1)), ValueError, "at most one"),
    (lambda x: ops.transpose(x, (0, 0, 1)), ValueError, "repeat"),
    (lambda x: ops.transpose(x, (0, 1)), ValueError, "all 3"),
    (lambda x: ops.concat((x, x[:, :1]), 0), ValueError, "same shape except"),
    (lambda x: ops.concat((), 0), ValueError, "at least one"),
    (lambda x: ops.concat((x, 3), 0), TypeError, "must be a Tensor"),
    (lambda x: ops.stack((x, x[0]), 0), ValueError, "same shape"),
    (lambda x: ops.split(x, (1, 1), 2), ValueError, "add up"),
    (lambda x: ops.split(x, 0, 2), ValueError, "at least 1"),
    (lambda x: ops.expand_dims(x, 9), ValueError, "range"),
    (lambda x: ops.swapaxes(x, 0, 3), ValueError, "range"),
    (lambda x: ops.broadcast_to(x, (3, 3, 4)), ValueError, "broadcast"),
    (lambda x: ops.pad(x, (1, 2, 3)), ValueError, "even"),
    (lambda x: ops.pad(x, (9, 9), "reflect"), ValueError, "reflect"),
    (lambda x: ops.narrow(x, 0, 1, 5), ValueError, "narrow"),
    (lambda x: ops.tile(x, (-1,)), ValueError, "negative"),
    (lambda x: ops.reshape([1, 2], (2,)), TypeError, "Tensor"),
    (lambda x: ops.flatten(x, "Q"), ValueError, "order"),
]  # fmt: skip


@pytest.mark.parametrize("fn,error,words", BAD)
def test_bad_arguments_in_the_same_words_in_both_modes(fn, error, words):
    import mindspore as ms

    x = Tensor(X.astype(np.float32))
    with pytest.raises(error, match=words):
        fn(x)
    with pytest.raises(error, match=words):
        ms.jit(fn)(x)


def test_layouts():
    assert ops.DataFormatDimMap()(Tensor([0, 1, 2, 3, -1])).asnumpy().tolist() == [0, 3, 1, 2, 2]
    assert ops.DataFormatVecPermute()(Tensor([1, 2, 3, 4])).asnumpy().tolist() == [1, 4, 2, 3]


def test_split_by_sizes():
    parts = ops.SplitWithSize()(Tensor([1, 2, 3, 4]), (1, 3), 0)
    assert [p.asnumpy().tolist() for p in parts] == [[1], [2, 3, 4]]
