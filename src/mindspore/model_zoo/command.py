"""`python -m mindspore.model_zoo`: list, summary, train, eval, export, predict.

    list [--task images]                         the networks, with their papers
    summary resnet50 [--classes 10]              layers, parameters, operations, memory
    train resnet18 --data FOLDER                 the paper's recipe; --epochs, --batch, --rate … change it
    eval resnet18 --data FOLDER --weights FILE   the figure on the data for testing
    export resnet18 --weights FILE --format ONNX
    predict resnet18 cat.jpg --weights FILE
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

from mindspore import context
from mindspore.common.parameter import Parameter
from mindspore.common.seed import set_seed
from mindspore.dataset.runtime.errors import PipelineError
from mindspore.model_zoo import registry, training
from mindspore.model_zoo.summary import sample, summary
from mindspore.model_zoo.tasks import TASKS
from mindspore.model_zoo.weights import load_weights
from mindspore.nn.cell import Cell
from mindspore.train.serialization import export, load_checkpoint, load_param_into_net


def main(arguments: list[str] | None = None) -> int:
    """Run a command line; returns the exit code."""
    given = _parser().parse_args(arguments)
    try:
        given.action(given)
    except (ValueError, TypeError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        stored = given.command == "train" and given.out
        after = f": the same command goes on after the last whole epoch in '{given.out}'" if stored else ""
        print(f"interrupted{after}", file=sys.stderr)
        return 130
    except PipelineError as error:  # its last line names the file and what is wrong with it
        print(f"error: {str(error).splitlines()[-1]}", file=sys.stderr)
        return 2
    return 0


class _Parser(argparse.ArgumentParser):
    """Its errors are a line, as all others here; all options of a command are many lines."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {message}\nTry: {self.prog} --help\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m mindspore.model_zoo", description="Common networks, ready to train.")
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name: str, action: Any, help: str, network: bool = True) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=help)
        added.set_defaults(action=action)
        if network:
            added.add_argument("name", help="a network, as `list` shows it")
            added.add_argument("--tiny", action="store_true", help="a small network of the same kind")
            added.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE", help="an option of the network")
            added.add_argument("--classes", type=int, help="the number of classes")
            added.add_argument("--channels", type=int, help="the channels of an image")
            added.add_argument("--size", type=int, help="height and width of an image")
            added.add_argument("--weights", help="a checkpoint of a run, or a file of torchvision, timm or Hugging Face")
            added.add_argument("--mode", choices=("graph", "pynative"), default="graph")
        return added

    command("list", _list, "the networks with their papers", network=False).add_argument("--task", choices=sorted(TASKS))
    command("summary", _summary, "layers, parameters, operations, memory").add_argument("--batch", type=_count, default=1)
    _training_options(command("train", _train, "train a network"))
    evaluation = command("eval", _eval, "how well a network does on the data for testing")
    evaluation.add_argument("--data", required=True)
    evaluation.add_argument("--batch", type=_count, default=64)
    evaluation.add_argument("--limit", type=_count, default=0, help="look at so many rows at most")
    exporting = command("export", _export, "write a network as MindIR or ONNX")
    exporting.add_argument("--format", choices=("MINDIR", "ONNX"), default="MINDIR")
    exporting.add_argument("--batch", type=_count, default=1)
    exporting.add_argument("--out", help="the file; without an ending, the format's is added")
    command("predict", _predict, "what a network says about a file").add_argument("file", help="networks that make images write it")
    return parser


def _count(text: str) -> int:
    """A positive whole number, for argparse."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"must be a positive whole number, but is {text}")
    return int(text)


def _rate(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a positive number, but is {text}")
    return found


def _training_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", required=True, help="a folder or file, or 'synthetic'")
    parser.add_argument("--out", default="", help="the folder of weights, summaries and the state to resume from")
    for option in ("epochs", "batch"):
        parser.add_argument(f"--{option}", type=_count)
    parser.add_argument("--rate", type=_rate, help="the highest learning rate")
    parser.add_argument("--optimizer", choices=("momentum", "rmsprop", "adam", "adamw", "lamb"))
    parser.add_argument("--limit", type=_count, default=0, help="train on so many rows at most")
    parser.add_argument("--amp", choices=("O0", "O1", "O2", "O3", "auto"), default="O0", help="mixed precision")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--devices", type=_count, default=1, help="cut the step over so many devices")
    parser.add_argument("--parallel", choices=("data", "auto"), default="data", help="how it is cut")


def _list(given: argparse.Namespace) -> None:
    rows = [(e.name, e.task, e.paper) for e in registry.entries().values() if given.task in (None, e.task)]
    widths = [max(len(row[i]) for row in rows) for i in range(2)]
    for name, task, paper in rows:
        print(f"{name:{widths[0]}}  {task:{widths[1]}}  {paper}")


def _summary(given: argparse.Namespace) -> None:
    entry = registry.entry(given.name)
    print(f"{entry.name}: {entry.paper}\n")
    print(summary(_network(given), given.batch))


def _train(given: argparse.Namespace) -> None:
    entry = registry.entry(given.name)
    changed = {k: getattr(given, k) for k in ("epochs", "batch", "rate", "optimizer") if getattr(given, k) is not None}
    set_seed(given.seed)
    if given.devices > 1 and given.mode == "pynative":
        raise ValueError("--devices cuts a graph; it goes with --mode graph.")
    if given.out and Path(given.out).exists() and not Path(given.out).is_dir():
        raise ValueError(f"--out wants a folder, but '{given.out}' is a file.")
    net = _network(given)
    if given.devices > 1:
        mode = "auto_parallel" if given.parallel == "auto" else "semi_auto_parallel"
        context.set_auto_parallel_context(parallel_mode=mode, device_num=given.devices, full_batch=True)
    recipe = dataclasses.replace(entry.recipe, **changed)
    print(f"training {entry.name} as in: {entry.paper}\n{recipe}", flush=True)
    begun = time.perf_counter()
    figure = training.train(entry, net, recipe, training.Run(given.data, given.out, given.amp, given.limit))
    print(f"{TASKS[entry.task].figure} {figure:.4f} after {time.perf_counter() - begun:.1f} s")


def _eval(given: argparse.Namespace) -> None:
    task = TASKS[registry.entry(given.name).task]
    net = _network(given)
    print(f"{task.figure} {task.evaluate(net, task.data(given.data, net, given.batch, False, given.limit)):.4f}")


def _export(given: argparse.Namespace) -> None:
    target = given.out or given.name
    if not Path(target).parent.is_dir():
        raise ValueError(f"There is no folder '{Path(target).parent}' to write to.")
    net = _network(given).set_train(False)
    export(net, *sample(net, given.batch), file_name=target, file_format=given.format)
    ending = f".{given.format.lower()}"
    print(f"wrote {target if target.endswith(ending) else target + ending}")


def _predict(given: argparse.Namespace) -> None:
    print(TASKS[registry.entry(given.name).task].predict(_network(given), given.file))


def _network(given: argparse.Namespace) -> Cell:
    """The network that the options describe, with its weights."""
    entry = registry.entry(given.name)
    context.set_context(mode=context.GRAPH_MODE if given.mode == "graph" else context.PYNATIVE_MODE)
    options = TASKS[entry.task].options(given.data) if getattr(given, "data", None) else {}
    if given.tiny:
        options = {**entry.tiny, **options}
    for option, value in (("num_classes", given.classes), ("in_channels", given.channels), ("image_size", given.size)):
        if value is not None:
            options[option] = value
    options.update(_pair(text) for text in given.set)
    net = registry.create(entry.name, **options)
    if given.weights:
        _fill(net, given.weights)
    return net


def _pair(text: str) -> tuple[str, Any]:
    """`name=value` with a value of numbers: 3, 0.5, (2, 2)."""
    name, found, value = text.partition("=")
    try:
        numbers = [float(v) if "." in v or "e" in v else int(v) for v in value.strip("()").split(",") if v.strip()]
    except ValueError:
        numbers = []
    if not found or not numbers:
        raise ValueError(f"--set takes OPTION=NUMBER or OPTION=NUMBER,NUMBER,…, but got '{text}'.")
    return name, tuple(numbers) if "," in value else numbers[0]


def _fill(net: Cell, file: str) -> None:
    if not Path(file).is_file():
        raise ValueError(f"There is no file '{file}' with weights.")
    if not file.endswith(".ckpt"):
        load_weights(net, file)
        return
    stored = load_checkpoint(file)
    for parameter in net.get_parameters():
        found = stored.get(parameter.name)
        if isinstance(found, Parameter) and found.shape != parameter.shape:
            raise ValueError(
                f"The checkpoint {file} does not fit the network: {parameter.name} has shape {found.shape} there and "
                f"{parameter.shape} here. Give the --classes, --channels, --size, --set and --tiny that it was trained with."
            )
    missing, _ = load_param_into_net(net, stored)
    if missing:
        raise ValueError(f"The checkpoint {file} does not fit the network: it lacks {missing[0]} and {len(missing) - 1} more.")
