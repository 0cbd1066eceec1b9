"""The same work in PyTorch, eager or compiled."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

COMPILED = False
LAYERS, WIDTH, HEADS, WORDS, BATCH, TOKENS = 4, 768, 12, 8192, 4, 128


def prepare(contender: str) -> None:
    global COMPILED
    COMPILED = contender == "torch_compile"
    torch.set_num_threads(2)
    torch.manual_seed(0)


def maybe_compiled(thing):
    return torch.compile(thing) if COMPILED else thing


def training(net, optimizer, x, y):
    model = maybe_compiled(net)

    def step():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def lenet():
    net = nn.Sequential(
        nn.Conv2d(1, 6, 5, bias=False), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5, bias=False), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    )  # fmt: skip
    sgd = torch.optim.SGD(net.parameters(), 0.01, 0.9)
    return training(net, sgd, torch.randn(32, 1, 32, 32), torch.randint(0, 10, (32,)))


def conv_bn(inputs, outputs, kernel, stride, relu=True):
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(outputs)]
    return nn.Sequential(*layers, *([nn.ReLU(True)] if relu else []))


class Bottleneck(nn.Module):
    def __init__(self, inputs, middle, stride):
        super().__init__()
        outputs = 4 * middle
        self.main = nn.Sequential(
            conv_bn(inputs, middle, 1, 1), conv_bn(middle, middle, 3, stride), conv_bn(middle, outputs, 1, 1, False)
        )
        same = inputs == outputs and stride == 1
        self.skip = nn.Identity() if same else conv_bn(inputs, outputs, 1, stride, False)

    def forward(self, x):
        return F.relu(self.main(x) + self.skip(x))


def _resnet50():
    layers, inputs = [conv_bn(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)], 64
    for middle, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(count):
            layers.append(Bottleneck(inputs, middle, stride if i == 0 else 1))
            inputs = 4 * middle
    net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))
    return net.to(memory_format=torch.channels_last)


def resnet50():
    net = _resnet50()
    x = torch.randn(8, 3, 224, 224).to(memory_format=torch.channels_last)
    return training(net, torch.optim.SGD(net.parameters(), 0.001, 0.9), x, torch.randint(0, 1000, (8,)))


def resnet50_inference():
    return _inference(_resnet50())


#: expansion, channels, blocks, stride of MobileNetV2's stages
STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


def conv_bn6(inputs, outputs, kernel, stride=1, groups=1):
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)]
    return [*layers, nn.BatchNorm2d(outputs), nn.ReLU6(True)]


class Inverted(nn.Module):
    def __init__(self, inputs, outputs, stride, expansion):
        super().__init__()
        hidden = inputs * expansion
        layers = conv_bn6(inputs, hidden, 1) if expansion > 1 else []
        layers += [*conv_bn6(hidden, hidden, 3, stride, hidden), *conv_bn6(hidden, outputs, 1)[:-1]]
        self.layers, self.residual = nn.Sequential(*layers), stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.layers(x) if self.residual else self.layers(x)


def _mobilenet():
    layers, inputs = conv_bn6(3, 32, 3, 2), 32
    for expansion, outputs, count, stride in STAGES:
        for i in range(count):
            layers.append(Inverted(inputs, outputs, stride if i == 0 else 1, expansion))
            inputs = outputs
    net = nn.Sequential(
        *layers, *conv_bn6(320, 1280, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000)
    )
    return net.to(memory_format=torch.channels_last)


def mobilenet():
    net = _mobilenet()
    x = torch.randn(16, 3, 224, 224).to(memory_format=torch.channels_last)
    return training(net, torch.optim.SGD(net.parameters(), 0.001, 0.9), x, torch.randint(0, 1000, (16,)))


def _inference(net):
    net = maybe_compiled(net.eval())
    x = torch.randn(1, 3, 224, 224).to(memory_format=torch.channels_last)

    def step():
        with torch.inference_mode():
            return net(x)

    return step


def mobilenet_inference():
    return _inference(_mobilenet())


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        heads = self.qkv(self.norm1(x)).reshape(BATCH, TOKENS, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(heads[0], heads[1], heads[2], is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(BATCH, TOKENS, WIDTH))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Parameter(torch.zeros(TOKENS, WIDTH))
        self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.words(x) + self.places))).reshape(BATCH * TOKENS, WORDS)


def gpt():
    net = Gpt()
    adam = torch.optim.AdamW(net.parameters(), 1e-3, fused=True)
    return training(net, adam, torch.randint(0, WORDS, (BATCH, TOKENS)), torch.randint(0, WORDS, (BATCH * TOKENS,)))


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        layer = lambda: nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, 0.0, "gelu", batch_first=True)
        self.layers, self.head = nn.Sequential(*[layer() for _ in range(LAYERS)]), nn.Linear(WIDTH, 2)

    def forward(self, x):
        return self.head(self.layers(x)[:, 0])


def bert():
    net = Bert()
    adam = torch.optim.AdamW(net.parameters(), 1e-4, fused=True)
    return training(net, adam, torch.randn(BATCH, TOKENS, WIDTH), torch.randint(0, 2, (BATCH,)))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(512, 512, num_layers=2), nn.Linear(512, 10)

    def forward(self, x):
        return self.head(self.lstm(x)[0][-1])


def lstm():
    net = Recurrent()
    sgd = torch.optim.SGD(net.parameters(), 0.01, 0.9)
    return training(net, sgd, torch.randn(100, 64, 512), torch.randint(0, 10, (64,)))


def chain():
    x = torch.randn(4096, 1024)

    def run(a):
        for _ in range(4):
            a = torch.exp(torch.sigmoid(torch.tanh(a)))
        return a

    run = maybe_compiled(run)
    return lambda: run(x)


def _with_gradient(function, *tensors):
    tensors = [t.requires_grad_() for t in tensors]
    run = maybe_compiled(function)

    def step():
        for t in tensors:
            t.grad = None
        run(*tensors).backward()

    return step


def softmax_cross_entropy():
    labels = torch.randint(0, 8192, (512,))
    return _with_gradient(lambda x: F.cross_entropy(x, labels), torch.randn(512, 8192))


def layer_norm():
    weight = torch.randn(4, 128, 768)
    args = torch.randn(4, 128, 768), torch.ones(768), torch.zeros(768)
    return _with_gradient(lambda x, g, b: (F.layer_norm(x, (768,), g, b) * weight).sum(), *args)


def batch_norm_relu():
    net = nn.BatchNorm2d(64)
    x = torch.randn(8, 64, 56, 56).to(memory_format=torch.channels_last)
    weight = torch.randn(8, 64, 56, 56).to(memory_format=torch.channels_last)
    return _with_gradient(lambda a: (F.relu(net(a)) * weight).sum(), x)


def _eager(function, *tensors):
    return lambda: [function(*tensors) for _ in range(200)]


def eager_add():
    return _eager(lambda a, b: a + b, torch.randn(4), torch.randn(4))


def eager_matmul():
    return _eager(torch.matmul, torch.randn(64, 64), torch.randn(64, 64))


def eager_conv():
    return _eager(F.conv2d, torch.randn(1, 3, 32, 32), torch.randn(16, 3, 3, 3))


def _uncompiled(case):
    global COMPILED
    COMPILED = False
    return case()


def eager_lenet():
    return _uncompiled(lenet)


def eager_resnet50():
    return _uncompiled(resnet50)


def eager_gpt():
    return _uncompiled(gpt)


CASES = {
    "lenet": lenet, "resnet50": resnet50, "resnet50_inference": resnet50_inference, "gpt": gpt, "bert": bert,
    "lstm": lstm, "chain": chain,
    "softmax_cross_entropy": softmax_cross_entropy, "layer_norm": layer_norm, "batch_norm_relu": batch_norm_relu,
    "eager_add": eager_add, "eager_matmul": eager_matmul, "eager_conv": eager_conv,
    "eager_lenet": eager_lenet, "eager_resnet50": eager_resnet50, "eager_gpt": eager_gpt,
    "mobilenet": mobilenet, "mobilenet_inference": mobilenet_inference,
}  # fmt: skip
