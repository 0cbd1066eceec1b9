"""Do the networks of the zoo learn? `make zoo`: each family on MNIST as shipped, or on made-up data with a known answer.

    python benchmarks/zoo/run.py [--minutes 12] [NAME …]

Trains the tiny form of each network with a short recipe and prints the figure reached, the one wanted, and the seconds; fails if
one does not reach it. After `--minutes` no lesson is begun; those left are named.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from pathlib import Path

import mindspore as ms
from mindspore import model_zoo
from mindspore.model_zoo.recipe import QUICK
from mindspore.model_zoo.tasks import TASKS
from mindspore.model_zoo.training import Run, train

MNIST = str(Path(__file__).resolve().parents[2] / "examples" / "data" / "mnist")


@dataclasses.dataclass(frozen=True)
class Lesson:
    """A short run: the figure that it must reach, on how many rows, and what differs from the quick recipe."""

    name: str
    wanted: float
    place: str = "synthetic"
    rows: int = 2048
    recipe: dict = dataclasses.field(default_factory=dict)
    options: dict = dataclasses.field(default_factory=dict)


GREY = {"in_channels": 1}
GRAPH = {"epochs": 150, "batch": 1, "rate": 1e-2}
DETECT = {"epochs": 10, "batch": 16, "clip": 10.0}
LESSONS = [
    Lesson("lenet5", 0.97, MNIST, 20000, {"epochs": 2}),
    Lesson("vgg11_bn", 0.95, MNIST, 12000, {"epochs": 4}, {**GREY, "dropout": 0.0}),
    Lesson("resnet18", 0.95, MNIST, 6000, {"epochs": 2}, GREY),
    Lesson("resnet50", 0.95, MNIST, 6000, {"epochs": 3}, GREY),
    Lesson("resnext50_32x4d", 0.95, MNIST, 6000, {"epochs": 3}, GREY),
    Lesson("seresnet18", 0.95, MNIST, 6000, {"epochs": 3}, GREY),
    Lesson("alexnet", 0.95, MNIST, 12000, {"epochs": 4}, GREY),
    Lesson("googlenet", 0.95, MNIST, 6000, {"epochs": 4}, GREY),
    Lesson("inception_v3", 0.90, MNIST, 2000, {"epochs": 5, "batch": 32}, GREY),
    Lesson("densenet121", 0.95, MNIST, 6000, {"epochs": 3}, GREY),
    Lesson("shufflenet_v2_x1_0", 0.90, MNIST, 6000, {"epochs": 3, "rate": 5e-3}, GREY),
    Lesson("mobilenet_v2", 0.95, MNIST, 12000, {"epochs": 6, "rate": 5e-3}, GREY),
    Lesson("mobilenet_v3_small", 0.95, MNIST, 12000, {"epochs": 6, "rate": 5e-3}, GREY),
    Lesson("efficientnet_b0", 0.95, MNIST, 6000, {"epochs": 8, "rate": 5e-3}, GREY),
    Lesson("swin_t", 0.92, MNIST, 12000, {"epochs": 10, "rate": 2e-3}, GREY),
    Lesson("vit_b_16", 0.88, MNIST, 6000, {"epochs": 12, "rate": 3e-3}, GREY),
    Lesson("convnext_tiny", 0.90, MNIST, 6000, {"epochs": 8, "rate": 4e-3}, GREY),
    Lesson("unet", 0.90, rows=512, recipe={"epochs": 4, "batch": 16, "rate": 5e-3}),
    Lesson("deeplabv3plus_resnet50", 0.85, rows=512, recipe={"epochs": 8, "batch": 16, "rate": 5e-3}),
    Lesson("crnn", 0.90, MNIST, 12288, {"epochs": 10, "rate": 4e-3, "clip": 5.0}),
    Lesson("ssd300", 0.80, rows=1024, recipe=DETECT),
    Lesson("retinanet_resnet50_fpn", 0.80, rows=1024, recipe=DETECT),
    Lesson("fasterrcnn_resnet50_fpn", 0.80, rows=1024, recipe=DETECT),
    Lesson("maskrcnn_resnet50_fpn", 0.80, rows=1024, recipe=DETECT),
    Lesson("yolov3", 0.80, rows=2048, recipe={**DETECT, "epochs": 20, "rate": 4e-3}),  # one anchor an object: it learns slowest
    Lesson("yolov5s", 0.80, rows=1024, recipe={**DETECT, "epochs": 16, "rate": 4e-3}),
    Lesson("yolov8n", 0.95, rows=1024, recipe={**DETECT, "epochs": 16, "rate": 4e-3}),
    Lesson("gpt2", 0.85, recipe={"epochs": 8, "rate": 5e-3}),
    Lesson("llama_7b", 0.85, recipe={"epochs": 8, "rate": 5e-3}),
    Lesson("bert_base", 0.70, rows=4096, recipe={"epochs": 12, "rate": 5e-3}),
    Lesson("bert_base_classifier", 0.95, recipe={"epochs": 2}),
    Lesson("lstm_sentiment", 0.95, recipe={"epochs": 3}),
    Lesson("transformer_base", 0.90, rows=4096, recipe={"epochs": 10, "rate": 3e-3}),
    Lesson("seq2seq_attention", 0.90, rows=4096, recipe={"epochs": 15, "rate": 5e-3}),
    Lesson("pangu_alpha_2_6b", 0.85, recipe={"epochs": 8, "rate": 5e-3}),
    Lesson("mixtral_8x7b", 0.85, recipe={"epochs": 8, "rate": 5e-3}),
    Lesson("albert_base", 0.70, rows=4096, recipe={"epochs": 16, "rate": 5e-3}),
    Lesson("t5_small", 0.90, rows=4096, recipe={"epochs": 20, "rate": 5e-3}),
    Lesson("bert_base_squad", 0.90, rows=4096, recipe={"epochs": 14, "rate": 2e-3}),
    Lesson("gru_sentiment", 0.95, recipe={"epochs": 3}),
    Lesson("wavenet", 3.0, rows=1024, recipe={"epochs": 8, "batch": 16, "rate": 5e-3}),
    Lesson("bayesian_mlp", 0.93, MNIST, 20000, {"epochs": 8}, {"rows": 20000}),  # few rows: weights stay near their prior
    Lesson("dcgan", 0.35, rows=2048, recipe={"epochs": 40, "betas": (0.5, 0.999), "rate": 5e-4, "schedule": "constant"}),
    Lesson("cyclegan", 0.40, rows=256, recipe={"epochs": 20, "batch": 8, "betas": (0.5, 0.999)}),
    Lesson("dlrm", 0.95, rows=8192, recipe={"epochs": 10, "rate": 1e-2}),
    Lesson("graphsage", 0.90, rows=1, recipe=GRAPH, options={"nodes": 120}),
    # the game is said to be solved at 195 moves of 500; four seeds reached 281 to 500
    Lesson("dqn", 195.0, rows=4096, recipe={"epochs": 100, "rate": 1e-3, "schedule": "constant", "clip": 10.0}),
    Lesson("ppo", 450.0, rows=4096, recipe={"epochs": 30, "batch": 256, "rate": 3e-3, "clip": 0.5}),
    Lesson("vae", 0.35, recipe={"epochs": 20}),
    Lesson("ddpm", 0.35, rows=1024, recipe={"epochs": 40}),
    Lesson("wide_deep", 0.95, rows=8192, recipe={"epochs": 6, "rate": 1e-2}),
    Lesson("deepfm", 0.95, rows=8192, recipe={"epochs": 6, "rate": 1e-2}),
    Lesson("ncf", 0.95, rows=8192, recipe={"epochs": 6, "rate": 1e-2}),
    Lesson("gcn", 0.90, rows=1, recipe=GRAPH, options={"nodes": 120}),
    Lesson("gat", 0.90, rows=1, recipe=GRAPH, options={"nodes": 120, "dropout": 0.3}),
    Lesson("pinn_heat", 0.05, rows=2048, recipe={"epochs": 150, "batch": 256, "rate": 1e-2}),
]


def learn(lesson: Lesson) -> tuple[float, bool, float]:
    """The figure, whether it is good enough, and the seconds."""
    ms.set_seed(1)
    entry = model_zoo.entry(lesson.name)
    net = model_zoo.create(lesson.name, tiny=True, **lesson.options)
    begun = time.perf_counter()
    run = Run(lesson.place, limit=lesson.rows, every=10**9)
    figure = train(entry, net, dataclasses.replace(QUICK, **lesson.recipe), run)
    good = figure >= lesson.wanted if TASKS[entry.task].higher_is_better else figure <= lesson.wanted
    return figure, good, time.perf_counter() - begun


def main(names: list[str], minutes: float) -> int:
    unknown = set(names) - {lesson.name for lesson in LESSONS}
    if unknown:
        raise SystemExit(f"There is no lesson for {', '.join(sorted(unknown))}.")
    ms.set_context(mode=ms.GRAPH_MODE)
    print(f"{'network':24} {'figure':22} {'reached':>8} {'wanted':>8} {'seconds':>8}", flush=True)
    failed, end = 0, time.monotonic() + 60 * minutes
    left = [lesson for lesson in LESSONS if not names or lesson.name in names]
    while left and time.monotonic() < end:
        lesson = left.pop(0)
        figure, good, seconds = learn(lesson)
        task = TASKS[model_zoo.entry(lesson.name).task]
        bound = "≥" if task.higher_is_better else "≤"
        row = f"{lesson.name:24} {task.figure:22} {figure:8.3f} {bound}{lesson.wanted:7.2f} {seconds:8.1f}"
        print(row + ("" if good else "  too bad"), flush=True)
        failed += not good
    if left:
        print(f"the time was up before {', '.join(lesson.name for lesson in left)}")
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    sys.exit(main(given.names, given.minutes))
