"""Programs of `torch.export` as ONNX messages, beside PyTorch itself."""

import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from mindspore.backends.interp import InterpBackend  # noqa: E402
from mindspore.formats.onnx.load import build  # noqa: E402
from mindspore.formats.torch_export import convert  # noqa: E402


class Calls(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *arguments):
        return self.function(*arguments)


def both(module, *arguments, dynamic=None, others=None):
    """What PyTorch and the converted module give; `others`: arguments of other sizes to run with."""
    module = module if isinstance(module, nn.Module) else Calls(module)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = convert.export(module.eval(), arguments, dynamic_shapes=dynamic)
    arguments = others or arguments
    names = [i.name for i in model.graph.input]
    program = build(model, {n: tuple(a.shape) for n, a in zip(names, arguments)})
    found = program.compile(InterpBackend())(*(a.numpy() for a in arguments))
    wanted = module(*arguments)
    wanted = [w for w in (wanted if isinstance(wanted, (tuple, list)) else [wanted]) if w is not None]
    return found, [w.detach().numpy() for w in wanted]


def same(module, *arguments, tolerance=1e-5, **options):
    found, wanted = both(module, *arguments, **options)
    assert len(found) == len(wanted)
    for mine, theirs in zip(found, wanted):
        assert mine.dtype == theirs.dtype and mine.shape == theirs.shape
        np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=tolerance)


def x(*shape):
    return torch.from_numpy(np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32))


UNARY = [
    torch.abs, torch.ceil, torch.cos, torch.erf, torch.exp, torch.expm1, torch.floor, torch.neg, F.relu, torch.round, torch.sigmoid,
    torch.sign, torch.sin, torch.tanh, torch.trunc, torch.frac, F.silu, F.gelu, F.mish, F.hardswish, F.hardsigmoid, F.relu6, F.selu,
    F.celu, F.elu, F.softplus, F.leaky_relu, F.logsigmoid, F.softsign, torch.square, torch.isnan, torch.erfc, torch.exp2, F.hardtanh,
    torch.atan, torch.asinh, torch.sinh, torch.cosh, F.tanhshrink, F.hardshrink, F.softshrink,
]  # fmt: skip
POSITIVE = [torch.sqrt, torch.rsqrt, torch.log, torch.log1p, torch.log2, torch.log10, torch.reciprocal, torch.acosh]


@pytest.mark.parametrize("function", UNARY, ids=lambda f: f.__name__)
def test_functions_of_one(function):
    same(function, x(3, 5))


@pytest.mark.parametrize("function", POSITIVE, ids=lambda f: f.__name__)
def test_functions_of_a_positive_number(function):
    same(function, x(3, 5).abs() + 1)


N, I = torch.arange(-4, 4), torch.tensor([2, 0])
CALLS = {
    "promotion": lambda a: a + torch.arange(4) * 2.5 + (a > 0),
    "whole division": lambda a: (N // 3, N % 3, torch.div(N, 3, rounding_mode="trunc")),
    "true division": lambda a: torch.arange(1, 5) / 3 + a,
    "powers": lambda a: (a.abs() ** 2.5, 2.0**a, torch.arange(5) ** 2),
    "remainders": lambda a: (torch.remainder(a, 0.7), torch.fmod(a, 0.7)),
    "comparisons": lambda a: (a > 0, a != a, torch.eq(a, 0), (a > 0) & (a < 1), ~(a > 0)),
    "choices": lambda a: (torch.where(a > 0, a, 0.5), a.masked_fill(a > 0, -1.0), a.clamp(-0.5, 0.5), a.clamp(min=0.1), a.clamp(max=0.1)),
    "composed": lambda a: (torch.addcmul(a, a, a, value=0.5), torch.addcdiv(a, a, a + 9, value=2), torch.lerp(a, 2 * a, 0.3)),
    "angles": lambda a: torch.atan2(a, a.flip(0)),
    "sums": lambda a: (a.sum(), a.sum(1), a.mean((0, 2), keepdim=True), a.amax(1), a.amin(2, keepdim=True), a.prod(1), a.logsumexp(2)),
    "spread": lambda a: (a.var(1), a.std(), a.var((1, 2), correction=0), *torch.var_mean(a, 2)),
    "norms": lambda a: (a.norm(), a.norm(1, dim=1), a.norm(float("inf"), dim=2), torch.linalg.vector_norm(a, 3, dim=1)),
    "found": lambda a: (*a.max(1), *a.min(2, keepdim=True), a.argmax(), a.argmin(1), a.max(), a.min()),
    "logical": lambda a: ((a > 0).any(1), (a > 9).all(), (a > 0).any()),
    "ordered": lambda a: (*a.sort(1), *a.sort(2, descending=True), *torch.topk(a, 2, 2), a.argsort(1)),
    "running": lambda a: a.cumsum(1),
    "shapes": lambda a: (a.view(6, 4), a.permute(2, 0, 1), a.transpose(0, 2), a[:, None], a.flatten(1), a.unsqueeze(-1).squeeze(-1)),
    "copies": lambda a: (a[:, :1].expand(2, 3, 4), a.repeat(2, 1, 2), a.repeat_interleave(2, 1), torch.tile(a, (2,))),
    "joins": lambda a: (torch.cat([a, 2 * a], 1), torch.stack([a, a], 2), torch.cat([a[..., 0], torch.ones(2, 1)], 1)),
    "parts": lambda a: (*a.split(2, 1), *a.split([1, 3], 2), *a.chunk(2, 2), *a.unbind(0)),
    "slices": lambda a: (a[:, 1:], a[..., ::2], a[1], a[:, -1], a.narrow(1, 0, 2), a.flip(0, 2), a.roll(1, 1), a.roll(2)),
    "padding": lambda a: (F.pad(a, (1, 2)), F.pad(a, (1, 1), "reflect"), F.pad(a, (0, 0, 1, 1), value=3.0), F.pad(a, (2, 1), "replicate")),
    "made": lambda a: (torch.zeros(2, 3), torch.full((2,), 7), torch.ones_like(a), torch.eye(3), torch.linspace(0, 1, 5)),
    "triangles": lambda a: (a.tril(), a.triu(1), a.diagonal(0, 1, 2)),
    "indices": lambda a: (a[:, I], a[I[:, None] // 2, I], a[:, I // 2, I]),
    "gathers": lambda a: (a.gather(2, torch.tensor([[[0, 1]] * 3] * 2)), a.index_select(1, I), F.one_hot(I, 3)),
    "scatters": lambda a: (a.scatter(2, torch.tensor([[[1]] * 3] * 2), 5.0), a.scatter_add(2, torch.tensor([[[1]] * 3] * 2), a)),
    "windows": lambda a: a.unfold(2, 2, 1),
    "products": lambda a: (a @ a.mT, torch.einsum("bij,bkj->bik", a, a), torch.baddbmm(a[:, :, :3], a, a.mT, beta=0.5)),
    "softmax": lambda a: (a.softmax(1), a.log_softmax(-1), F.glu(a, 2)),
    "types": lambda a: (a.to(torch.int32), a.double(), (a > 0).float(), a.half().float()),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    same(CALLS[name], x(2, 3, 4), tolerance=2e-5)


def test_writing_in_place_is_followed():
    def change(a):
        b = a.clone()
        b[:, 1:3] = 0.5
        b[0] += 1
        b[torch.tensor([1]), torch.tensor([2])] = 9.0
        return b

    same(change, x(2, 4, 3))


LAYERS = {
    "conv": (nn.Conv2d(3, 6, 3, 2, 1, groups=3), (2, 3, 9, 8)),
    "conv same": (nn.Conv2d(3, 4, (3, 2), padding="same"), (2, 3, 9, 8)),
    "conv1d": (nn.Conv1d(3, 4, 3, dilation=2, bias=False), (2, 3, 9)),
    "conv3d": (nn.Conv3d(2, 3, 2), (1, 2, 4, 4, 4)),
    "transposed": (nn.ConvTranspose2d(3, 4, 3, 2, 1, output_padding=1), (2, 3, 5, 5)),
    "linear": (nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 2, bias=False)), (4, 5)),
    "linear of many": (nn.Linear(5, 7), (2, 3, 5)),
    "batch norm": (nn.BatchNorm2d(3), (2, 3, 4, 4)),
    "layer norm": (nn.LayerNorm((3, 4)), (2, 3, 4)),
    "group norm": (nn.GroupNorm(2, 4), (2, 4, 5)),
    "instance norm": (nn.InstanceNorm2d(3, affine=True), (2, 3, 4, 4)),
    "rms norm": (nn.RMSNorm(4, eps=1e-6), (2, 3, 4)),
    "max pool": (nn.MaxPool2d(3, 2, 1), (2, 3, 8, 8)),
    "max pool, up": (nn.MaxPool2d(2, 2, ceil_mode=True), (2, 3, 7, 7)),
    "average pool": (nn.AvgPool2d(3, 2, 1, count_include_pad=False), (2, 3, 8, 8)),
    "average pool1d": (nn.AvgPool1d(2), (2, 3, 8)),
    "adaptive": (nn.AdaptiveAvgPool2d((3, 2)), (2, 3, 7, 8)),
    "adaptive to one": (nn.AdaptiveAvgPool2d(1), (2, 3, 7, 8)),
    "prelu": (nn.PReLU(3), (2, 3, 4)),
    "upsampled": (nn.Upsample(scale_factor=2), (1, 2, 3, 3)),
    "bilinear": (nn.Upsample(size=(5, 7), mode="bilinear"), (1, 2, 3, 3)),
    "bilinear, corners": (nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), (1, 2, 3, 3)),
    "bicubic": (nn.Upsample(scale_factor=2, mode="bicubic"), (1, 2, 4, 4)),
    "shuffled": (nn.PixelShuffle(2), (1, 8, 3, 3)),
    "lstm": (nn.LSTM(4, 5, 2, batch_first=True, bidirectional=True), (2, 3, 4)),
    "gru": (nn.GRU(4, 5), (3, 2, 4)),
    "encoder": (nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), (2, 5, 8)),
    "dropout": (nn.Sequential(nn.Dropout(0.5), nn.Dropout2d(0.5)), (2, 3, 4, 4)),
}  # fmt: skip


class First(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, a):
        found = self.layer(a)
        return found[0] if isinstance(found, tuple) else found


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name):
    torch.manual_seed(1)
    layer, shape = LAYERS[name]
    for moving in (m for m in layer.modules() if isinstance(m, nn.BatchNorm2d)):
        nn.init.normal_(moving.running_mean), nn.init.uniform_(moving.running_var, 0.5, 2)
    same(First(layer), x(*shape), tolerance=2e-5)


@pytest.mark.parametrize("causal", [False, True])
def test_attention(causal):
    same(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal), x(2, 3, 4, 8), x(2, 3, 4, 8), x(2, 3, 4, 8))
    mask = torch.tensor([[True, False, True, True]])
    same(lambda q, k: F.scaled_dot_product_attention(q, k, k, attn_mask=mask, scale=0.3), x(2, 3, 4, 8), x(2, 3, 4, 8))


def test_sizes_that_are_left_open():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
            self.attend = nn.MultiheadAttention(8, 2, batch_first=True)

        def forward(self, a):
            rows = self.norm(self.conv(a)).flatten(2).transpose(1, 2)
            return self.attend(rows, rows, rows)[0].reshape(a.shape[0], -1, 4) + torch.arange(a.shape[0]).view(-1, 1, 1)

    batch = torch.export.Dim("batch", min=1, max=64)
    same(Net(), x(2, 3, 4, 4), dynamic=({0: batch},), others=(x(5, 3, 4, 4),))


def test_weights_keep_their_names():
    model = convert.export(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)).eval(), (x(4, 3),))
    names = {t.name for t in model.graph.initializer}
    assert {"0.weight", "0.bias", "1.weight", "1.running_mean"} <= names and "1.num_batches_tracked" not in names


def test_what_has_no_rule_is_listed_with_its_place():
    class Net(nn.Module):
        def forward(self, a):
            return torch.linalg.svdvals(a).sum() + torch.special.bessel_j0(a).sum()

    with pytest.raises(convert.UnsupportedTorchError, match=r"aten\..*svd.*; aten\.special_bessel_j0"):
        convert.export(Net(), (x(3, 3),))


def test_a_module_in_training_is_refused():
    with pytest.raises(ValueError, match="call eval"):
        convert.export(nn.BatchNorm1d(3).train(), (x(4, 3),))
