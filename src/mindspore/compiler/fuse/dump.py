"""Fused kernels as text, for `--dump_as_text` and for reading in tests."""

from __future__ import annotations

import os
from pathlib import Path

from mindspore._base.files import atomic_write
from mindspore.compiler.fuse.cluster import Cluster, Clustering
from mindspore.compiler.fuse.loopir import Value


def _operand(value: Value) -> str:
    if value.op == "const":
        return repr(value.attr)
    if value.is_view:
        return f"{value.op}{list(value.shape)}({_operand(value.args[0])})"
    if value.op == "input":
        kind, which = value.attr
        return f"%para{which}" if kind == "parameter" else f"const{list(value.shape)}"
    return f"%{value.id}"


def describe(clustering: Clustering, order: list[Cluster]) -> str:
    """One paragraph per kernel: its members in order, the primitive each comes from, and what leaves the kernel."""
    lines: list[str] = []
    for number, cluster in enumerate(order):
        first = cluster.members[0]
        if cluster.opaque:
            operands = ", ".join(_operand(a) for a in first.args)
            lines.append(f"op {number}: %{first.id} = {first.attr.prim.name}({operands})")
            continue
        outputs = {o.id for o in clustering.outputs(cluster)}
        lines.append(f"kernel {number}: {len(cluster.members)} operations, {len(outputs)} results")
        for member in (*cluster.copies, *cluster.members):
            name = member.attr if member.op == "map" else f"{member.op}{member.attr if member.op != 'const' else ''}"
            source = member.origin.op.name if member.origin is not None else ""
            mark = " -> out" if member.id in outputs else ""
            operands = ", ".join(_operand(a) for a in member.args)
            lines.append(f"  %{member.id} = {name}({operands}) : {member.dtype}{list(member.shape)}  # {source}{mark}")
    return "\n".join(lines) + "\n"


def write(name: str, text: str) -> Path:
    """Store a dump under graph_kernel_dump/ in the working folder."""
    folder = Path("graph_kernel_dump")
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}_{os.getpid()}.txt"
    with atomic_write(path, "w") as file:
        file.write(text)
    return path
