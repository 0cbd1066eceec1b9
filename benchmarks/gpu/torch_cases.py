"""The work in PyTorch: autocast in bf16, channels-last images, fused optimizers.

Eager, or at its best: compiled in the default mode, with the whole step (forward, backward, update) as one CUDA graph.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

AT_ITS_BEST = False
WIDTH, HEADS, LAYERS = 768, 12, 12


def prepare(contender: str) -> None:
    global AT_ITS_BEST
    AT_ITS_BEST = contender == "torch_best"
    torch.manual_seed(0)
    torch.set_default_device("cuda")
    torch.backends.cudnn.benchmark = True
    torch.set_float32_matmul_precision("high")


def training(net, optimizer, loss_of, x, y, half=True):
    def forward(a, b):
        with torch.autocast("cuda", torch.bfloat16, enabled=half):
            return loss_of(net(a), b)

    run = torch.compile(forward) if AT_ITS_BEST else forward

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = run(x, y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return as_cuda_graph(step) if AT_ITS_BEST else step


def as_cuda_graph(step):
    """The step recorded once and replayed: no work of the host but the launch."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()

    def replay():
        graph.replay()
        return loss

    return replay


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


def resnet50(batch):
    def prepared():
        layers, inputs = [conv_bn(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)], 64
        for middle, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for i in range(count):
                layers.append(Bottleneck(inputs, middle, stride if i == 0 else 1))
                inputs = 4 * middle
        net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))
        net = net.to(memory_format=torch.channels_last)
        images = torch.randn(batch, 3, 224, 224).to(memory_format=torch.channels_last)
        sgd = torch.optim.SGD(net.parameters(), 0.01, 0.9, fused=True)
        return training(net, sgd, F.cross_entropy, images, torch.randint(0, 1000, (batch,)))

    return prepared


class Block(nn.Module):
    def __init__(self, causal):
        super().__init__()
        self.causal, self.attends_to_all = causal, not causal
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def attend(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(x).reshape(b, t, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=not self.attends_to_all)
        return self.out(mixed.transpose(1, 2).reshape(b, t, WIDTH))

    def forward(self, x):
        if self.causal:
            x = x + self.attend(self.norm1(x))
            return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))
        x = self.norm1(x + self.attend(x))
        return self.norm2(x + self.down(F.gelu(self.up(x), approximate="tanh")))


class Transformer(nn.Module):
    """The residual stream is bf16 throughout, as in the other contenders."""

    def __init__(self, words, tokens, causal):
        super().__init__()
        self.words, self.places = nn.Embedding(words, WIDTH), nn.Parameter(torch.zeros(tokens, WIDTH))
        self.blocks = nn.Sequential(*[Block(causal) for _ in range(LAYERS)])
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, words, bias=False)
        nn.init.normal_(self.words.weight, std=0.02)

    def forward(self, x):
        return self.head(self.norm(self.blocks((self.words(x) + self.places).bfloat16())))


def transformer(words, batch, tokens, causal):
    def prepared():
        net = Transformer(words, tokens, causal)
        adam = torch.optim.AdamW(net.parameters(), 1e-4, fused=True, capturable=True)
        x, y = torch.randint(0, words, (batch, tokens)), torch.randint(0, words, (batch * tokens,))
        return training(net, adam, lambda logits, labels: F.cross_entropy(logits.view(-1, words), labels), x, y)

    return prepared


class ViT(nn.Module):
    """ViT-B/16: 196 patches and a class token (Dosovitskiy et al. 2021)."""

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, WIDTH, 16, 16)
        self.first, self.places = nn.Parameter(torch.zeros(1, 1, WIDTH)), nn.Parameter(torch.zeros(197, WIDTH))
        self.blocks = nn.Sequential(*[Block(True) for _ in range(LAYERS)])
        for block in self.blocks:
            block.attends_to_all = True
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 1000)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(x.shape[0], -1, -1).to(x.dtype), x], 1) + self.places
        return self.head(self.norm(self.blocks(x.bfloat16()))[:, 0])


def vit():
    net = ViT()
    adam = torch.optim.AdamW(net.parameters(), 1e-4, fused=True, capturable=True)
    return training(net, adam, F.cross_entropy, torch.randn(128, 3, 224, 224), torch.randint(0, 1000, (128,)))


def lenet():
    net = nn.Sequential(
        nn.Conv2d(1, 6, 5, bias=False), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5, bias=False), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    )  # fmt: skip
    sgd = torch.optim.SGD(net.parameters(), 0.01, 0.9, fused=True)
    return training(net, sgd, F.cross_entropy, torch.randn(32, 1, 32, 32), torch.randint(0, 10, (32,)), half=False)


# -- decoding one token with a network of the shape of LLaMA 3 8B --------------------------------------------------------
DECODER = {"layers": 32, "width": 4096, "heads": 32, "kv_heads": 8, "inner": 14336, "words": 128256, "places": 1024}


class DecoderLayer(nn.Module):
    def __init__(self, batch):
        super().__init__()
        w, size = DECODER["width"], DECODER["width"] // DECODER["heads"]
        self.counts, self.size = (DECODER["heads"], DECODER["kv_heads"], DECODER["kv_heads"]), size
        self.norm1, self.norm2 = nn.RMSNorm(w), nn.RMSNorm(w)
        self.qkv, self.out = nn.Linear(w, sum(self.counts) * size, bias=False), nn.Linear(w, w, bias=False)
        self.gate_up, self.down = (
            nn.Linear(w, 2 * DECODER["inner"], bias=False), nn.Linear(DECODER["inner"], w, bias=False)
        )  # fmt: skip
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(batch, DECODER["kv_heads"], DECODER["places"], size))

    def forward(self, x, place, cos, sin, mask):
        batch = x.shape[0]
        q, k, v = self.qkv(self.norm1(x)).view(batch, -1, 1, self.size).split(self.counts, 1)
        q, k = (t * cos + torch.cat([-t[..., self.size // 2 :], t[..., : self.size // 2]], -1) * sin for t in (q, k))
        self.keys.index_copy_(2, place, k)
        self.values.index_copy_(2, place, v)
        mixed = F.scaled_dot_product_attention(q, self.keys, self.values, mask, enable_gqa=True)
        x = x + self.out(mixed.reshape(batch, -1))
        gate, up = self.gate_up(self.norm2(x)).chunk(2, 1)
        return x + self.down(F.silu(gate) * up)


class Decoder(nn.Module):
    def __init__(self, batch):
        super().__init__()
        self.words, self.head = nn.Embedding(DECODER["words"], DECODER["width"]), nn.Linear(
            DECODER["width"], DECODER["words"], bias=False
        )
        self.layers = nn.ModuleList([DecoderLayer(batch) for _ in range(DECODER["layers"])])
        self.norm = nn.RMSNorm(DECODER["width"])
        self.register_buffer("all_places", torch.arange(DECODER["places"]))
        self.register_buffer("turns", 5e5 ** -(torch.arange(0, 128, 2, dtype=torch.float32).repeat_interleave(2) / 128))

    def forward(self, words, place):
        angle = place * self.turns
        x, mask = self.words(words), (self.all_places <= place).view(1, 1, 1, -1)
        cos, sin = torch.cos(angle).bfloat16(), torch.sin(angle).bfloat16()
        for layer in self.layers:
            x = layer(x, place, cos, sin, mask)
        return self.head(self.norm(x)).argmax(-1)


def decode(batch):
    def prepared():
        torch.set_default_dtype(torch.bfloat16)
        net = Decoder(batch).eval().requires_grad_(False)
        words, place = torch.randint(0, 1000, (batch,)), torch.full((1,), 500)
        run = torch.compile(net) if AT_ITS_BEST else net

        def step():
            words.copy_(run(words, place))
            place.add_(1).remainder_(1000)
            return words[0]

        return as_cuda_graph(step) if AT_ITS_BEST else step

    return prepared


# -- LLaMA with 1.26 billion parameters ------------------------------------------------------------------------------------
LLAMA = {"layers": 22, "width": 2048, "heads": 16, "inner": 5632, "words": 32000}


class LlamaBlock(nn.Module):
    def __init__(self):
        super().__init__()
        w, inner = LLAMA["width"], LLAMA["inner"]
        self.norm1, self.norm2 = nn.RMSNorm(w), nn.RMSNorm(w)
        self.qkv, self.out = nn.Linear(w, 3 * w, bias=False), nn.Linear(w, w, bias=False)
        self.gate_up, self.down = nn.Linear(w, 2 * inner, bias=False), nn.Linear(inner, w, bias=False)

    def forward(self, x, cos, sin):
        b, t, w = x.shape
        size = w // LLAMA["heads"]
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, -1, size).permute(2, 0, 3, 1, 4)
        q, k = (t * cos + torch.cat([-t[..., size // 2 :], t[..., : size // 2]], -1) * sin for t in (q, k))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(b, t, w))
        gate, up = self.gate_up(self.norm2(x)).chunk(2, -1)
        return x + self.down(F.silu(gate) * up)


class Llama(nn.Module):
    def __init__(self, tokens):
        super().__init__()
        w = LLAMA["width"]
        self.words, self.head = nn.Embedding(LLAMA["words"], w), nn.Linear(w, LLAMA["words"], bias=False)
        self.blocks, self.norm = nn.ModuleList([LlamaBlock() for _ in range(LLAMA["layers"])]), nn.RMSNorm(w)
        nn.init.normal_(self.words.weight, std=0.02)
        size = w // LLAMA["heads"]
        angles = torch.outer(torch.arange(tokens), 1e4 ** -(torch.arange(0, size, 2) / size)).repeat(1, 2)
        self.register_buffer("cos", angles.cos().bfloat16())
        self.register_buffer("sin", angles.sin().bfloat16())

    def forward(self, words):
        x = self.words(words).bfloat16()
        for block in self.blocks:
            x = block(x, self.cos, self.sin)
        return self.head(self.norm(x))


def llama():
    net = Llama(2048)
    adam = torch.optim.AdamW(net.parameters(), 1e-4, fused=True, capturable=True)
    x, y = torch.randint(0, LLAMA["words"], (8, 2048)), torch.randint(0, LLAMA["words"], (8 * 2048,))
    return training(net, adam, lambda logits, labels: F.cross_entropy(logits.view(-1, LLAMA["words"]), labels), x, y)


CASES = {
    "decode_1": decode(1), "decode_64": decode(64),
    "resnet50_32": resnet50(32), "resnet50_256": resnet50(256), "gpt2": transformer(50304, 16, 1024, True),
    "bert": transformer(30522, 32, 512, False), "vit": vit, "llama": llama, "lenet": lenet, "lenet_eager": lenet,
    "resnet50_32_eager": resnet50(32),
}  # fmt: skip
