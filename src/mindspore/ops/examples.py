"""Examples of operations that are made from tables, and the words of those whose table has no room for any.

`attach` puts them into the docstrings, where `help`, the API reference and the doctests find them.
"""

from __future__ import annotations

from typing import Any

#: name: what it computes ("" where the operation says so itself), the call, its result
EXAMPLES: dict[str, tuple[str, str, str]] = {
    "Tensor.mean": ("", "Tensor([1.0, 3.0]).mean().item()", "2.0"),
    "Tensor.float": ("", "Tensor([1, 2]).float().dtype", "mindspore.float32"),
    "Tensor.argmax": ("", "Tensor([1.0, 5.0, 2.0]).argmax().item()", "1"),
    "Tensor.not_equal": ("", "Tensor([1, 2]).not_equal(2).tolist()", "[True, False]"),
    "Tensor.split": ("", "[t.tolist() for t in Tensor([1, 2, 3, 4]).split(2)]", "[[1, 2], [3, 4]]"),
    "Tensor.chunk": ("", "[t.tolist() for t in Tensor([1, 2, 3, 4]).chunk(2)]", "[[1, 2], [3, 4]]"),
    "Tensor.all": ("", "Tensor([True, False]).all().item()", "False"),
    "Tensor.data": ("", "Tensor([1.0]).data.tolist()", "[1.0]"),
    "Tensor.value": ("", "Tensor([1.0]).value().tolist()", "[1.0]"),
    "Shape": ("", "ops.Shape()(Tensor([[1.0, 2.0]]))", "(1, 2)"),
    "StridedSlice": ("", "ops.StridedSlice()(Tensor([1, 2, 3, 4]), (0,), (4,), (2,)).tolist()", "[1, 3]"),
    "OneHot": (
        "",
        "ops.OneHot()(Tensor([0, 2]), 3, Tensor(1.0), Tensor(0.0)).tolist()",
        "[[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]",
    ),
    "Split": ("", "[t.tolist() for t in ops.Split(0, 2)(Tensor([1, 2, 3, 4]))]", "[[1, 2], [3, 4]]"),
    "Ones": ("", "ops.Ones()((2,), ms.float32).tolist()", "[1.0, 1.0]"),
    "ResizeNearestNeighbor": (
        "",
        "ops.ResizeNearestNeighbor((1, 4))(Tensor([[[[1.0, 2.0]]]])).tolist()",
        "[[[[1.0, 1.0, 2.0, 2.0]]]]",
    ),
    "ArgMaxWithValue": (
        "",
        "place, value = ops.ArgMaxWithValue()(Tensor([1.0, 5.0])); place.item(), value.item()",
        "(1, 5.0)",
    ),
    "ReverseV2": ("", "ops.ReverseV2([0])(Tensor([1, 2, 3])).tolist()", "[3, 2, 1]"),
    "L2Normalize": ("", "ops.L2Normalize(axis=0)(Tensor([3.0, 4.0])).shape", "(2,)"),
    "Slice": ("", "ops.Slice()(Tensor([1, 2, 3, 4]), (1,), (2,)).tolist()", "[2, 3]"),
    "ResizeBilinear": (
        "",
        "ops.ResizeBilinear((1, 3), align_corners=True)(Tensor([[[[1.0, 2.0]]]])).tolist()",
        "[[[[1.0, 1.5, 2.0]]]]",
    ),
    "Flatten": ("", "ops.Flatten()(Tensor(np.ones((2, 3, 4), np.float32))).shape", "(2, 12)"),
    "UniformReal": ("", "ops.UniformReal()((2, 3)).shape", "(2, 3)"),
    "Depend": ("", "ops.Depend()(Tensor([1.0]), Tensor([2.0])).tolist()", "[1.0]"),
    "Identity": ("", "ops.Identity()(Tensor([1.0])).tolist()", "[1.0]"),
    "SigmoidCrossEntropyWithLogits": (
        "",
        "ops.SigmoidCrossEntropyWithLogits()(Tensor([0.0]), Tensor([1.0])).shape",
        "(1,)",
    ),
    "BiasAdd": ("", "ops.BiasAdd()(Tensor([[1.0, 2.0]]), Tensor([10.0, 20.0])).tolist()", "[[11.0, 22.0]]"),
    "NPUAllocFloatStatus": ("", "ops.NPUAllocFloatStatus()().shape", "(8,)"),
    "NPUClearFloatStatus": ("", "ops.NPUClearFloatStatus()(ops.NPUAllocFloatStatus()()).shape", "(8,)"),
    "NPUGetFloatStatus": ("", "ops.NPUGetFloatStatus()(ops.NPUAllocFloatStatus()()).shape", "(8,)"),
    "RandomChoiceWithMask": (
        "",
        "places, valid = ops.RandomChoiceWithMask(count=2)(Tensor([[True, False]])); valid.tolist()",
        "[True, False]",
    ),
    "FloatStatus": ("", "ops.FloatStatus()(Tensor([1.0, float('inf')])).tolist()", "[1.0]"),
    "Add": ("x + y, with broadcasting.", "ops.Add()(Tensor([1.0]), Tensor([2.0])).tolist()", "[3.0]"),
    "Mul": ("x * y, with broadcasting.", "ops.Mul()(Tensor([2.0]), Tensor([3.0])).tolist()", "[6.0]"),
    "Sub": ("x - y, with broadcasting.", "ops.Sub()(Tensor([3.0]), Tensor([1.0])).tolist()", "[2.0]"),
    "ReLU": ("max(x, 0).", "ops.ReLU()(Tensor([-1.0, 2.0])).tolist()", "[0.0, 2.0]"),
    "Sigmoid": ("1 / (1 + exp(-x)).", "ops.Sigmoid()(Tensor([0.0])).tolist()", "[0.5]"),
    "NotEqual": (
        "Whether x and y differ, element by element.",
        "ops.NotEqual()(Tensor([1, 2]), Tensor([1, 3])).tolist()",
        "[False, True]",
    ),
    "Log": ("The natural logarithm.", "ops.Log()(Tensor([1.0])).tolist()", "[0.0]"),
    "Sqrt": ("The square root.", "ops.Sqrt()(Tensor([9.0])).tolist()", "[3.0]"),
    "Exp": ("e to the power of x.", "ops.Exp()(Tensor([0.0])).tolist()", "[1.0]"),
    "Square": ("x * x.", "ops.Square()(Tensor([3.0])).tolist()", "[9.0]"),
    "Equal": (
        "Whether x and y are equal, element by element.",
        "ops.Equal()(Tensor([1, 2]), Tensor([1, 3])).tolist()",
        "[True, False]",
    ),
    "Greater": (
        "Whether x > y, element by element.",
        "ops.Greater()(Tensor([1, 2]), Tensor([1, 1])).tolist()",
        "[False, True]",
    ),
    "Pow": ("x to the power of y.", "ops.Pow()(Tensor([2.0]), 3.0).tolist()", "[8.0]"),
    "Less": (
        "Whether x < y, element by element.",
        "ops.Less()(Tensor([1, 2]), Tensor([2, 2])).tolist()",
        "[True, False]",
    ),
    "Minimum": (
        "The smaller of each pair of elements.",
        "ops.Minimum()(Tensor([1, 5]), Tensor([3, 3])).tolist()",
        "[1, 3]",
    ),
    "Reciprocal": ("1 / x.", "ops.Reciprocal()(Tensor([4.0])).tolist()", "[0.25]"),
    "Maximum": (
        "The larger of each pair of elements.",
        "ops.Maximum()(Tensor([1, 5]), Tensor([3, 3])).tolist()",
        "[3, 5]",
    ),
    "GreaterEqual": (
        "Whether x >= y, element by element.",
        "ops.GreaterEqual()(Tensor([1, 2]), Tensor([2, 2])).tolist()",
        "[False, True]",
    ),
    "Neg": ("-x.", "ops.Neg()(Tensor([1.0])).tolist()", "[-1.0]"),
    "LessEqual": (
        "Whether x <= y, element by element.",
        "ops.LessEqual()(Tensor([1, 3]), Tensor([2, 2])).tolist()",
        "[True, False]",
    ),
    "LogicalAnd": (
        "Whether both are true.",
        "ops.LogicalAnd()(Tensor([True, True]), Tensor([True, False])).tolist()",
        "[True, False]",
    ),
    "DType": ("", "ops.DType()(Tensor([1.0]))", "mindspore.float32"),
    "Tanh": ("The hyperbolic tangent.", "ops.Tanh()(Tensor([0.0])).tolist()", "[0.0]"),
    "Cos": ("The cosine of an angle in radians.", "ops.Cos()(Tensor([0.0])).tolist()", "[1.0]"),
    "mul": ("", "ops.mul(Tensor([1.0, 2.0]), 3.0).tolist()", "[3.0, 6.0]"),
    "exp": ("", "ops.exp(Tensor([0.0])).tolist()", "[1.0]"),
    "log": ("", "ops.log(Tensor([1.0])).tolist()", "[0.0]"),
    "logical_and": ("", "ops.logical_and(Tensor([True, True]), Tensor([True, False])).tolist()", "[True, False]"),
    "square": ("", "ops.square(Tensor([3.0])).tolist()", "[9.0]"),
    "maximum": ("", "ops.maximum(Tensor([1, 5]), 3).tolist()", "[3, 5]"),
    "sigmoid": ("", "ops.sigmoid(Tensor([0.0])).tolist()", "[0.5]"),
    "minimum": ("", "ops.minimum(Tensor([1, 5]), 3).tolist()", "[1, 3]"),
    "sin": ("", "ops.sin(Tensor([0.0])).tolist()", "[0.0]"),
    "cos": ("", "ops.cos(Tensor([0.0])).tolist()", "[1.0]"),
    "abs": ("", "ops.abs(Tensor([-2.0, 1.0])).tolist()", "[2.0, 1.0]"),
    "equal": ("", "ops.equal(Tensor([1, 2]), 2).tolist()", "[False, True]"),
    "floor": ("", "ops.floor(Tensor([1.7, -1.2])).tolist()", "[1.0, -2.0]"),
    "ACos": ("The angle whose cosine is x.", "ops.ACos()(Tensor([1.0])).tolist()", "[0.0]"),
    "Acosh": ("The inverse of the hyperbolic cosine.", "ops.Acosh()(Tensor([1.0])).tolist()", "[0.0]"),
    "Asin": ("The angle whose sine is x.", "ops.Asin()(Tensor([0.0])).tolist()", "[0.0]"),
    "Asinh": ("The inverse of the hyperbolic sine.", "ops.Asinh()(Tensor([0.0])).tolist()", "[0.0]"),
    "Atan": ("The angle whose tangent is x.", "ops.Atan()(Tensor([0.0])).tolist()", "[0.0]"),
    "Atanh": ("The inverse of the hyperbolic tangent.", "ops.Atanh()(Tensor([0.0])).tolist()", "[0.0]"),
    "BesselI0": (
        "The modified Bessel function of the first kind, order 0.",
        "ops.BesselI0()(Tensor([0.0])).tolist()",
        "[1.0]",
    ),
    "BesselI0e": (
        "exp(-|x|) times the modified Bessel function of the first kind, order 0.",
        "ops.BesselI0e()(Tensor([0.0])).tolist()",
        "[1.0]",
    ),
    "BesselI1": (
        "The modified Bessel function of the first kind, order 1.",
        "ops.BesselI1()(Tensor([0.0])).tolist()",
        "[0.0]",
    ),
    "BesselI1e": (
        "exp(-|x|) times the modified Bessel function of the first kind, order 1.",
        "ops.BesselI1e()(Tensor([0.0])).tolist()",
        "[0.0]",
    ),
    "BesselJ0": ("The Bessel function of the first kind, order 0.", "ops.BesselJ0()(Tensor([0.0])).tolist()", "[1.0]"),
    "BesselJ1": ("The Bessel function of the first kind, order 1.", "ops.BesselJ1()(Tensor([0.0])).tolist()", "[0.0]"),
    "BesselK0": (
        "The modified Bessel function of the second kind, order 0.",
        "ops.BesselK0()(Tensor([1.0, 2.0])).shape",
        "(2,)",
    ),
    "BesselK0e": (
        "exp(x) times the modified Bessel function of the second kind, order 0.",
        "ops.BesselK0e()(Tensor([1.0, 2.0])).shape",
        "(2,)",
    ),
    "BesselK1": (
        "The modified Bessel function of the second kind, order 1.",
        "ops.BesselK1()(Tensor([1.0, 2.0])).shape",
        "(2,)",
    ),
    "BesselK1e": (
        "exp(x) times the modified Bessel function of the second kind, order 1.",
        "ops.BesselK1e()(Tensor([1.0, 2.0])).shape",
        "(2,)",
    ),
    "BesselY0": (
        "The Bessel function of the second kind, order 0.",
        "ops.BesselY0()(Tensor([1.0, 2.0])).shape",
        "(2,)",
    ),
    "BesselY1": (
        "The Bessel function of the second kind, order 1.",
        "ops.BesselY1()(Tensor([1.0, 2.0])).shape",
        "(2,)",
    ),
    "Ceil": ("The least integer not below x.", "ops.Ceil()(Tensor([1.2])).tolist()", "[2.0]"),
    "Conj": ("The complex conjugate.", "ops.Conj()(Tensor([1+2j])).tolist()", "[(1-2j)]"),
    "Cosh": ("The hyperbolic cosine.", "ops.Cosh()(Tensor([0.0])).tolist()", "[1.0]"),
    "Dawsn": ("Dawson's integral.", "ops.Dawsn()(Tensor([0.0])).tolist()", "[0.0]"),
    "Digamma": (
        "The derivative of the logarithm of the gamma function.",
        "ops.Digamma()(Tensor([1.0, 2.0])).shape",
        "(2,)",
    ),
    "Erf": ("The error function.", "ops.Erf()(Tensor([0.0])).tolist()", "[0.0]"),
    "Erfc": ("1 minus the error function.", "ops.Erfc()(Tensor([0.0])).tolist()", "[1.0]"),
    "Erfinv": ("The inverse of the error function.", "ops.Erfinv()(Tensor([0.0])).tolist()", "[0.0]"),
    "Expm1": ("exp(x) - 1, exact for small x.", "ops.Expm1()(Tensor([0.0])).tolist()", "[0.0]"),
    "Floor": ("The greatest integer not above x.", "ops.Floor()(Tensor([1.7])).tolist()", "[1.0]"),
    "Invert": ("Every bit flipped.", "ops.Invert()(Tensor([5])).tolist()", "[-6]"),
    "IsFinite": ("Whether x is neither infinite nor NaN.", "ops.IsFinite()(Tensor([1.0])).tolist()", "[True]"),
    "IsInf": ("Whether x is infinite.", "ops.IsInf()(Tensor([1.0])).tolist()", "[False]"),
    "IsNan": ("Whether x is not a number.", "ops.IsNan()(Tensor([1.0])).tolist()", "[False]"),
    "Lgamma": ("The logarithm of the size of the gamma function.", "ops.Lgamma()(Tensor([1.0])).tolist()", "[0.0]"),
    "Log10": ("The logarithm to base 10.", "ops.Log10()(Tensor([1.0])).tolist()", "[0.0]"),
    "Log1p": ("log(1 + x), exact for small x.", "ops.Log1p()(Tensor([0.0])).tolist()", "[0.0]"),
    "Log2": ("The logarithm to base 2.", "ops.Log2()(Tensor([8.0])).tolist()", "[3.0]"),
    "LogicalNot": ("Whether x is false.", "ops.LogicalNot()(Tensor([True])).tolist()", "[False]"),
    "Rint": ("The nearest integer, halves to the even one.", "ops.Rint()(Tensor([2.5])).tolist()", "[2.0]"),
    "Rsqrt": ("1 / sqrt(x).", "ops.Rsqrt()(Tensor([4.0])).tolist()", "[0.5]"),
    "Sign": ("-1, 0 or 1, as x is negative, zero or positive.", "ops.Sign()(Tensor([-3.0])).tolist()", "[-1.0]"),
    "SignBit": ("Whether the sign bit is set.", "ops.SignBit()(Tensor([-3.0])).tolist()", "[True]"),
    "Sin": ("The sine of an angle in radians.", "ops.Sin()(Tensor([0.0])).tolist()", "[0.0]"),
    "Sinh": ("The hyperbolic sine.", "ops.Sinh()(Tensor([0.0])).tolist()", "[0.0]"),
    "Softplus": ("log(1 + exp(x)), without overflow.", "ops.Softplus()(Tensor([100.0])).tolist()", "[100.0]"),
    "Spence": ("Spence's function, the dilogarithm of 1 - x.", "ops.Spence()(Tensor([1.0])).tolist()", "[0.0]"),
    "Tan": ("The tangent of an angle in radians.", "ops.Tan()(Tensor([0.0])).tolist()", "[0.0]"),
    "Trunc": ("The integer part.", "ops.Trunc()(Tensor([-1.7])).tolist()", "[-1.0]"),
    "Atan2": (
        "The angle of the point (y, x), in radians.",
        "ops.Atan2()(Tensor([0.0]), Tensor([1.0])).tolist()",
        "[0.0]",
    ),
    "BitwiseAnd": ("Bits set in both.", "ops.BitwiseAnd()(Tensor([12]), Tensor([10])).tolist()", "[8]"),
    "BitwiseOr": ("Bits set in either.", "ops.BitwiseOr()(Tensor([12]), Tensor([10])).tolist()", "[14]"),
    "BitwiseXor": ("Bits set in exactly one.", "ops.BitwiseXor()(Tensor([12]), Tensor([10])).tolist()", "[6]"),
    "DivNoNan": ("x / y, and 0 where y is 0.", "ops.DivNoNan()(Tensor([1.0]), Tensor([0.0])).tolist()", "[0.0]"),
    "FloorDiv": ("floor(x / y).", "ops.FloorDiv()(Tensor([7.0]), Tensor([2.0])).tolist()", "[3.0]"),
    "FloorMod": (
        "The remainder of x / y with the sign of y.",
        "ops.FloorMod()(Tensor([-7.0]), Tensor([3.0])).tolist()",
        "[2.0]",
    ),
    "Gcd": ("The greatest common divisor.", "ops.Gcd()(Tensor([12]), Tensor([18])).tolist()", "[6]"),
    "Hypot": ("sqrt(x**2 + y**2), without overflow.", "ops.Hypot()(Tensor([3.0]), Tensor([4.0])).tolist()", "[5.0]"),
    "Igamma": (
        "The lower incomplete gamma function, regularised.",
        "ops.Igamma()(Tensor([1.5, 2.0]), Tensor([1.0, 2.0])).shape",
        "(2,)",
    ),
    "Igammac": (
        "The upper incomplete gamma function, regularised.",
        "ops.Igammac()(Tensor([1.5, 2.0]), Tensor([1.0, 2.0])).shape",
        "(2,)",
    ),
    "Lcm": ("The least common multiple.", "ops.Lcm()(Tensor([4]), Tensor([6])).tolist()", "[12]"),
    "LeftShift": ("x << y.", "ops.LeftShift()(Tensor([1]), Tensor([3])).tolist()", "[8]"),
    "LogicalOr": ("Whether either is true.", "ops.LogicalOr()(Tensor([True]), Tensor([False])).tolist()", "[True]"),
    "LogicalXor": (
        "Whether exactly one is true.",
        "ops.LogicalXor()(Tensor([True]), Tensor([False])).tolist()",
        "[True]",
    ),
    "Mod": (
        "The remainder of x / y with the sign of x.",
        "ops.Mod()(Tensor([-7.0]), Tensor([3.0])).tolist()",
        "[-1.0]",
    ),
    "NextAfter": (
        "The next float after x towards y.",
        "ops.NextAfter()(Tensor([1.5, 2.0]), Tensor([1.0, 2.0])).shape",
        "(2,)",
    ),
    "Polygamma": (
        "The x-th derivative of the digamma function at y.",
        "ops.Polygamma()(Tensor(1), Tensor([1.0, 2.0])).shape",
        "(2,)",
    ),
    "RightShift": ("x >> y.", "ops.RightShift()(Tensor([8]), Tensor([2])).tolist()", "[2]"),
    "SquaredDifference": ("(x - y) ** 2.", "ops.SquaredDifference()(Tensor([5.0]), Tensor([2.0])).tolist()", "[9.0]"),
    "TruncateDiv": (
        "x / y, rounded towards zero.",
        "ops.TruncateDiv()(Tensor([-7.0]), Tensor([2.0])).tolist()",
        "[-3.0]",
    ),
    "TruncateMod": (
        "The remainder of x / y with the sign of x.",
        "ops.TruncateMod()(Tensor([-7.0]), Tensor([3.0])).tolist()",
        "[-1.0]",
    ),
    "Xdivy": ("x / y, and 0 where x is 0.", "ops.Xdivy()(Tensor([0.0]), Tensor([0.0])).tolist()", "[0.0]"),
    "Xlogy": ("x * log(y), and 0 where x is 0.", "ops.Xlogy()(Tensor([0.0]), Tensor([0.0])).tolist()", "[0.0]"),
    "Zeta": ("The Hurwitz zeta function.", "ops.Zeta()(Tensor([1.5, 2.0]), Tensor([1.0, 2.0])).shape", "(2,)"),
    "Tensor.cpu": ("This tensor in the memory of the CPU.", "Tensor([1.0]).cpu().tolist()", "[1.0]"),
    "Tensor.dim": ("The number of dimensions.", "Tensor([[1.0]]).dim()", "2"),
    "Tensor.ndimension": ("The number of dimensions.", "Tensor([[1.0]]).ndimension()", "2"),
    "Tensor.nelement": ("The number of elements.", "Tensor([1.0, 2.0]).nelement()", "2"),
    "Tensor.is_signed": ("Whether elements can be negative.", "Tensor([1, 2]).is_signed()", "True"),
    "Tensor.move_to": ("This tensor: there is one memory here.", "Tensor([1.0]).move_to('CPU').tolist()", "[1.0]"),
    "Tensor.set_const_arg": (
        "Mark the tensor as a constant of compiled functions.",
        "Tensor([1.0]).set_const_arg().tolist()",
        "[1.0]",
    ),
    "Tensor.storage_offset": ("0: tensors share no memory.", "Tensor([1.0]).storage_offset()", "0"),
    "Tensor.relu": ("max(x, 0).", "Tensor([-1.0, 2.0]).relu().tolist()", "[0.0, 2.0]"),
    "Tensor.hardshrink": (
        "0 where |x| is at most `lambd`, else x.",
        "Tensor([0.1, 2.0]).hardshrink().tolist()",
        "[0.0, 2.0]",
    ),
    "Tensor.log_softmax": (
        "The logarithm of softmax along an axis.",
        "Tensor([[0.0, 0.0]]).log_softmax(-1).shape",
        "(1, 2)",
    ),
    "Tensor.fold": (
        "Put columns of blocks together again.",
        "Tensor(np.ones((1, 4, 4), np.float32)).fold((4, 4), 2, stride=2).shape",
        "(1, 1, 4, 4)",
    ),
    "Tensor.unfold": (
        "Blocks of an image, or of an axis, as columns.",
        "Tensor(np.ones((1, 1, 4, 4), np.float32)).unfold(2).shape",
        "(1, 4, 9)",
    ),
    "tensor_mod": (
        "The remainder of x / y with the sign of y.",
        "ops.tensor_mod(Tensor([-7.0]), Tensor([3.0])).tolist()",
        "[2.0]",
    ),
}


def attach(ops: Any, tensor: type) -> None:
    """Complete the docstrings of the operations in `ops` and of methods of `tensor`."""
    for name, (words, call, result) in EXAMPLES.items():
        owner, attribute = (tensor, name[7:]) if name.startswith("Tensor.") else (ops, name)
        target = getattr(owner, attribute)
        target = target.fget if isinstance(target, property) else target
        text = words or (target.__doc__ or "").rstrip()
        if ">>>" in text:
            continue  # an alias of one that has been completed
        lines = "".join(f"        >>> {step}\n" for step in call.split("; "))
        imports = "        >>> from mindspore import Tensor, ops\n"
        for used, module in (("ms.", "import mindspore as ms"), ("np.", "import numpy as np")):
            imports = f"        >>> {module}\n{imports}" if used in call else imports
        target.__doc__ = f"{text}\n\n    Examples:\n{imports}{lines}        {result}\n    "
