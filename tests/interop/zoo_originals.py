"""Networks of torchvision, timm and Hugging Face with random weights: their files, inputs and results (run where those are installed).

    python zoo_originals.py FOLDER [NAME …]

For each network FOLDER gets NAME.pth or NAME.safetensors, and NAME.npz with the inputs and the results.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch

#: library:name there, size of the image
IMAGES = {
    "alexnet": ("torchvision", 96), "vgg11": ("torchvision", 32), "vgg11_bn": ("torchvision", 32), "resnet18": ("torchvision", 64),
    "resnet50": ("torchvision", 64), "resnet101": ("torchvision", 64), "resnext50_32x4d": ("torchvision", 64),
    "wide_resnet50_2": ("torchvision", 64), "seresnet50": ("timm", 64),
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


def without_operators() -> torch.library.Library:
    """torchvision's compiled part may not fit this PyTorch; classification does not need it. To be kept alive."""
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    return library


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


if __name__ == "__main__":
    kept = without_operators()
    torch.set_num_threads(1)
    image_networks(Path(sys.argv[1]), sys.argv[2:])
