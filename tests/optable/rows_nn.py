"""Activations and normalisation."""

import numpy as np
from scipy import special
from table import FLOAT, Fixed, plus, positive, real, row, unit

X, P, U = real(3, 4), positive(3, 4), unit(3, 4)
SMOOTH = real(3, 4) + 0.013


def sigmoid(x):
    return special.expit(x)


def softplus(x):
    return np.logaddexp(0, x)


# -- activations ------------------------------------------------------------------------------------------------------
F_ = "mint.nn.functional."
row(f"relu ReLU() Tensor.relu {F_}relu", lambda x: np.maximum(x, 0), X, dtypes=FLOAT + " i", empty=True)
row("ReLUV2()", lambda x: np.maximum(x, 0), X, call=lambda f, x: f(x)[0])
row(f"relu6 ReLU6() {F_}relu6", lambda x: np.clip(x, 0, 6), 4 * X)
row("leaky_relu LeakyReLU(0.2)", lambda x: np.where(x > 0, x, 0.2 * x), X, call=plus(0.2))
row(f"{F_}leaky_relu", lambda x: np.where(x > 0, x, 0.01 * x), X)
row(f"prelu PReLU() {F_}prelu", lambda x, w: np.where(x > 0, x, w * x), X, positive(4))
row(f"elu Elu() {F_}elu", lambda x: np.where(x > 0, x, np.expm1(x)), X)
row("celu CeLU(1.5)", lambda x: np.maximum(x, 0) + np.minimum(0, 1.5 * np.expm1(x / 1.5)), X, call=plus(1.5))
row(f"selu SeLU() {F_}selu", lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)), X)
row(f"gelu GeLUErf() {F_}gelu", lambda x: x * (1 + special.erf(x / np.sqrt(2))) / 2, X, tolerance=2)
row(
    "GeLU() Gelu() gelu",
    lambda x: x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2,
    X,
    call=lambda f, x: f(x) if hasattr(f, "attrs") else f(x, "tanh"),
    tolerance=2,
)
row(
    "fast_gelu FastGeLU() FastGelu()",
    lambda x: x / (1 + np.exp(-1.702 * np.abs(x))) * np.exp(0.851 * (x - np.abs(x))),
    X,
    tolerance=2,
)
row(f"silu swish SiLU() {F_}silu", lambda x: x * sigmoid(x), X)
row("mish Mish() " + F_ + "mish", lambda x: x * np.tanh(softplus(x)), X, tolerance=2)
row(f"hardswish HSwish() {F_}hardswish", lambda x: x * np.clip(x + 3, 0, 6) / 6, 2 * X)
row(f"hardsigmoid HSigmoid() {F_}hardsigmoid", lambda x: np.clip(x + 3, 0, 6) / 6, 2 * X)
row(f"hardshrink HShrink(0.5) {F_}hardshrink", lambda x: np.where(np.abs(x) > 0.5, x, 0), X, call=plus(0.5))
row(
    f"softshrink soft_shrink SoftShrink(0.5) {F_}softshrink",
    lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0),
    X,
    call=plus(0.5),
)
row("hardtanh Hardtanh(-0.5,0.75)", lambda x: np.clip(x, -0.5, 0.75), X, call=plus(-0.5, 0.75))
row("tanhshrink", lambda x: x - np.tanh(x), X, tolerance=2)
row("threshold Threshold(0.3,-2.0)", lambda x: np.where(x > 0.3, x, -2.0), X, call=plus(0.3, -2.0))
row("softsign Softsign()", lambda x: x / (1 + np.abs(x)), X)
row(f"softplus Softplus() {F_}softplus", softplus, X)
row("softplus SoftplusBeta(2.0,3.0)", lambda x: np.where(2 * x > 3, x, softplus(2 * x) / 2), X, call=plus(2, 3))
row(f"logsigmoid LogSigmoid() {F_}logsigmoid", lambda x: -softplus(-x), X)
row(
    f"softmax Softmax() Tensor.softmax {F_}softmax",
    lambda x: special.softmax(x, -1),
    X,
    call=lambda f, x: f(x) if hasattr(f, "attrs") else f(x, -1),
)
row("softmax Softmax(0)", lambda x: special.softmax(x, 0), X, call=plus(0), empty=False)
row(
    f"log_softmax LogSoftmax() {F_}log_softmax",
    lambda x: special.log_softmax(x, -1),
    X,
    call=lambda f, x: f(x) if hasattr(f, "attrs") else f(x, -1),
)
row("softmin", lambda x: special.softmax(-x, -1), X)
row("glu GLU() " + F_ + "glu", lambda x: x[:, :2] * sigmoid(x[:, 2:]), X)
row("swiglu", lambda x: x[:, :2] * sigmoid(x[:, :2]) * x[:, 2:], X, tolerance=2)
row("rrelu", lambda x: np.where(x > 0, x, 0.25 * x), X, call=lambda f, x: f(x, 0.25, 0.25), vmap=False, grad=0)
row("ReluGrad()", lambda d, out: np.where(out > 0, d, 0), P, X)

# -- normalisation ----------------------------------------------------------------------------------------------------
G, B4 = positive(4), real(4)
IMAGE = real(2, 4, 3, 2)
CHANNELS = (1, -1, 1, 1)


def normed(x, axes, eps=1e-5):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


row(
    f"layer_norm {F_}layer_norm",
    lambda x, g, b: normed(x, -1) * g + b,
    X,
    G,
    B4,
    call=lambda f, x, g, b: f(x, (4,), g, b),
    tolerance=8,
)
row(
    "LayerNorm()",
    lambda x, g, b: normed(x, -1, 1e-7) * g + b,
    X,
    G,
    B4,
    call=lambda f, x, g, b: f(x, g, b)[0],
    tolerance=8,
)
row(
    "LayerNorm(1,1,1e-3)",
    lambda x, g, b: (normed(x, -1, 1e-3) * g + b, x.mean(-1, keepdims=True)),
    X,
    G,
    B4,
    call=lambda f, x, g, b: f(x, g, b)[:2],
    tolerance=8,
    keeps=False,
)
row(
    "rms_norm RmsNorm()",
    lambda x, g: x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * g,
    X,
    G,
    call=lambda f, x, g: f(x, g)[0],
    tolerance=8,
)
row(
    "add_layer_norm",
    lambda x, y, g, b: normed(x + y, -1) * g + b,
    X,
    P,
    G,
    B4,
    call=lambda f, x, y, g, b: f(x, y, g, b)[0],
    tolerance=8,
)
row(
    "add_rms_norm",
    lambda x, y, g: (x + y) / np.sqrt(((x + y) ** 2).mean(-1, keepdims=True) + 1e-6) * g,
    X,
    P,
    G,
    call=lambda f, x, y, g: f(x, y, g)[0],
    tolerance=8,
)
row(
    f"batch_norm {F_}batch_norm",
    lambda x, m, v, g, b: (
        (x - m.reshape(CHANNELS)) / np.sqrt(v.reshape(CHANNELS) + 1e-5) * g.reshape(CHANNELS) + b.reshape(CHANNELS)
    ),
    IMAGE,
    B4,
    G,
    positive(4),
    real(4),
    tolerance=8,
)
row(
    "BatchNorm()",
    lambda x, g, b, m, v: (
        (x - m.reshape(CHANNELS)) / np.sqrt(v.reshape(CHANNELS) + 1e-5) * g.reshape(CHANNELS) + b.reshape(CHANNELS)
    ),
    IMAGE,
    positive(4),
    real(4),
    B4,
    G,
    call=lambda f, *xs: f(*xs)[0],
    tolerance=8,
)
row(
    "BatchNorm(True)",
    lambda x, g, b, m, v: normed(x, (0, 2, 3)) * g.reshape(CHANNELS) + b.reshape(CHANNELS),
    IMAGE,
    positive(4),
    real(4),
    Fixed(np.zeros(4, np.float32)),
    Fixed(np.ones(4, np.float32)),
    call=lambda f, *xs: f(*xs)[0],
    dtypes="f",
    tolerance=8,
    vmap=False,
    empty=False,
    grad=0,
)
row(
    f"group_norm {F_}group_norm",
    lambda x, g, b: normed(x.reshape(2, 2, -1), -1).reshape(x.shape) * g.reshape(CHANNELS) + b.reshape(CHANNELS),
    IMAGE,
    G,
    B4,
    call=lambda f, x, g, b: f(x, 2, g, b),
    tolerance=8,
)
row(
    "instance_norm",
    lambda x, g, b: normed(x, (2, 3)) * g.reshape(CHANNELS) + b.reshape(CHANNELS),
    IMAGE,
    G,
    B4,
    tolerance=8,
)
row(
    "InstanceNorm()",
    lambda x, g, b, m, v: normed(x, (2, 3)) * g.reshape(CHANNELS) + b.reshape(CHANNELS),
    IMAGE,
    G,
    B4,
    Fixed(np.zeros(4, np.float32)),
    Fixed(np.ones(4, np.float32)),
    call=lambda f, *xs: f(*xs)[0],
    dtypes="f",
    tolerance=8,
    grad=0,
    graph=False,
)
row(
    "l2_normalize L2Normalize(1)",
    lambda x: x / np.sqrt(np.maximum((x**2).sum(1, keepdims=True), 1e-4)),
    X,
    call=plus(1),
    tolerance=2,
)
row(
    "lrn LRN(1)",
    lambda x: x / np.sqrt(1 + sum(np.pad(x**2, ((0, 0), (1, 1), (0, 0), (0, 0)))[:, i : i + 4] for i in range(3))),
    IMAGE,
    call=plus(1),
    tolerance=4,
)
