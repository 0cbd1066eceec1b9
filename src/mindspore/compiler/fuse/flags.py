"""Graph kernel flags: `--key=value` words from MS_DEV_GRAPH_KERNEL_FLAGS, MS_GRAPH_KERNEL_FLAGS or the context."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields

from mindspore._base import flags as environment

DEFAULT_LEVEL = 3


@dataclass(frozen=True)
class GraphKernelFlags:
    """opt_level: 0 every primitive its own kernel, 1 elementwise chains, 2 also reductions, 3 also recomputation; winograd: whether 3×3
    convolutions may be computed that way on the CPU."""

    opt_level: int = DEFAULT_LEVEL
    winograd: bool = True
    dump_as_text: bool = False
    composite_op_limit_size: int = 200
    disable_expand_ops: tuple[str, ...] = ()
    disable_cluster_ops: tuple[str, ...] = ()
    enable_cluster_ops_only: tuple[str, ...] = ()


def parse(text: str) -> GraphKernelFlags:
    """Read flags; words that are not ours are ignored, as users share settings between devices."""
    known = {f.name: f for f in fields(GraphKernelFlags)}
    found: dict[str, object] = {}
    for word in shlex.split(text):
        name, separator, value = word.lstrip("-").partition("=")
        if name not in known:
            continue
        default = known[name].default
        if isinstance(default, bool):
            found[name] = not separator or value.lower() not in ("0", "false", "off")
        elif isinstance(default, int):
            if not value.isdigit():
                raise ValueError(f"the graph kernel flag --{name} needs a number, but got {value!r}")
            found[name] = int(value)
        else:
            found[name] = tuple(v for v in value.split(",") if v)
    flags = GraphKernelFlags(**found)  # type: ignore[arg-type]
    if not 0 <= flags.opt_level <= 3:
        raise ValueError(f"the graph kernel flag --opt_level must be 0, 1, 2 or 3, but got {flags.opt_level}")
    return flags


def current(extra: str = "") -> GraphKernelFlags:
    """The flags in force: the environment's, then those given by `set_context(graph_kernel_flags=…)`."""
    words = (environment.text("MS_GRAPH_KERNEL_FLAGS"), environment.text("MS_DEV_GRAPH_KERNEL_FLAGS"), extra)
    return parse(" ".join(w for w in words if w))
