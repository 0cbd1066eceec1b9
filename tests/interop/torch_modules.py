"""PyTorch's modules by `ms.from_torch`: the same results and the same gradients of every parameter, to 1e-4.

    python tests/interop/torch_modules.py [--all] [NAME …]

One network of each family of torchvision's classification (--all: every one), and ten architectures of Hugging Face with random
weights, in an environment that has PyTorch beside this framework. Prints a report for each.

Gradients that differ in float32 are compared once more in float64. Where two elements of a max pool's window are equal but for
rounding, or a ReLU's input is 0 but for rounding, the last bit of a sum decides where the gradient goes: PyTorch's own float32 and
float64 then differ as much (vgg16: 2e-2). In float64 such cases vanish, and a wrong formula would not.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from zoo_originals import import_torchvision

import mindspore as ms
from mindspore import Tensor

LIMIT = 1e-4
#: sizes of images, where a network wants a certain one
SIZES = {"inception_v3": 128, "vit": 224, "maxvit": 224, "alexnet": 128}
FAMILIES = (
    "alexnet", "convnext_tiny", "densenet121", "efficientnet_b0", "efficientnet_v2_s", "googlenet", "inception_v3", "maxvit_t",
    "mnasnet0_5", "mobilenet_v2", "mobilenet_v3_small", "regnet_y_400mf", "regnet_x_400mf", "resnet18", "resnet50", "resnext50_32x4d",
    "shufflenet_v2_x0_5", "squeezenet1_1", "swin_t", "swin_v2_t", "vgg11", "vgg11_bn", "vit_b_16", "wide_resnet50_2",
)  # fmt: skip


def classifier(name: str) -> tuple[torch.nn.Module, tuple]:
    import torchvision

    extra = {"init_weights": False, "aux_logits": False} if name in ("googlenet", "inception_v3") else {}
    net = torchvision.models.get_model(name, weights=None, **extra)
    size = next((s for start, s in SIZES.items() if name.startswith(start)), 64)
    return net, (torch.randn(1, 3, size, size),)


def tiny(config: str, model: str, **options: Any) -> Callable[[], tuple[torch.nn.Module, tuple]]:
    """An architecture of Hugging Face, small."""

    def build() -> tuple[torch.nn.Module, tuple]:
        import transformers

        made = getattr(transformers, config)(**options)
        made._attn_implementation = "eager"
        made.use_cache = False
        made.return_dict = False
        net = getattr(transformers, model)(made)
        if "image_size" in options:
            return net, (torch.randn(1, 3, options["image_size"], options["image_size"]),)
        return net, (torch.randint(0, 90, (2, 7)),)

    return build


_SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48, "vocab_size": 100}
_LLAMA = {**_SMALL, "num_key_value_heads": 2, "max_position_embeddings": 32}
TRANSFORMERS = {
    "BERT": tiny("BertConfig", "BertModel", **_SMALL), "RoBERTa": tiny("RobertaConfig", "RobertaModel", **_SMALL),
    "DistilBERT": tiny("DistilBertConfig", "DistilBertModel", vocab_size=100, dim=32, n_layers=2, n_heads=4, hidden_dim=48),
    "ALBERT": tiny("AlbertConfig", "AlbertModel", embedding_size=16, **_SMALL),
    "ELECTRA": tiny("ElectraConfig", "ElectraModel", embedding_size=16, **_SMALL),
    "GPT-2": tiny("GPT2Config", "GPT2Model", n_embd=32, n_layer=2, n_head=4, vocab_size=100, n_positions=32),
    "LLaMA": tiny("LlamaConfig", "LlamaModel", **_LLAMA), "Mistral": tiny("MistralConfig", "MistralModel", **_LLAMA),
    "Qwen2": tiny("Qwen2Config", "Qwen2Model", **_LLAMA),
    "ViT": tiny("ViTConfig", "ViTModel", image_size=32, patch_size=8, **{k: v for k, v in _SMALL.items() if k != "vocab_size"}),
}  # fmt: skip


def first(value: Any) -> Any:
    while isinstance(value, (tuple, list)):
        value = value[0]
    return value


def judge(net: torch.nn.Module, inputs: tuple) -> dict[str, Any]:
    """Whether results and gradients agree, and by how much they differ."""
    forward, backward = compare(net, inputs)
    note = f"results {forward:.1e}, gradients {backward:.1e}"
    if forward < LIMIT <= backward:
        net.zero_grad()
        exact = [x.double() if x.is_floating_point() else x for x in inputs]
        forward, backward = compare(net.double(), tuple(exact))
        note += f"; in float64 {forward:.1e}, {backward:.1e}"
    return {"ok": max(forward, backward) < LIMIT, "note": note}


def compare(net: torch.nn.Module, inputs: tuple) -> tuple[float, float]:
    """The largest difference of results, and of parameters' gradients, each relative to its own scale."""
    net.eval()
    cell = ms.from_torch(net, *inputs)
    given = [Tensor(x.numpy()) for x in inputs]
    want = first(net(*inputs))
    weight = torch.randn_like(want)
    (want * weight).sum().backward()
    gradient = ms.value_and_grad(lambda *x: (first(cell(*x)) * Tensor(weight.numpy())).sum(), None, cell.trainable_params())
    got = first(cell(*given)).asnumpy()
    _, grads = gradient(*given)
    scale = max(float(p.grad.abs().max()) for p in net.parameters() if p.grad is not None)
    theirs = dict(net.named_parameters(remove_duplicate=False))
    off = 0.0
    for parameter, grad in zip(cell.trainable_params(), grads):
        expected = theirs[parameter.name].grad
        expected = np.zeros(parameter.shape, np.float32) if expected is None else expected.numpy()
        off = max(off, float(np.abs(grad.asnumpy() - expected).max()) / max(float(np.abs(expected).max()), 1e-3 * scale))
    size = max(want.abs().max().item(), 1e-6)  # heads may begin as zeros
    return float(np.abs(got - want.detach().numpy()).max() / size), off


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    kept = import_torchvision()  # noqa: F841 - its declarations live as long as it does
    import torchvision

    names = torchvision.models.list_models(module=torchvision.models) if arguments.all else FAMILIES
    cases: dict[str, Callable[[], tuple[torch.nn.Module, tuple]]] = {n: lambda n=n: classifier(n) for n in names}  # type: ignore[misc]
    cases.update(TRANSFORMERS)
    for name, build in cases.items():
        if arguments.names and name not in arguments.names:
            continue
        torch.manual_seed(0)
        began = time.process_time()
        try:
            report = judge(*build())
        except (ValueError, TypeError, RuntimeError, NotImplementedError, AttributeError, KeyError, IndexError) as error:
            report = {"ok": False, "note": f"{type(error).__name__}: {str(error)[:300]}"}
        print("EXCHANGE " + json.dumps({"file": f"from_torch: {name}", **report, "seconds": time.process_time() - began}), flush=True)


if __name__ == "__main__":
    main()
