"""Plans and strategy files: what is saved of a plan, and what is known before planning.

`strategy_ckpt_save_file` gets the layouts of weights, which checkpoints are cut and joined by (`formats/strategy_file.py`);
`strategy_ckpt_load_file` gives weights the layouts of an earlier run. Files of operators say how each of them is cut.
"""

from __future__ import annotations

from mindspore.compiler.shard.layout import Layout, Mesh, tensor_map
from mindspore.compiler.shard.plan import Given, Options, Plan
from mindspore.compiler.shard.report import strategies
from mindspore.formats.strategy_file import (
    ParameterLayout,
    WrittenLayout,
    layouts_of,
    read_operators,
    read_strategy,
    write_strategy,
)
from mindspore.ir import Parameter
from mindspore.prims import world


def save(plan: Plan) -> None:
    """Write what the settings ask for."""
    files = plan.options.files
    if not files.save_parameters and not files.save_operators:
        return
    stage = world.transport().rank // plan.mesh.size if plan.options.stages > 1 else 0
    operators = strategies(plan)
    if files.save_parameters:
        weights = [p for p in plan.graph.parameters if _is_saved(p, files.only_trainable)]
        write_strategy(files.save_parameters, operators, {p.name: written(plan, p) for p in weights}, stage)
    if files.save_operators:
        write_strategy(files.save_operators, operators, {}, stage)


def _is_saved(parameter: Parameter, only_trainable: bool) -> bool:
    value = parameter.default
    if value is None or not hasattr(parameter.abstract, "shape"):
        return False
    return not only_trainable or bool(getattr(value, "requires_grad", True))


def written(plan: Plan, parameter: Parameter) -> WrittenLayout:
    """A weight's layout as files say it: that of its use, and how far optimizer parallelism cuts it further."""
    mesh, stored = plan.mesh, plan.storage_of(parameter)
    used: Layout = plan.layout_of(parameter)
    if stored == used:
        return WrittenLayout(*tensor_map(used, mesh))
    further = stored.dims[0][len(used.dims[0]) :]
    return WrittenLayout(*tensor_map(used, mesh), mesh.stride(further[-1]), mesh.parts(further))


def load(options: Options) -> Given:
    """What the files of the settings say."""
    files, mesh = options.files, Mesh.of(options.devices)
    layouts = layouts_of(read_strategy(files.load_parameters)) or {} if files.load_parameters else {}
    parameters = {name: _on_mesh(name, layout, mesh) for name, layout in layouts.items()}
    return Given(parameters, read_operators(files.load_operators) if files.load_operators else {})


def _on_mesh(name: str, layout: ParameterLayout, mesh: Mesh) -> Layout:
    """A layout of a file on the axes of the mesh."""
    if layout.device_count != mesh.size:
        raise ValueError(
            f"The strategy file lays '{name}' on {layout.device_count} devices, but there are {mesh.size}. "
            "Transform the checkpoint (transform_checkpoints), and plan anew without the file."
        )
    free, sides = mesh.axes, []
    for side in layout.devices:
        axes = mesh.take(free, side)
        if axes is None:
            raise ValueError(f"The strategy file lays '{name}' on a matrix {layout.devices}, which does not fit {mesh.size} devices.")
        sides.append(axes)
        free = tuple(a for a in free if a not in axes)
    return Layout(tuple(tuple(a for entry in axes for a in sides[entry]) for axes in layout.axes))
