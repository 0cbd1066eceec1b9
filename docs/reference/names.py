"""Public names and what their docstrings say about them."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from dataclasses import dataclass, field
from enum import EnumType
from functools import cached_property
from typing import Any

from mindspore._base.dtype import DType
from mindspore.nn import Cell
from mindspore.prims.primitive import Primitive
from reference import arguments, examples


@dataclass(frozen=True)
class Page:
    """A namespace: where its pages go, the module or class it describes, its title, and what it is for."""

    name: str
    path: str
    title: str
    about: str


PAGES = [
    Page("mindspore", "mindspore", "mindspore", "Tensors, parameters, compilation, gradients, settings, checkpoints."),
    Page("tensor", "mindspore.Tensor", "Tensor", "Methods and properties of tensors."),
    Page("nn", "mindspore.nn", "nn", "Layers, losses, optimizers, learning-rate schedules, training steps."),
    Page("cell", "mindspore.nn.Cell", "nn.Cell", "Methods and properties of every network."),
    Page("ops", "mindspore.ops", "ops: functions", "Operations as functions."),
    Page("primitives", "mindspore.ops", "ops: classes", "Operations as classes, with their settings as attributes."),
    Page("mint", "mindspore.mint", "mint", "Functions with PyTorch's names and arguments."),
    Page("mint_nn", "mindspore.mint.nn", "mint.nn", "Layers with PyTorch's names and arguments."),
    Page("mint_functional", "mindspore.mint.nn.functional", "mint.nn.functional", "Those layers as functions."),
    Page("mint_linalg", "mindspore.mint.linalg", "mint.linalg", "Linear algebra with PyTorch's arguments."),
    Page("mint_special", "mindspore.mint.special", "mint.special", "Special functions with PyTorch's arguments."),
    Page("mint_optim", "mindspore.mint.optim", "mint.optim", "Optimizers with PyTorch's arguments."),
    Page("numpy", "mindspore.numpy", "numpy", "NumPy's functions for tensors."),
    Page("scipy_linalg", "mindspore.scipy.linalg", "scipy.linalg", "SciPy's linear algebra for tensors."),
    Page("initializer", "mindspore.common.initializer", "common.initializer", "First values of parameters."),
    Page("train", "mindspore.train", "train", "Model, callbacks, metrics."),
    Page("model", "mindspore.train.Model", "train.Model", "Training, evaluating and using a network."),
    Page("amp", "mindspore.amp", "amp", "Mixed precision and loss scaling."),
    Page("optim", "mindspore.experimental.optim", "experimental.optim", "Optimizers whose groups can be changed."),
    Page(
        "lr_scheduler", "mindspore.experimental.optim.lr_scheduler", "experimental.optim.lr_scheduler",
        "Schedules that change an optimizer's rate.",
    ),
    Page(
        "distribution", "mindspore.nn.probability.distribution", "nn.probability.distribution",
        "Probability distributions.",
    ),
    Page("bijector", "mindspore.nn.probability.bijector", "nn.probability.bijector", "Invertible functions."),
    Page("dataset", "mindspore.dataset", "dataset", "Reading, mixing and batching data."),
    Page("pipeline", "mindspore.dataset.Dataset", "dataset.Dataset", "Methods of every data set."),
    Page("transforms", "mindspore.dataset.transforms", "dataset.transforms", "Transforms of any data."),
    Page("vision", "mindspore.dataset.vision", "dataset.vision", "Transforms of images and video."),
    Page("text", "mindspore.dataset.text", "dataset.text", "Transforms of text."),
    Page("audio", "mindspore.dataset.audio", "dataset.audio", "Transforms of sound."),
    Page("mindrecord", "mindspore.mindrecord", "mindrecord", "The MindRecord file format."),
    Page("model_zoo", "mindspore.model_zoo", "model_zoo", "Common networks, their weights and what they are made of."),
    Page("labeling", "mindspore.labeling", "labeling", "Labels from few answers of people: asking, spreading, suggesting."),
]  # fmt: skip

#: Parts of compiled graphs and bases of operations: `ops` shows them to the compiler, no program calls them itself.
GRAPH_PARTS = frozenset({
    "AttentionGrad", "AvgPoolGrad", "Call", "Collective", "Cond", "Conv1DBackpropFilter", "Conv1DBackpropInput",
    "Conv3DBackpropInput", "CTC", "CTCAlignments", "CTCCurvature", "CTCGrad", "CustomGradient", "DropoutAttention",
    "DropoutAttentionGrad", "DropoutMask", "DropoutWithKey", "Elementwise", "FoldIn", "GetItem", "GradientHook",
    "GroupedMatMulRows", "GroupedOuter", "HostCall", "Later", "MakeTuple", "MaxPoolGrad", "MaxPoolGradGrad",
    "Laid", "Measured", "MeshIndex", "NextKey", "Note", "Part", "RandomBits", "RandomGammaSample", "RandomInteger", "RandomNormal",
    "RandomPermutation",
    "RandomPoissonSample", "RandomUniform", "RecurrentSequence", "RecurrentSequenceCurvature",
    "RecurrentSequenceGrad", "RecurrentSequenceThird", "Reduction", "SetItem", "SparseUpdate", "StackInit", "StackPush", "StackRead",
    "BadCount", "ScalarVector", "TensorStatistics", "TensorToScalar", "TupleGetItem", "Update", "Violation", "While",
})  # fmt: skip

SECTIONS = ("Args", "Inputs", "Outputs", "Returns", "Raises", "Attributes", "Supported names", "Note")


@dataclass
class Entry:
    """A public name with what its docstring says."""

    page: Page
    name: str
    target: Any
    is_method: bool = False
    aliases: list[str] = field(default_factory=list)

    @property
    def full_name(self) -> str:
        return f"{self.page.path}.{self.name}"

    @property
    def short_name(self) -> str:
        return self.full_name.removeprefix("mindspore.")

    @property
    def function(self) -> Any:
        """What is called: a property's getter, else the thing itself."""
        return self.target.fget if isinstance(self.target, property) else self.target

    @cached_property
    def text(self) -> str:
        return inspect.getdoc(self.function) or ""

    @cached_property
    def words(self) -> str:
        return examples.parts(self.text)[0]

    @property
    def summary(self) -> str:
        first = re.split(r"(?<=[^.][.:;])\s|\n\n", self.words + " ", maxsplit=1)[0]
        return " ".join(first.split()).rstrip(":;")

    @cached_property
    def example(self) -> str:
        """The example as the page shows it, with imports: of the method, of the function under this name."""
        shown = self._adapted(examples.parts(self.text)[1])
        return examples.runnable(shown) if shown else ""

    def _adapted(self, example: str) -> str:
        if self.page.path == "mindspore.Tensor":
            if not example and self.name.endswith("_"):  # the method that stores what this one computes
                plain = getattr(resolve(self.page.path), self.name[:-1], None)
                sibling = Entry(self.page, self.name[:-1], plain, True)
                return sibling._adapted(examples.parts(sibling.text)[1]).replace(
                    f".{self.name[:-1]}(", f".{self.name}("
                )
            for name in {*_names_in("mindspore.ops", self.function), self.name}:
                example = examples.as_method(example, name, self.name)
            return example.replace(f".{self.name}()", f".{self.name}") if isinstance(self.target, property) else example
        if self.page.path.startswith("mindspore.mint"):
            for name in _names_in("mindspore.ops", self.function):
                example = examples.renamed(
                    example, f"ops.{name}", f"{self.page.path.removeprefix('mindspore.')}.{self.name}"
                )
        return example

    @cached_property
    def raw_signature(self) -> inspect.Signature | None:
        if isinstance(self.target, (property, EnumType)) or not callable(self.target):
            return None
        try:
            signature = inspect.signature(self.target)
        except (TypeError, ValueError):
            return None
        given = [p for p in signature.parameters.values() if p.name != "self"]
        if self.is_method and len(given) == len(signature.parameters):  # called on an object: its first argument
            given = given[1:]
        return signature.replace(parameters=given)

    @property
    def signature(self) -> str:
        """As a person would write it."""
        if self.raw_signature is None:
            return ""
        shown = str(self.raw_signature)
        shown = re.sub(r"(: |-> )'([^']+)'", r"\1\2", shown)  # annotations are text here
        shown = re.sub(r": Any\b| -> Any\b| -> None\b", "", re.sub(r" at 0x[0-9a-f]+", "", shown))
        return re.sub(r"([(,] ?)(\w+) = ", r"\1\2=", shown)

    @property
    def call(self) -> str:
        """What objects of the class are called with: `(x, weight)`; empty of what is no operation."""
        rule = _computation(self.target) if isinstance(self.target, type) else None
        if rule is None:
            return ""
        if isinstance(rule, tuple):
            return f"({', '.join(rule)})"
        skipped = ("self", "p", "xp")
        kept = [p for p in inspect.signature(rule).parameters.values() if p.name not in skipped]
        return str(inspect.Signature([p.replace(annotation=p.empty) for p in kept]))

    @cached_property
    def sections(self) -> dict[str, list[str]]:
        """The text before the first section under "", then each section's items."""
        return split_sections(self.words)

    @cached_property
    def parameters(self) -> list[arguments.Argument]:
        """Every parameter with its type, default and meaning."""
        if self.raw_signature is None:
            return []
        described = dict(item.partition(": ")[::2] for item in self.sections.get("Args", []))
        given = self.raw_signature.parameters.values()
        own = [p for p in given if not p.name.startswith("_") and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        found = [arguments.describe(p, described, self.words) for p in own]
        if len(own) < len(given):  # what `*args` and `**kwargs` stand for is known from the words alone
            named = {p.name for p in own}
            found += [arguments.Argument(n, "", "…", text, True) for n, text in described.items() if n not in named]
        return found

    @cached_property
    def module(self) -> Any:
        return defining_module(self.name, self.target)

    @property
    def subject(self) -> str:
        """What the module that defines it is about."""
        return module_subject(self.module)

    @property
    def wider_subject(self) -> str:
        """What the package of that module is about."""
        return module_subject(sys.modules.get(getattr(self.module, "__package__", "")))


def module_subject(module: Any) -> str:
    """The first sentence of a module's docstring."""
    text = " ".join((inspect.getdoc(module) or "").split()) if module is not None else ""
    return re.split(r"(?<!et al)[.](?=\s|$)", text, maxsplit=1)[0] or "Others"


def _computation(target: type) -> Any:
    """The function that says what an operation or layer takes, or the names of what it takes."""
    if isinstance(getattr(target, "arguments", None), tuple):  # an optimizer's update rule
        return target.arguments
    rule = getattr(target, "compose", None)  # an operation made of others: a function inside of a function
    while rule is not None:
        inner = inspect.getclosurevars(rule).nonlocals.get("function") if inspect.isfunction(rule) else None
        if not inspect.isfunction(inner):
            return rule
        rule = inner
    if issubclass(target, Cell):
        return target.construct
    return getattr(target, "eval", None) if issubclass(target, Primitive) else None


def split_sections(words: str) -> dict[str, list[str]]:
    """The parts of a docstring: "" for what comes first, then "Args" and the like as lists of items."""
    found: dict[str, list[str]] = {"": []}
    current = ""
    for line in words.splitlines():
        title = line.rstrip(":")
        if line.endswith(":") and title in SECTIONS:
            current = title
            found[current] = []
        elif not current:
            found[""].append(line)
        elif line.startswith("     ") and found[current]:
            found[current][-1] += " " + line.strip()
        elif line.strip():
            found[current].append(line.strip())
    return found


def resolve(path: str) -> Any:
    """A module, or an attribute of one."""
    try:
        return importlib.import_module(path)
    except ImportError:
        owner, _, name = path.rpartition(".")
        return getattr(resolve(owner), name)


def entries(page: Page) -> list[Entry]:
    """The public names of a page, without those of other libraries. Names that share one object are one entry."""
    owner = resolve(page.path)
    found: dict[int, Entry] = {}
    for name in sorted(public_names(owner), key=str.lower):
        target = inspect.getattr_static(owner, name) if isinstance(owner, type) else getattr(owner, name, None)
        bound = isinstance(owner, type) and inspect.isfunction(target)
        target = target.__func__ if isinstance(target, (staticmethod, classmethod)) else target
        if inspect.ismodule(target) or not _ours(target) or not _belongs(name, target, page):
            continue
        if id(target) in found and callable(target):
            found[id(target)].aliases.append(name)
        else:
            found[id(target)] = Entry(page, name, target, bound)
    return list(found.values())


def public_names(owner: Any) -> list[str]:
    listed = getattr(owner, "__all__", None) if inspect.ismodule(owner) else None
    return [n for n in (listed or dir(owner)) if not n.startswith("_")]


def _ours(target: Any) -> bool:
    if isinstance(target, property):
        return True
    module = getattr(target, "__module__", None) or getattr(type(target), "__module__", "")
    return callable(target) and str(module).startswith("mindspore")


def _belongs(name: str, target: Any, page: Page) -> bool:
    """`ops` has two pages: functions, and classes."""
    if isinstance(target, DType):  # data, not an operation; described once
        return page.name == "mindspore"
    if page.name not in ("ops", "primitives"):
        return True
    return isinstance(target, type) == (page.name == "primitives") and name not in GRAPH_PARTS


def _names_in(path: str, target: Any) -> list[str]:
    """The names a function has in a module; of an adapter, those of what it adapts."""
    wanted = set()
    while target is not None:
        wanted.add(id(target))
        target = getattr(target, "__wrapped__", None)
    return [name for name, value in vars(resolve(path)).items() if callable(value) and id(value) in wanted]


def defining_module(name: str, target: Any) -> Any:
    """The module that says `def` or `class`, or, of what a factory made, the one that lists it."""
    function = target.fget if isinstance(target, property) else target
    home = sys.modules.get(getattr(function, "__module__", "") or "")
    if home is not None and vars(home).get(name) is target and not hasattr(home, "__path__"):
        return home
    listing = [
        module
        for path, module in sorted(sys.modules.items())
        if path.startswith("mindspore.")
        and not hasattr(module, "__path__")
        and vars(module).get(name) is target
        and name in getattr(module, "__all__", ())
    ]
    return listing[0] if listing else home
