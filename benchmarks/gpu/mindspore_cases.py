"""The work in MindSpore, as users write it: Cells, automatic mixed precision in bf16, one compiled step."""

from __future__ import annotations

import os

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, amp, nn, ops

RNG = np.random.default_rng(0)


def prepare(contender: str) -> None:
    ms.set_context(mode=ms.GRAPH_MODE, device_target=os.environ.get("BENCH_TARGET", "GPU"))


def integers(high, *shape):
    return Tensor(RNG.integers(0, high, shape).astype(np.int32))


def cross_entropy(logits, labels):
    return ops.cross_entropy(logits.reshape(-1, logits.shape[-1]).astype(ms.float32), labels.reshape(-1))


def training(net, optimizer, x, y):
    """A training step, in graph mode as one graph; it returns the loss as a tensor that may not be ready yet."""
    gradient = ms.value_and_grad(lambda a, b: cross_entropy(net(a), b), None, optimizer.parameters)

    def step(a, b):
        loss, grads = gradient(a, b)
        optimizer(grads)
        return loss

    net.set_train()
    run = step if ms.get_context("mode") == ms.PYNATIVE_MODE else ms.jit(step)
    return lambda: run(x, y)


def eagerly(prepared):
    """The same work in PyNative mode."""

    def prepared_eagerly():
        ms.set_context(mode=ms.PYNATIVE_MODE)
        return prepared()

    return prepared_eagerly


# -- ResNet-50 --------------------------------------------------------------------------------------------------------
def conv_bn(inputs, outputs, kernel, stride, relu=True):
    conv = nn.Conv2d(inputs, outputs, kernel, stride, pad_mode="pad", padding=kernel // 2)
    return nn.SequentialCell([conv, nn.BatchNorm2d(outputs)] + ([nn.ReLU()] if relu else []))


class Bottleneck(nn.Cell):
    def __init__(self, inputs, middle, stride):
        super().__init__()
        outputs = 4 * middle
        self.main = nn.SequentialCell(
            conv_bn(inputs, middle, 1, 1), conv_bn(middle, middle, 3, stride), conv_bn(middle, outputs, 1, 1, False)
        )
        self.skip = None if inputs == outputs and stride == 1 else conv_bn(inputs, outputs, 1, stride, False)
        self.relu = nn.ReLU()

    def construct(self, x):
        return self.relu(self.main(x) + (x if self.skip is None else self.skip(x)))


class ResNet50(nn.Cell):
    def __init__(self):
        super().__init__()
        layers, inputs = [conv_bn(3, 64, 7, 2), nn.MaxPool2d(3, 2, pad_mode="same")], 64
        for middle, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for i in range(count):
                layers.append(Bottleneck(inputs, middle, stride if i == 0 else 1))
                inputs = 4 * middle
        self.body, self.head = nn.SequentialCell(layers), nn.Dense(2048, 1000)

    def construct(self, x):
        return self.head(self.body(x).mean((2, 3)))


def resnet50(batch):
    def prepared():
        net = ResNet50()
        optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
        amp.auto_mixed_precision(net, "O2", ms.bfloat16)
        images = Tensor(RNG.standard_normal((batch, 3, 224, 224)).astype(np.float32))
        return training(net, optimizer, images, integers(1000, batch))

    return prepared


# -- transformers -----------------------------------------------------------------------------------------------------
WIDTH, HEADS, LAYERS = 768, 12, 12


class Block(nn.Cell):
    """Attention and a feed-forward network, normalised before (GPT) or after (BERT) each."""

    def __init__(self, causal):
        super().__init__()
        self.causal, self.attends_to_all = causal, not causal
        self.norm1, self.norm2 = nn.LayerNorm((WIDTH,)), nn.LayerNorm((WIDTH,))
        self.qkv, self.out = nn.Dense(WIDTH, 3 * WIDTH), nn.Dense(WIDTH, WIDTH)
        self.up, self.down, self.gelu = nn.Dense(WIDTH, 4 * WIDTH), nn.Dense(4 * WIDTH, WIDTH), nn.GELU()

    def attend(self, x):
        batch, tokens, _ = x.shape
        q, k, v = self.qkv(x).reshape(batch, tokens, 3, HEADS, WIDTH // HEADS).transpose(2, 0, 3, 1, 4)
        mixed = ops.scaled_dot_product_attention(q, k, v, is_causal=not self.attends_to_all)
        return self.out(mixed.transpose(0, 2, 1, 3).reshape(batch, tokens, WIDTH))

    def construct(self, x):
        if self.causal:
            x = x + self.attend(self.norm1(x))
            return x + self.down(self.gelu(self.up(self.norm2(x))))
        x = self.norm1(x + self.attend(x))
        return self.norm2(x + self.down(self.gelu(self.up(x))))


class Transformer(nn.Cell):
    def __init__(self, words, tokens, causal):
        super().__init__()
        self.words = nn.Embedding(words, WIDTH)
        self.places = Parameter(Tensor(np.zeros((tokens, WIDTH), np.float32)), name="places")
        self.blocks = nn.SequentialCell([Block(causal) for _ in range(LAYERS)])
        self.norm, self.head = nn.LayerNorm((WIDTH,)), nn.Dense(WIDTH, words, has_bias=False)

    def construct(self, x):
        return self.head(self.norm(self.blocks(self.words(x) + self.places)))


def transformer(words, batch, tokens, causal):
    def prepared():
        net = Transformer(words, tokens, causal)
        optimizer = nn.AdamWeightDecay(net.trainable_params(), 1e-4, weight_decay=0.01)
        amp.auto_mixed_precision(net, "O2", ms.bfloat16)
        return training(net, optimizer, integers(words, batch, tokens), integers(words, batch, tokens))

    return prepared


class ViT(nn.Cell):
    """ViT-B/16: 196 patches and a class token (Dosovitskiy et al. 2021)."""

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, WIDTH, 16, 16, pad_mode="valid", has_bias=True)
        self.first = Parameter(Tensor(np.zeros((1, 1, WIDTH), np.float32)), name="first")
        self.places = Parameter(Tensor(np.zeros((197, WIDTH), np.float32)), name="places")
        self.blocks = nn.SequentialCell([Block(True) for _ in range(LAYERS)])
        for block in self.blocks:
            block.attends_to_all = True
        self.norm, self.head = nn.LayerNorm((WIDTH,)), nn.Dense(WIDTH, 1000)

    def construct(self, x):
        x = self.patches(x)
        x = x.reshape(x.shape[0], WIDTH, -1).swapaxes(1, 2)
        first = ops.broadcast_to(self.first, (x.shape[0], 1, WIDTH)).astype(x.dtype)
        x = ops.cat((first, x), 1) + self.places.astype(x.dtype)
        return self.head(self.norm(self.blocks(x))[:, 0])


def vit():
    net = ViT()
    optimizer = nn.AdamWeightDecay(net.trainable_params(), 1e-4, weight_decay=0.01)
    amp.auto_mixed_precision(net, "O2", ms.bfloat16)
    images = Tensor(RNG.standard_normal((128, 3, 224, 224)).astype(np.float32))
    return training(net, optimizer, images, integers(1000, 128))


# -- LLaMA with 1.26 billion parameters ---------------------------------------------------------------------------------
LLAMA = {"layers": 22, "width": 2048, "heads": 16, "inner": 5632, "words": 32000}


def rotations(tokens, size):
    """Cosines and sines of the angles by which queries and keys are turned at each place."""
    angles = np.outer(np.arange(tokens), 1e4 ** -(np.arange(0, size, 2) / size)).astype(np.float32)
    return (Tensor(np.concatenate([f(angles)] * 2, -1)[None, None]).astype(ms.bfloat16) for f in (np.cos, np.sin))


class RootMeanSquareNorm(nn.Cell):
    def __init__(self):
        super().__init__()
        self.gamma = Parameter(ops.ones(LLAMA["width"]), name="gamma")

    def construct(self, x):
        return ops.rms_norm(x, self.gamma.astype(x.dtype))[0]


class LlamaBlock(nn.Cell):
    def __init__(self):
        super().__init__()
        width, inner = LLAMA["width"], LLAMA["inner"]
        self.norm1, self.norm2 = RootMeanSquareNorm(), RootMeanSquareNorm()
        self.qkv, self.out = nn.Dense(width, 3 * width, has_bias=False), nn.Dense(width, width, has_bias=False)
        self.gate_up, self.down = nn.Dense(width, 2 * inner, has_bias=False), nn.Dense(inner, width, has_bias=False)

    def construct(self, x, cos, sin):
        batch, tokens, width = x.shape
        heads = LLAMA["heads"]
        q, k, v = self.qkv(self.norm1(x)).reshape(batch, tokens, 3, heads, width // heads).transpose(2, 0, 3, 1, 4)
        q, k = (ops.rotary_position_embedding(t, cos, sin) for t in (q, k))
        mixed = ops.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(0, 2, 1, 3).reshape(batch, tokens, width))
        gate, up = ops.split(self.gate_up(self.norm2(x)), LLAMA["inner"], -1)
        return x + self.down(ops.silu(gate) * up)


class Llama(nn.Cell):
    def __init__(self, tokens):
        super().__init__()
        self.words = nn.Embedding(LLAMA["words"], LLAMA["width"])
        self.blocks = nn.CellList([LlamaBlock() for _ in range(LLAMA["layers"])])
        self.norm, self.head = RootMeanSquareNorm(), nn.Dense(LLAMA["width"], LLAMA["words"], has_bias=False)
        self.cos, self.sin = rotations(tokens, LLAMA["width"] // LLAMA["heads"])

    def construct(self, words):
        x = self.words(words)
        for block in self.blocks:
            x = block(x, self.cos, self.sin)
        return self.head(self.norm(x))


def llama(float8=False):
    net = Llama(2048)
    optimizer = nn.AdamWeightDecay(net.trainable_params(), 1e-4, weight_decay=0.01)
    amp.auto_mixed_precision(net, "O2", ms.bfloat16)
    if float8:
        amp.float8_products(net.blocks)
    return training(net, optimizer, integers(LLAMA["words"], 8, 2048), integers(LLAMA["words"], 8, 2048))


# -- LeNet: how little the framework adds when the GPU has nothing to do ---------------------------------------------
def lenet():
    net = nn.SequentialCell(
        nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Conv2d(6, 16, 5, pad_mode="valid"),
        nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten(), nn.Dense(400, 120), nn.ReLU(), nn.Dense(120, 84), nn.ReLU(),
        nn.Dense(84, 10),
    )  # fmt: skip
    images = Tensor(RNG.standard_normal((32, 1, 32, 32)).astype(np.float32))
    return training(net, nn.Momentum(net.trainable_params(), 0.01, 0.9), images, integers(10, 32))


# -- decoding one token with a network of the shape of LLaMA 3 8B ------------------------------------------------------
DECODER = {"layers": 32, "width": 4096, "heads": 32, "kv_heads": 8, "inner": 14336, "words": 128256, "places": 1024}


WEIGHTS: dict[tuple, Tensor] = {}


def random_weights(*shape):
    """Numbers of a weight's size; the same for all layers, since making 8 billion takes minutes."""
    if shape not in WEIGHTS:
        WEIGHTS[shape] = Tensor(RNG.standard_normal(shape, np.float32) * 0.02).astype(ms.bfloat16)
    return Parameter(WEIGHTS[shape].copy())


class DecoderLayer(nn.Cell):
    def __init__(self, batch):
        super().__init__()
        d = DECODER
        self.heads, self.kv_heads, self.size = d["heads"], d["kv_heads"], d["width"] // d["heads"]
        self.norm1, self.norm2 = (Parameter(ops.ones(d["width"], ms.bfloat16)) for _ in range(2))
        self.qkv = random_weights((self.heads + 2 * self.kv_heads) * self.size, d["width"])
        self.out = random_weights(d["width"], d["width"])
        self.gate_up, self.down = random_weights(2 * d["inner"], d["width"]), random_weights(d["width"], d["inner"])
        cache = (batch, self.kv_heads, d["places"], self.size)
        self.keys, self.values = (Parameter(ops.zeros(cache, ms.bfloat16), requires_grad=False) for _ in range(2))

    def construct(self, x, place, cos, sin, mask):
        batch = x.shape[0]
        qkv = ops.dense(ops.rms_norm(x, self.norm1)[0], self.qkv).reshape(batch, -1, 1, self.size)
        q, k, v = ops.split(qkv, (self.heads, self.kv_heads, self.kv_heads), 1)
        q, k = (ops.rotary_position_embedding(t, cos, sin) for t in (q, k))
        self.keys[:, :, place] = k[:, :, 0]
        self.values[:, :, place] = v[:, :, 0]
        mixed = ops.scaled_dot_product_attention(q, self.keys, self.values, mask, enable_gqa=True)
        x = x + ops.dense(mixed.reshape(batch, -1), self.out)
        gate, up = ops.split(ops.dense(ops.rms_norm(x, self.norm2)[0], self.gate_up), DECODER["inner"], 1)
        return x + ops.dense(ops.silu(gate) * up, self.down)


class Decoder(nn.Cell):
    def __init__(self, batch):
        super().__init__()
        self.words, self.head = (random_weights(DECODER["words"], DECODER["width"]) for _ in range(2))
        self.layers = nn.CellList([DecoderLayer(batch) for _ in range(DECODER["layers"])])
        self.norm = Parameter(ops.ones(DECODER["width"], ms.bfloat16))
        angles = np.outer(np.arange(DECODER["places"]), 5e5 ** -(np.arange(0, 128, 2) / 128)).repeat(2, 1)
        self.cos, self.sin = (Tensor(f(angles)[:, None].astype(np.float32)).astype(ms.bfloat16) for f in (np.cos, np.sin))
        self.all_places = Tensor(np.arange(DECODER["places"], dtype=np.int32))

    def construct(self, words, place):
        x, cos, sin = self.words[words], self.cos[place], self.sin[place]
        mask = (self.all_places <= place).reshape(1, 1, 1, -1)
        for layer in self.layers:
            x = layer(x, place, cos, sin, mask)
        return ops.dense(ops.rms_norm(x, self.norm)[0], self.head).argmax(-1).astype(ms.int32), place + 1


def decode(batch):
    def prepared():
        net = Decoder(batch)
        net.set_train(False)
        WEIGHTS.clear()  # the network has its own copies
        run = ms.jit(net)
        state = [integers(1000, batch), Tensor(np.int32(500))]

        def step():
            state[:] = run(*state)
            if step.count == 400:
                step.count, state[1] = 0, Tensor(np.int32(500))
            step.count += 1
            return state[0][0]

        step.count = 0
        return step

    return prepared


CASES = {
    "decode_1": decode(1), "decode_64": decode(64),
    "resnet50_32": resnet50(32), "resnet50_256": resnet50(256), "gpt2": transformer(50304, 16, 1024, True),
    "bert": transformer(30522, 32, 512, False), "vit": vit, "llama": llama, "llama_float8": lambda: llama(float8=True), "lenet": lenet,
    "lenet_eager": eagerly(lenet), "resnet50_32_eager": eagerly(resnet50(32)),
}  # fmt: skip
