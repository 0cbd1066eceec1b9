"""Random programs in Python: arithmetic, branches and loops on values, lists, in-place updates, and their gradients."""

from __future__ import annotations

import importlib.util
import os
from typing import Any

import numpy as np
from fuzz_compare import compare, some_backends

import mindspore as ms
from mindspore import Tensor

DRAWS = 64
_HEAD = "from mindspore import ops\n\n\ndef program(x, y, n):\n    values = [x, y]\n"
_STEPS = (
    "values.append({a} {op} {b})",
    "values.append(ops.tanh({a}))",
    "values.append(ops.maximum({a}, {b} - {c}))",
    "values.append({a}.sum(-1, keepdims=True) * 0.1 + {b})",
    "values.append(ops.where({a} > {c}, {a}, {b}))",
    "values.append(ops.softmax({a}, -1))",
    "if {a}.sum() > {c}:\n    values[0] = {a} * 0.5\nelse:\n    values[1] = {b} - 0.25",
    "for i in range({k}):\n    values[-1] = values[-1] * 0.5 + {a} * (i + 1)",
    "i = n\nwhile i > 0:\n    values[0] = ops.sin(values[0]) + {b} * 0.1\n    i = i - 1",
    "for v in values[:2]:\n    values[-1] = values[-1] + v\n    if v.mean() > {c}:\n        break",
    "values[-1] = values[-1] + sum(v.mean() for v in values)",
    "last = values.pop()\nvalues.append(last if {a}.max() > {b}.min() else -last)",
)


def _source(rng: np.random.Generator) -> str:
    lines = [_HEAD]
    for _ in range(int(rng.integers(2, 9))):
        step = str(rng.choice(_STEPS)).format(
            a=_operand(rng), b=_operand(rng), c=round(float(rng.normal()), 2), op=rng.choice(["+", "-", "*"]),
            k=int(rng.integers(1, 4)),
        )  # fmt: skip
        lines.append("    " + step.replace("\n", "\n    ") + "\n")
    lines.append("    return values[-1]\n")
    return "".join(lines)


def _operand(rng: np.random.Generator) -> str:
    return str(rng.choice(["x", "y", "values[-1]", "values[0]", "values[1]"]))


def load(path: str) -> Any:
    """The function of a program's file."""
    spec = importlib.util.spec_from_file_location(f"program_{os.path.basename(path)[:-3]}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.program


def case(rng: np.random.Generator, scratch: str) -> int:
    """One program, its result and its gradient, on a few values, which take other branches."""
    source = _source(rng)
    path = os.path.join(scratch, f"p{rng.integers(1 << 60)}.py")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(source)
    program = load(path)
    shape = (int(rng.integers(1, 5)), int(rng.choice([1, 3, 8, 17])))
    value = lambda: Tensor(rng.standard_normal(shape).astype(np.float32))
    draws = [(value(), value(), Tensor(int(rng.integers(0, 4)))) for _ in range(DRAWS)]
    backends = some_backends(rng)
    compare(f"program\n{source}", program, *draws, backends=backends)
    compare(f"gradient of\n{source}", ms.grad(lambda x, y, n: program(x, y, n).sum(), (0, 1)), *draws, backends=backends, noise=0.01)
    return 2 * DRAWS
