"""Calls with the argument names of MindSpore 1.x."""

from __future__ import annotations

import numpy as np
import pytest

from mindspore import Tensor, ops

X = Tensor(np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4))


@pytest.mark.parametrize("mode", ["align_corners", "half_pixel"])
def test_interpolate(mode):
    found = ops.interpolate(X, sizes=(6, 8), coordinate_transformation_mode=mode, mode="bilinear")
    expected = ops.interpolate(X, size=(6, 8), mode="bilinear", align_corners=mode == "align_corners")
    np.testing.assert_array_equal(found.asnumpy(), expected.asnumpy())
    by_scale = ops.interpolate(
        X, None, (1.0, 1.0, 2.0, 2.0), None, coordinate_transformation_mode=mode, mode="bilinear"
    )
    np.testing.assert_array_equal(by_scale.asnumpy(), expected.asnumpy())
    with pytest.raises(ValueError, match="coordinate_transformation_mode"):
        ops.interpolate(X, sizes=(6, 8), coordinate_transformation_mode="none")


def test_asymmetric_interpolation_repeats_from_the_first_element():
    row = Tensor(np.array([[[0.0, 2.0]]], np.float32))
    out = ops.interpolate(row, sizes=(4,), coordinate_transformation_mode="asymmetric", mode="linear")
    np.testing.assert_allclose(out.asnumpy()[0, 0], [0, 1, 2, 2])


def test_split_into_a_number_of_parts():
    parts = ops.split(X, axis=3, output_num=2)
    np.testing.assert_array_equal(parts[1].asnumpy(), X.asnumpy()[..., 2:])
    assert len(ops.split(input_x=X, axis=2, output_num=3)) == 3
    with pytest.raises(ValueError, match="equal parts"):
        ops.split(X, axis=2, output_num=2)


def test_older_names_of_arguments():
    x = X.asnumpy()
    np.testing.assert_allclose(
        ops.logsumexp(X, axis=1, keep_dims=True).asnumpy(), np.log(np.exp(x).sum(1, keepdims=True)), rtol=1e-6
    )
    np.testing.assert_allclose(
        ops.norm(X, axis=3, p=2, keep_dims=True).asnumpy(), np.linalg.norm(x, axis=3, keepdims=True)
    )
    np.testing.assert_array_equal(ops.transpose(X, input_perm=(0, 2, 3, 1)).asnumpy(), x.transpose(0, 2, 3, 1))
    grid = Tensor(np.zeros((1, 1, 1, 2), np.float32))
    new = ops.grid_sample(X, grid, mode="bilinear")
    np.testing.assert_array_equal(
        ops.grid_sample(input_x=X, grid=grid, interpolation_mode="bilinear").asnumpy(), new.asnumpy()
    )
