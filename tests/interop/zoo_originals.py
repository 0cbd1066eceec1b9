"""Networks of torchvision, timm and Hugging Face with random weights: their files, inputs and results (run where those are installed).

    python zoo_originals.py FOLDER [NAME …]

For each network FOLDER gets NAME.pth or NAME.safetensors, and NAME.npz with the inputs and the results.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import torch

#: the library there, and the size of the image. Deep networks get large images: batch statistics of a handful of values would make
#: results that rounding alone moves (ResNet-101 with 64 × 64: PyTorch in float32 is 1e-4 from PyTorch in float64)
IMAGES = {
    "alexnet": ("torchvision", 96), "vgg11": ("torchvision", 32), "vgg11_bn": ("torchvision", 32), "resnet18": ("torchvision", 160),
    "resnet50": ("torchvision", 160), "resnet101": ("torchvision", 160), "resnext50_32x4d": ("torchvision", 160),
    "wide_resnet50_2": ("torchvision", 160), "seresnet50": ("timm", 64),
    "googlenet": ("torchvision", 96), "inception_v3": ("torchvision", 299),
    "densenet121": ("torchvision", 64), "mobilenet_v2": ("torchvision", 64), "mobilenet_v3_large": ("torchvision", 64),
    "mobilenet_v3_small": ("torchvision", 64), "efficientnet_b0": ("torchvision", 64), "efficientnet_b5": ("torchvision", 64),
    "shufflenet_v2_x1_0": ("torchvision", 64), "vit_b_16": ("torchvision", 224), "vit_b_32": ("torchvision", 224),
    "swin_t": ("torchvision", 224),
    "convnext_tiny": ("torchvision", 64),
}  # fmt: skip


def build(library: str, name: str) -> torch.nn.Module:
    if library == "timm":
        import timm

        return timm.create_model(name, pretrained=False)
    import torchvision

    extra = {"init_weights": True, "aux_logits": True} if name in ("googlenet", "inception_v3") else {}
    return getattr(torchvision.models, name)(weights=None, **extra)


def disturb(net: torch.nn.Module, x: torch.Tensor) -> None:
    """No parameter at its first value, statistics of normalisations those of some data: what is mixed up shows."""
    with torch.no_grad():
        for parameter in net.parameters():
            if parameter.ndim == 1 or parameter.std() == 0:
                parameter.add_(0.2 * torch.rand_like(parameter))
        for module in net.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                module.momentum = 1.0
        net.train()
        net(x)
        net.eval()


def import_torchvision() -> torch.library.Library | None:
    """torchvision's compiled part may not fit this PyTorch; classification does not need it, if its names are declared (and kept)."""
    try:
        import torchvision  # noqa: F401
    except RuntimeError:
        for name in [m for m in sys.modules if m.startswith("torchvision")]:
            del sys.modules[name]
        library = torch.library.Library("torchvision", "DEF")
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        return library
    return None


def image_networks(folder: Path, names: list[str]) -> None:
    for name, (library, size) in IMAGES.items():
        if names and name not in names:
            continue
        torch.manual_seed(1)
        net, x = build(library, name), torch.randn(4, 3, size, size)
        disturb(net, x)
        with torch.no_grad():
            y = net(x)
        np.savez(folder / f"{name}.npz", y=y.numpy(), size=size, x=x.numpy())
        torch.save(net.state_dict(), folder / f"{name}.pth")
        print("wrote", name, flush=True)


#: options here, class there, its configuration
TEXT = {
    "gpt2": (
        {"depth": 2, "width": 48, "heads": 4, "vocabulary": 99, "length": 24}, "GPT2",
        {"n_layer": 2, "n_embd": 48, "n_head": 4, "vocab_size": 99, "n_positions": 24},
    ),
    "llama_7b": (
        {"depth": 2, "width": 48, "heads": 4, "groups": 2, "hidden": 80, "vocabulary": 99, "length": 24}, "Llama",
        {"num_hidden_layers": 2, "hidden_size": 48, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 80,
         "vocab_size": 99, "max_position_embeddings": 24, "rms_norm_eps": 1e-6},
    ),
    "bert_base": (
        {"depth": 2, "width": 48, "heads": 4, "vocabulary": 99, "length": 24}, "BertForMaskedLM",
        {"num_hidden_layers": 2, "hidden_size": 48, "num_attention_heads": 4, "intermediate_size": 192, "vocab_size": 99,
         "max_position_embeddings": 24},
    ),
    "bert_base_classifier": (
        {"depth": 2, "width": 48, "heads": 4, "vocabulary": 99, "length": 24, "num_classes": 3}, "BertForSequenceClassification",
        {"num_hidden_layers": 2, "hidden_size": 48, "num_attention_heads": 4, "intermediate_size": 192, "vocab_size": 99,
         "max_position_embeddings": 24, "num_labels": 3},
    ),
    "albert_base": (
        {"depth": 3, "width": 48, "heads": 4, "embedding": 16, "vocabulary": 99, "length": 24}, "AlbertForMaskedLM",
        {"num_hidden_layers": 3, "hidden_size": 48, "num_attention_heads": 4, "embedding_size": 16, "intermediate_size": 192,
         "vocab_size": 99, "max_position_embeddings": 24},
    ),
    "bert_base_squad": (
        {"depth": 2, "width": 48, "heads": 4, "vocabulary": 99, "length": 24}, "BertForQuestionAnswering",
        {"num_hidden_layers": 2, "hidden_size": 48, "num_attention_heads": 4, "intermediate_size": 192, "vocab_size": 99,
         "max_position_embeddings": 24},
    ),
    "t5_small": (
        {"depth": 2, "width": 48, "heads": 4, "hidden": 80, "vocabulary": 99, "length": 24}, "T5",
        {"num_layers": 2, "d_model": 48, "num_heads": 4, "d_kv": 12, "d_ff": 80, "vocab_size": 99},
    ),
}  # fmt: skip
CLASSES = {"GPT2": "GPT2LMHeadModel", "Llama": "LlamaForCausalLM", "T5": "T5ForConditionalGeneration"}


def text_networks(folder: Path, names: list[str]) -> None:
    import transformers
    from safetensors.torch import save_file

    for name, (options, kind, configuration) in TEXT.items():
        if names and name not in names:
            continue
        torch.manual_seed(1)
        settings = getattr(transformers, f"{kind.split('For')[0]}Config")(**configuration)
        net = getattr(transformers, CLASSES.get(kind, kind))(settings).eval()
        with torch.no_grad():
            for parameter in net.parameters():
                parameter.add_(0.05 * torch.randn_like(parameter))
            ids, target = torch.randint(0, 99, (2, 3, 20))
            both = kind == "T5"
            found = net(input_ids=ids, decoder_input_ids=target) if both else net(ids)
            y = torch.stack((found.start_logits, found.end_logits), -1) if "Answering" in kind else found.logits
        inputs = {"x0": ids.int().numpy(), **({"x1": target.int().numpy()} if both else {})}
        np.savez(folder / f"{name}.npz", y=y.numpy(), options=json.dumps(options), **inputs)
        kept = {k: v.contiguous() for k, v in net.state_dict().items() if not k.startswith("lm_head") or kind == "Llama"}
        save_file({k: v.clone() for k, v in kept.items()}, folder / f"{name}.safetensors")
        print("wrote", name, flush=True)


#: detectors, with the size of the image and the outputs of their own heads: choosing among boxes is not compared
DETECTORS = {"retinanet_resnet50_fpn": 128}


def detectors(folder: Path, names: list[str]) -> None:
    import torchvision

    for name, size in DETECTORS.items():
        if names and name not in names:
            continue
        torch.manual_seed(1)
        net = getattr(torchvision.models.detection, name)(weights=None, weights_backbone=None).eval()
        x = torch.randn(2, 3, size, size)
        with torch.no_grad():
            for parameter in net.head.parameters():
                parameter.add_(0.02 * torch.randn_like(parameter))
            found = net.head(list(net.backbone(x).values()))
        y = torch.cat((found["bbox_regression"], found["cls_logits"]), -1)
        np.savez(folder / f"{name}.npz", y=y.numpy(), size=size, x=x.numpy())
        torch.save(net.state_dict(), folder / f"{name}.pth")
        print("wrote", name, flush=True)


if __name__ == "__main__":
    kept = import_torchvision()
    torch.set_num_threads(1)
    image_networks(Path(sys.argv[1]), sys.argv[2:])
    text_networks(Path(sys.argv[1]), sys.argv[2:])
    detectors(Path(sys.argv[1]), sys.argv[2:])
