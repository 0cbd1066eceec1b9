"""Older names of functions."""

from __future__ import annotations

from mindspore.ops import function as F
from mindspore.prims import elementwise as ew

tensor_add, tensor_sub, tensor_mul, tensor_div = F.add, F.sub, F.mul, ew.RealDiv()
tensor_muls, tensor_mod, tensor_floordiv = F.mul, ew.FloorMod(), F.floor_divide
tensor_pow = pows = F.pow
tensor_exp, tensor_expm1 = F.exp, F.expm1
tensor_lt, tensor_le, tensor_gt, tensor_ge = F.lt, F.le, F.gt, F.ge
tensor_slice, tensor_range = F.slice, F.range
floordiv, floormod = F.floor_divide, F.floor_mod
neg_tensor = F.neg
isnan_ext, einsum_ext, baddbmm_ext, diff_ext, float_power_ext = F.isnan, F.einsum, F.baddbmm, F.diff, F.float_power
merge = F.identity
stop_gradient_ = F.stop_gradient

__all__ = [
    "baddbmm_ext", "diff_ext", "einsum_ext", "float_power_ext", "floordiv", "floormod", "isnan_ext", "merge",
    "neg_tensor", "pows", "stop_gradient_", "tensor_add", "tensor_div", "tensor_exp", "tensor_expm1",
    "tensor_floordiv", "tensor_ge", "tensor_gt", "tensor_le", "tensor_lt", "tensor_mod", "tensor_mul", "tensor_muls",
    "tensor_pow", "tensor_range", "tensor_slice", "tensor_sub",
]  # fmt: skip
