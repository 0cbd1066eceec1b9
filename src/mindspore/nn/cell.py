"""Cell: the building block of networks.

A Cell owns parameters and child cells, and computes in `construct`. Calling it runs `construct` eagerly in PyNative
mode, compiles and runs it as one graph in graph mode, and is interpreted in place when a surrounding graph is built.
"""

from __future__ import annotations

import difflib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from mindspore import context, log
from mindspore._base import dtype as mstype
from mindspore._base import habits
from mindspore._base.recursion import deep_recursion
from mindspore.common import memory_report, recomputation
from mindspore.common.api import CompiledFunction
from mindspore.common.changes import note_change
from mindspore.common.executors import _cell_graph_executor
from mindspore.common.parameter import Parameter, ParameterTuple, require_own_names
from mindspore.common.tensor import Tensor
from mindspore.compiler import parse
from mindspore.nn import declared_inputs
from mindspore.nn.cell_hooks import HookMixin
from mindspore.nn.cell_state import Registry, StateMixin, _Buffer
from mindspore.nn.parts import Part
from mindspore.prims import checks, explain
from mindspore.prims import values as prim_values
from mindspore.prims.active import ACTIVE
from mindspore.prims.elementwise import Cast
from mindspore.prims.hooks import gradients_of_inputs, in_order
from mindspore.prims.strategy_form import check_inputs_form, check_parameter_plan
from mindspore.prims.structure import leaves, rebuilt
from mindspore.runtime import tape as tapes

__ms_treatment__ = "called"  # by the compiler: see compiler/parse/source.py

#: so many cells within each other are usual in eager mode; for more, Python's limit of calls under way is raised …
DEEP = 50
#: … to this, well within the stack of a thread
RECURSION_LIMIT = 10_000

#: what begins the scope of a cell that is computed again
_RECOMPUTED = "recompute_"
#: of networks cut over devices, where communication can be repeated or not
_RECOMPUTE_OPTIONS = ("mp_comm_recompute", "parallel_optimizer_comm_recompute", "recompute_slice_activation")


class Cell(HookMixin, StateMixin):
    """Base of all layers and networks.

    Subclasses create parameters and child cells in `__init__` and compute in `construct`. An optional method
    `bprop(self, *inputs, out, dout)` replaces the derived gradient.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import nn, ops
        >>> class Net(nn.Cell):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.scale = ms.Parameter(ms.Tensor(2.0), name="scale")
        ...     def construct(self, x):
        ...         return x * self.scale
        >>> Net()(ms.Tensor([1.0, 2.0])).asnumpy().tolist()
        [2.0, 4.0]
    """

    _jit_options: dict | None = None  # of `jit`, if that was applied to the cell or its class
    _recompute_options = recomputation.RecomputeOptions()
    _habits = habits.CELLS

    def __init__(self, auto_prefix: bool = True, flags: dict | None = None):
        put = self.__dict__.__setitem__
        put("_params", Registry())
        put("_cells", Registry())
        put("_buffers", OrderedDict())
        put("_non_persistent_buffers", set())
        put("_flags", dict(flags or {}))
        put("_auto_prefix", auto_prefix)
        put("_param_prefix", "")
        put("_compiled", None)
        put("_amp_dtype", None)
        put("_running", 0)
        put("training", False)
        put("requires_grad", False)
        put("_phase", "predict")
        put("_scope", None)
        put("_pipeline_stage", None)
        put("_pipeline_segment", 0)
        put("_jit_config_dict", {})
        put("_amp_level", "")
        put("_dynamic_inputs", None)
        put("cell_type", None)
        put("_attr_synced", False)
        self._init_hooks()
        for name, value in self._flags.items():
            put(name, value)

    # -- attributes -----------------------------------------------------------------------------------------------
    def __getattr__(self, name: str) -> Any:
        store = self.__dict__
        if "_params" not in store:
            raise AttributeError(
                f"call super().__init__() in {type(self).__name__}.__init__ before using its attributes"
            )
        for kind in ("_params", "_cells", "_buffers"):
            found = store[kind]
            if name in found:
                value = found[name]
                if kind == "_params" and store["_running"] and value is not None:
                    if store["_parameter_hooks"]:
                        value = self._parameter_as_read(name, value)
                    if store["_amp_dtype"] is not None:
                        return self._cast_parameter(value)
                return value
        raise AttributeError(f"The {habits.missing(self._habits, type(self), name)}", name=name, obj=self)

    def __setattr__(self, name: str, value: Any) -> None:
        note_change()
        store = self.__dict__
        if isinstance(value, Parameter):
            self._need_init("Parameter", name)
            self._refuse(name, "_cells", "Cell", "Parameter")
            self._forget(name, keep="_params")
            self.insert_param_to_cell(name, value)
        elif isinstance(value, ParameterTuple):
            self._need_init("ParameterTuple", name)
            store["_params"].update((item.name, item) for item in value)  # each is found under its own name
            object.__setattr__(self, name, value)
        elif isinstance(value, Cell):
            self._need_init("Cell", name)
            self._refuse(name, "_params", "Parameter", "Cell")
            self._refuse_hidden(name, "_cells")
            self._forget(name, keep="_cells")
            if store["_auto_prefix"]:
                value.update_parameters_name(name + ".")
            store["_cells"][name] = value
            value.__dict__["_cell_tag"] = name
        elif isinstance(value, _Buffer):
            self._need_init("_Buffer", name)
            self._forget(name, keep="_buffers")
            self.register_buffer(name, value, value.persistent)
        elif isinstance(value, (list, tuple)) and value and all(isinstance(item, Parameter) for item in value):
            others = [
                item for key, kept in store.items() if key != name and isinstance(kept, (list, tuple)) for item in kept
            ]
            require_own_names("The cell", [item for item in (*others, *value) if isinstance(item, Parameter)])
            object.__setattr__(self, name, value)
        elif "_params" in store and name in store["_params"]:
            self._assign_parameter(name, value)
        elif "_cells" in store and name in store["_cells"]:
            if value is not None:
                raise TypeError(
                    f"'{name}' of {type(self).__name__} is a Cell; assign a Cell or None, not {type(value).__name__}."
                )
            store["_cells"][name] = None
        elif "_buffers" in store and name in store["_buffers"]:
            store["_buffers"][name] = value
        else:
            object.__setattr__(self, name, value)

    def _assign_parameter(self, name: str, value: Any) -> None:
        """`self.weight = tensor` writes into the Parameter called `weight`."""
        parameter = self._params[name]
        if ACTIVE.builder is not None and parameter is not None and prim_values.is_number(value):
            value = Tensor(value, parameter.dtype)
        if isinstance(value, Tensor) and parameter is not None:
            from mindspore.prims.inplace import update

            if ACTIVE.builder is None:
                parameter.set_data(value)
            else:
                update(parameter, value if value.dtype is parameter.dtype else Cast()(value, parameter.dtype))
        elif value is None:
            self._params[name] = None
        else:
            raise TypeError(
                f"'{name}' of {type(self).__name__} is a Parameter; assign a Parameter, a Tensor or None, "
                f"not {type(value).__name__}."
            )

    def _need_init(self, kind: str, name: str) -> None:
        if "_params" not in self.__dict__:
            raise AttributeError(
                f"call super().__init__() in {type(self).__name__}.__init__ before assigning the {kind} '{name}'"
            )

    def _refuse(self, name: str, store: str, there: str, new: str) -> None:
        """A Parameter does not silently take a Cell's place, nor a Cell a Parameter's."""
        if name in self.__dict__[store]:
            raise KeyError(
                f"'{name}' of {type(self).__name__} is a {there}; delete it (del cell.{name}) before a {new} takes its name."
            )

    def _refuse_hidden(self, name: str, store: str) -> None:
        """What the class itself calls so would be found in place of the new member: it would be trained, and not used."""
        held = getattr(type(self), name, self)
        if isinstance(held, Part):
            held.replace(self)
        elif name not in self.__dict__[store] and held is not self:
            raise KeyError(f"'{name}' is an attribute of the class {type(self).__name__}; give the new member another name.")

    def _forget(self, name: str, keep: str) -> None:
        self.__dict__.pop(name, None)
        for kind in ("_params", "_cells", "_buffers"):
            if kind != keep:
                self.__dict__[kind].pop(name, None)

    def __delattr__(self, name: str) -> None:
        note_change()
        for kind in ("_params", "_cells", "_buffers"):
            if name in self.__dict__.get(kind, ()):
                del self.__dict__[kind][name]
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._params, *self._cells, *self._buffers})

    # -- calling --------------------------------------------------------------------------------------------------
    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """The computation; subclasses define it.

        Examples:
            >>> from mindspore import Tensor, nn
            >>> class Double(nn.Cell):
            ...     def construct(self, x):
            ...         return x * 2
            >>> Double()(Tensor([1.0])).tolist()
            [2.0]
        """
        own = [] if type(self) is Cell else [name for name in vars(type(self)) if callable(getattr(self, name))]
        alike = ["forward"] if "forward" in own else difflib.get_close_matches("construct", own, 1)
        hint = f" Its method '{alike[0]}' should have that name." if alike else ""
        raise AttributeError(f"For 'Cell', the method 'construct' of {type(self).__name__} is not defined.{hint}")

    def _check_construct(self) -> None:
        """A computation is defined by the class, or given to this cell alone (`cell.construct = function`)."""
        if type(self).construct is Cell.construct and "construct" not in self.__dict__:
            self.construct()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if ACTIVE.builder is not None:
            return parse.call_cell(self, args, kwargs)
        is_compiled = (self._jit_options is not None and not ACTIVE.eagerly) or context.graph_mode()
        if is_compiled and not self.__dict__.get("_run_eagerly"):
            return self.compile_and_run(*args, **kwargs)
        self._check_construct()
        if self._flags.get("recompute") and ACTIVE.tapes and not ACTIVE.recomputing:
            return recomputation.run(self, args, kwargs, self._recompute_options)
        if ACTIVE.depth == DEEP:
            return self._call_deep(args, kwargs)
        if ACTIVE.depth == 0 and ACTIVE.steps is not None:
            return ACTIVE.steps(self, args, kwargs)
        ACTIVE.depth += 1
        try:
            return self.run_around(self.construct, args, kwargs)
        except Exception as error:
            misfit = explain.misfit_call(self.construct, args, kwargs, error) if isinstance(error, TypeError) else None
            explain.point_to_user(misfit or error)
            if misfit is not None:
                raise misfit from None
            raise
        finally:
            ACTIVE.depth -= 1

    def _call_deep(self, args: tuple, kwargs: dict) -> Any:
        """A call within many others: Python's own limit allows for some 300 cells within each other only."""
        ACTIVE.depth += 1
        try:
            with deep_recursion(RECURSION_LIMIT):
                return self(*args, **kwargs)
        finally:
            ACTIVE.depth -= 1

    def run_around(self, construct: Callable, args: tuple, kwargs: dict) -> Any:
        """Everything a call does besides `construct`: hooks, casts of mixed precision, custom gradients.

        `construct` is the bound method in eager mode and its interpreted form while a graph is built.

        Examples:
            >>> net = nn.ReLU()
            >>> print(net.run_around(net.construct, (Tensor([-1.0, 2.0]),), {}))
            [0. 2.]
        """
        if self._forward_pre_hooks:
            args, kwargs = self._run_forward_pre_hooks(args, kwargs)
        if self._amp_dtype is not None:
            args = cast_floats(args, self._amp_dtype)
            kwargs = cast_floats(kwargs, self._amp_dtype)
        backward = self._backward_entry(args) if self._has_backward_hooks() else None
        if backward is not None:
            args = backward.watch_inputs(args)
        strategy = self.__dict__.get("amp_strategy")
        if strategy is not None:
            construct = strategy.around(construct)
        if ACTIVE.tapes and ACTIVE.builder is None and (packing := self.__dict__.get("_packing")) is not None:
            construct = packing(construct)
        self.__dict__["_running"] += 1
        try:
            if ACTIVE.builder is None and ACTIVE.tapes and hasattr(type(self), "bprop"):
                out = self._run_custom_gradient(construct, args, kwargs)
            else:
                out = construct(*args, **kwargs)
        finally:
            self.__dict__["_running"] -= 1
        if self._forward_hooks:
            out = self._run_forward_hooks(args, kwargs, out)
        if backward is not None:  # hooks of the backward pass see the gradient of what the caller gets
            out = backward.watch_output(out)
        return out

    def _run_custom_gradient(self, construct: Callable, args: tuple, kwargs: dict) -> Any:
        """Eager: run without recording, then note `bprop` as the gradient of the whole call."""
        args, kwargs = in_order(self.construct, args, kwargs)
        given = tuple(leaves(args))
        taken = rebuilt(args, iter(given))  # the rule is about what the lists held when the call began and ended
        call = tapes.Call(given)
        with tapes.paused():
            out = construct(*args, **kwargs)
        results = tuple(leaves(out))
        made = rebuilt(out, iter(results))

        def bprop(*values: Any) -> tuple:
            *flat, result, dout = values
            inputs = rebuilt(taken, iter(flat))
            with tapes.paused() if not ACTIVE.tapes else _nothing():
                grads = self.bprop(*inputs, rebuilt(made, iter(result)), rebuilt(made, iter(dout)))
            return gradients_of_inputs(type(self).__name__, inputs, grads if isinstance(grads, tuple) else (grads,))

        noted = call.finish(bprop, type(self).__name__, results)
        return out if all(a is b for a, b in zip(noted, results)) else rebuilt(made, iter(noted))

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile the graph for these arguments without running it.

        Examples:
            >>> net = nn.Dense(2, 3)
            >>> net.compile(ops.ones((1, 2))) is None
            True
        """
        self._compiled_function().compile(*args, **kwargs)

    def compile_and_run(self, *args: Any, **kwargs: Any) -> Any:
        """Compile on the first call with arguments of this kind, then run the graph.

        Examples:
            >>> nn.Dense(2, 3).compile_and_run(ops.ones((1, 2))).shape
            (1, 3)
        """
        if self._dynamic_inputs:
            declared_inputs.check(self._dynamic_inputs, self.construct, args, kwargs)
        if (
            context.cuts_graphs()
        ):  # libraries that look at layouts watch the executor, through which official calls compile
            _cell_graph_executor.compile(self, *args, **kwargs)
        return self._compiled_function()(*args, **kwargs)

    def _compiled_function(self) -> CompiledFunction:
        compiled = self._compiled
        if compiled is None:
            self._check_construct()
            compiled = self.__dict__["_compiled"] = CompiledFunction(self, type(self).__name__, self._jit_options)
        return compiled

    # -- parameters -----------------------------------------------------------------------------------------------
    def insert_param_to_cell(self, param_name: str, param: Parameter, check_name_contain_dot: bool = True) -> None:
        """Register a parameter under an attribute name.

        Examples:
            >>> net = nn.Cell()
            >>> net.insert_param_to_cell("scale", Parameter(Tensor([2.0]), name="scale"))
            >>> print(net.scale.asnumpy())
            [2.]
        """
        if not param_name:
            raise KeyError("For 'insert_param_to_cell', the argument 'param_name' must not be empty.")
        if check_name_contain_dot and "." in param_name:
            raise KeyError(f"For 'insert_param_to_cell', 'param_name' must not contain '.', but got {param_name!r}.")
        self._refuse_hidden(param_name, "_params")
        if param_name in self.__dict__ or param_name in self._cells:
            raise KeyError(f"For 'insert_param_to_cell', the cell already has an attribute '{param_name}'.")
        if not isinstance(param, Parameter) and param is not None:
            raise TypeError(f"For 'insert_param_to_cell', 'param' must be a Parameter, but got {type(param).__name__}.")
        if isinstance(param, Parameter) and param.param_info.unnamed:
            param.name = param_name
        self._params[param_name] = param

    def insert_child_to_cell(self, child_name: str, child_cell: Cell) -> None:
        """Add a child cell under a name. Its parameters keep their names.

        Examples:
            >>> net = nn.Cell()
            >>> net.insert_child_to_cell("layer", nn.Dense(2, 3))
            >>> net.layer.cls_name
            'Dense'
        """
        if not isinstance(child_name, str):
            raise TypeError(f"For 'insert_child_to_cell', 'child_name' must be a string, but got {child_name!r}.")
        if not child_name or "." in child_name:
            raise KeyError(
                f"For 'insert_child_to_cell', 'child_name' must be a name without '.', but got {child_name!r}."
            )
        self._refuse_hidden(child_name, "_cells")
        if child_name in self.__dict__ or child_name in self._params:
            raise KeyError(f"For 'insert_child_to_cell', the cell already has an attribute '{child_name}'.")
        if not isinstance(child_cell, Cell) and child_cell is not None:
            raise TypeError(
                f"For 'insert_child_to_cell', 'child_cell' must be a Cell, but got {type(child_cell).__name__}."
            )
        self._cells[child_name] = child_cell

    def update_parameters_name(self, prefix: str = "", recurse: bool = True) -> None:
        """Name every parameter after its place in the cell, with `prefix` in front. Called when a cell gets a parent, so that
        a parameter's name ends up as its attribute path; the name given to `Parameter` counts only in a cell without parent.

        Examples:
            >>> from mindspore import nn
            >>> net = nn.Dense(2, 3)
            >>> net.update_parameters_name('first.')
            >>> net.weight.name
            'first.weight'
        """
        if not isinstance(prefix, str):
            raise TypeError(f"For 'update_parameters_name', 'prefix' must be a string, but got {prefix!r}.")
        for path, param in self.parameters_and_names(expand=recurse):
            if prefix != "":
                param.is_init = False
            param.name = prefix + path

    def parameters_and_names(self, name_prefix: str = "", expand: bool = True) -> Iterator[tuple[str, Parameter]]:
        """Each parameter once, with its attribute path.

        Examples:
            >>> from mindspore import nn
            >>> [name for name, _ in nn.Dense(2, 3).parameters_and_names()]
            ['weight', 'bias']
        """
        seen: set[int] = set()
        cells = self.cells_and_names(name_prefix=name_prefix) if expand else [(name_prefix, self)]
        for path, cell in cells:
            for name, param in cell._params.items():
                if param is not None and id(param) not in seen:
                    seen.add(id(param))
                    yield (f"{path}.{name}" if path else name), param

    def get_parameters(self, expand: bool = True) -> Iterator[Parameter]:
        """All parameters of the cell and, with `expand`, its children.

        Examples:
            >>> from mindspore import nn
            >>> len(list(nn.Dense(2, 3).get_parameters()))
            2
        """
        for _, param in self.parameters_and_names(expand=expand):
            yield param

    def parameters_dict(self, recurse: bool = True) -> OrderedDict[str, Parameter]:
        """Parameters by name.

        Examples:
            >>> from mindspore import nn
            >>> list(nn.Dense(2, 3).parameters_dict())
            ['weight', 'bias']
        """
        return OrderedDict((p.name, p) for p in self.get_parameters(expand=recurse))

    def parameters_broadcast_dict(self, recurse: bool = True) -> OrderedDict[str, Parameter] | None:
        """The parameters that are equal on all devices, by name.

        Examples:
            >>> nn.ReLU().parameters_broadcast_dict() is None
            True
        """
        chosen = OrderedDict((p.name, p) for p in self.get_parameters(recurse) if not p.layerwise_parallel)
        return chosen or None

    def trainable_params(self, recurse: bool = True) -> list[Parameter]:
        """Parameters that require a gradient.

        Examples:
            >>> from mindspore import nn
            >>> [p.name for p in nn.Dense(2, 3).trainable_params()]
            ['weight', 'bias']
        """
        return [p for p in self.get_parameters(expand=recurse) if p.requires_grad]

    def untrainable_params(self, recurse: bool = True) -> list[Parameter]:
        """Parameters that do not require a gradient.

        Examples:
            >>> net = nn.BatchNorm2d(3)
            >>> [param.name for param in net.untrainable_params()]
            ['mean', 'variance']
        """
        return [p for p in self.get_parameters(expand=recurse) if not p.requires_grad]

    def check_names(self) -> None:
        """Raise if two different parameters share a name.

        Examples:
            >>> nn.Dense(2, 3).check_names() is None
            True
        """
        names: dict[str, int] = {}
        for path, param in self.parameters_and_names():
            if names.setdefault(param.name, id(param)) != id(param):
                raise ValueError(
                    f"The parameter name '{param.name}' (at '{path}') is used twice in {type(self).__name__}; "
                    "give one of them another name."
                )

    def init_parameters_data(self, auto_parallel_mode: bool = False) -> dict:
        """Every parameter and what replaces it, itself, with its initial values.

        Examples:
            >>> from mindspore import nn
            >>> sorted(p.name for p in nn.Dense(2, 3).init_parameters_data().values())
            ['bias', 'weight']
        """
        return {parameter: parameter.init_data() for parameter in self.get_parameters()}

    def apply(self, fn: Callable[[Cell], Any]) -> Cell:
        """Call `fn` on every child cell, then on this one.

        Examples:
            >>> names = []
            >>> _ = nn.SequentialCell(nn.Dense(2, 3), nn.ReLU()).apply(lambda cell: names.append(cell.cls_name))
            >>> names
            ['Dense', 'ReLU', 'SequentialCell']
        """
        for cell in self.cells():
            cell.apply(fn)
        fn(self)
        return self

    # -- children -------------------------------------------------------------------------------------------------
    def cells(self) -> Any:
        """The direct child cells.

        Examples:
            >>> [cell.cls_name for cell in nn.SequentialCell(nn.Dense(2, 3), nn.ReLU()).cells()]
            ['Dense', 'ReLU']
        """
        return self.name_cells().values()

    def name_cells(self) -> OrderedDict[str, Cell]:
        """The direct child cells by name, each once.

        Examples:
            >>> from mindspore import nn
            >>> list(nn.SequentialCell(nn.ReLU(), nn.Tanh()).name_cells())
            ['0', '1']
        """
        seen: set[int] = set()
        out: OrderedDict[str, Cell] = OrderedDict()
        for name, cell in self._cells.items():
            if cell is not None and id(cell) not in seen:
                seen.add(id(cell))
                out[name] = cell
        return out

    def cells_and_names(self, cells: Any = None, name_prefix: str = "") -> Iterator[tuple[str, Cell]]:
        """This cell and all below it, each once, with attribute paths.

        Examples:
            >>> from mindspore import nn
            >>> [name for name, cell in nn.SequentialCell(nn.ReLU(), nn.Tanh()).cells_and_names()]
            ['', '0', '1']
        """
        seen = cells if cells is not None else set()
        if self in seen:
            return
        seen.add(self)
        yield name_prefix, self
        for name, cell in self._cells.items():
            if cell is not None:
                yield from cell.cells_and_names(seen, f"{name_prefix}.{name}" if name_prefix else name)

    def get_sub_cell(self, target: str) -> Cell:
        """The cell at a dotted path.

        Examples:
            >>> net = nn.SequentialCell(nn.Dense(2, 3), nn.ReLU())
            >>> net.get_sub_cell("1").cls_name
            'ReLU'
        """
        cell: Any = self
        for part in target.split(".") if target else ():
            found = cell._cells.get(part) if isinstance(cell, Cell) else None
            if found is None:
                raise AttributeError(f"{type(cell).__name__} has no child cell '{part}' (looking for '{target}').")
            cell = found
        return cell

    # -- modes and flags --------------------------------------------------------------------------------------------
    def set_train(self, mode: bool = True) -> Cell:
        """Switch this cell and its children between training and evaluation.

        Examples:
            >>> from mindspore import nn
            >>> nn.Dropout(p=0.5).set_train().training
            True
        """
        note_change()
        for _, cell in self.cells_and_names():
            cell.__dict__["training"] = cell._flags["training"] = bool(mode)
            cell.__dict__["_phase"] = "train" if mode else "predict"
        return self

    def set_grad(self, requires_grad: bool = True) -> Cell:
        """Mark the cell as needing gradients.

        Examples:
            >>> from mindspore import nn
            >>> nn.ReLU().set_grad().requires_grad
            True
        """
        self.__dict__["requires_grad"] = requires_grad
        return self

    def to_float(self, dst_type: Any) -> Cell:
        """Compute this cell and its children in float16, float32 or bfloat16: inputs and parameters are cast on the way in.

        Examples:
            >>> import mindspore as ms
            >>> from mindspore import Tensor, nn
            >>> nn.Dense(2, 3).to_float(ms.float16)(Tensor([[1.0, 2.0]])).dtype
            mindspore.float16
        """
        if dst_type not in (mstype.float16, mstype.float32, mstype.bfloat16):
            raise ValueError(f"For 'to_float', 'dst_type' must be float16, float32 or bfloat16, but got {dst_type!r}.")
        for _, cell in self.cells_and_names():
            cell.__dict__["_amp_dtype"] = dst_type
            cell._flags.update(
                fp16=dst_type is mstype.float16, fp32=dst_type is mstype.float32, bf16=dst_type is mstype.bfloat16
            )
            cell._drop_compiled()
        return self

    def _cast_parameter(self, parameter: Parameter) -> Any:
        if parameter.dtype.kind != "f" or parameter.dtype is self._amp_dtype:
            return parameter
        return Cast()(parameter, self._amp_dtype)

    def cast_inputs(self, inputs: Any, dst_type: Any) -> Any:
        """The arguments with floating tensors converted.

        Examples:
            >>> net = nn.ReLU()
            >>> net.cast_inputs((Tensor([1.0]),), ms.float16)[0].dtype
            mindspore.float16
        """
        return cast_floats(inputs, dst_type)

    def add_flags(self, **flags: Any) -> Cell:
        """Set flags on this cell.

        Examples:
            >>> from mindspore import nn
            >>> nn.ReLU().add_flags(fp16=True).fp16
            True
        """
        self._flags.update(flags)
        for name, value in flags.items():
            self.__dict__[name] = value
        return self

    def add_flags_recursive(self, **flags: Any) -> Cell:
        """Set flags on this cell and its children.

        Examples:
            >>> from mindspore import nn
            >>> net = nn.SequentialCell(nn.ReLU()).add_flags_recursive(fp16=True)
            >>> net[0].fp16
            True
        """
        for _, cell in self.cells_and_names():
            cell.add_flags(**flags)
        return self

    def get_flags(self) -> dict:
        """The flags set by `add_flags`.

        Examples:
            >>> nn.ReLU().add_flags(fast=True).get_flags()["fast"]
            True
        """
        return self._flags

    def recompute(
        self,
        *,
        use_reentrant: bool = True,
        output_recompute: bool = False,
        early_stop: bool = True,
        context_fn: Callable[[], tuple] | None = None,
        **kwargs: Any,
    ) -> Cell:
        """Compute this cell again in the backward pass instead of keeping its intermediate results.

        Less memory for more computing: mark the blocks of a deep network, not the network as a whole. The options are those of
        `mindspore.recompute`; a cell within one that is marked already follows that one.

        Examples:
            >>> from mindspore import nn
            >>> net = nn.SequentialCell([nn.SequentialCell([nn.Dense(8, 8), nn.ReLU()]) for _ in range(4)])
            >>> for block in net:
            ...     _ = block.recompute()
        """
        for option in kwargs:
            if option not in _RECOMPUTE_OPTIONS:
                raise ValueError(f"For 'recompute', the options are {_RECOMPUTE_OPTIONS}, but got {option!r}.")
            checks.boolean("recompute", option, kwargs[option])
        options = recomputation.RecomputeOptions(use_reentrant, output_recompute, early_stop, context_fn).checked()
        for _, cell in self.cells_and_names():
            cell._flags["recompute"] = True
            cell.__dict__["_recompute_options"] = options
            cell.__dict__["_scope"] = _RECOMPUTED + (cell._scope or "").removeprefix(_RECOMPUTED)
        note_change()
        return self

    def _forget_recompute(self) -> None:
        """Undo `recompute`."""
        for _, cell in self.cells_and_names():
            cell._flags.pop("recompute", None)
            if cell._scope is not None:
                cell.__dict__["_scope"] = cell._scope.removeprefix(_RECOMPUTED) or None
        note_change()

    def memory_report(self) -> dict[str, float]:
        """Working memory of the graph compiled last for this cell.

        "peak_bytes": of the memory for intermediate results; "total_bytes": what these take without reuse; and their
        "ratio". A training step written as a function has the same method after `jit`.

        Examples:
            >>> net = nn.Dense(2, 1)
            >>> net.compile(ops.ones((1, 2)))
            >>> sorted(net.memory_report())
            ['peak_bytes', 'ratio', 'total_bytes']
        """
        compiled = self.__dict__["_compiled"]
        return memory_report.report(compiled.entries() if compiled is not None else [], type(self).__name__)

    def _get_attr_from_cell(self, network: Any) -> None:
        """Take over the compile settings and the mixed precision level of a wrapped network."""
        if isinstance(network, Cell):
            self.__dict__.update(_jit_config_dict=network._jit_config_dict, _amp_level=network._amp_level)

    def set_jit_config(self, jit_config: Any) -> Cell:
        """Compile with these settings.

        Examples:
            >>> net = nn.ReLU().set_jit_config(ms.JitConfig(jit_level="O1"))
            >>> print(net(Tensor([-1.0, 2.0])))
            [0. 2.]
        """
        self.__dict__["_jit_config_dict"] = dict(getattr(jit_config, "jit_config_dict", {}) or {})
        return self

    def set_boost(self, boost_type: str) -> Cell:
        """Choose a way of acceleration, such as "less_bn".

        Examples:
            >>> nn.ReLU().set_boost("less_bn").cls_name
            'ReLU'
        """
        known = ("less_bn", "grad_freeze", "adasum", "grad_accumulation", "dim_reduce")
        if boost_type not in known:
            raise ValueError(f"For 'set_boost', 'boost_type' must be one of {list(known)}, but got {boost_type!r}.")
        return self.add_flags_recursive(**{boost_type: True})

    def set_comm_fusion(self, fusion_type: int, recurse: bool = True) -> Cell:
        """Fuse the communication of all parameters with this number.

        Examples:
            >>> from mindspore import nn
            >>> net = nn.Dense(2, 3).set_comm_fusion(2)
            >>> net.weight.comm_fusion
            2
        """
        for param in self.trainable_params(recurse):
            param.comm_fusion = fusion_type
        return self

    def set_param_ps(self, recurse: bool = True, init_in_server: bool = False) -> None:
        """Mark the parameters for a parameter server, as scripts of older versions do. One process trains them itself, several only if they
        share gradients (data parallel); without that they are refused.

        Tables of embedding vectors are kept on servers by `mindspore.parallel.ServedTable`.

        Examples:
            >>> nn.Dense(2, 1).set_param_ps() is None
            True
        """
        for param in self.trainable_params(recurse):
            param.set_param_ps(init_in_server)

    def set_inputs(self, *inputs: Any, **kwargs: Any) -> None:
        """Declare inputs, perhaps with unknown dimensions (`Tensor(shape=[None, 3], dtype=…)`); compiled calls are held to it.

        Examples:
            >>> import mindspore as ms
            >>> from mindspore import Tensor, nn
            >>> net = nn.ReLU()
            >>> net.set_inputs(Tensor(shape=[None, 2], dtype=ms.float32))
            >>> net(Tensor([[-1.0, 2.0]])).tolist()
            [[0.0, 2.0]]
        """
        self.__dict__["_dynamic_inputs"] = declared_inputs.declared(
            self.construct, inputs, kwargs, context.graph_mode()
        )

    def get_inputs(self) -> Any:
        """The inputs set by `set_inputs`.

        Examples:
            >>> net = nn.ReLU()
            >>> net.set_inputs(Tensor([1.0]))
            >>> len(net.get_inputs())
            1
        """
        return self._dynamic_inputs

    def shard(
        self,
        in_strategy: Any,
        out_strategy: Any = None,
        parameter_plan: Any = None,
        device: str = "Ascend",
        level: int = 0,
    ) -> Cell:
        """Cut this cell's inputs, results and, by name, weights over devices in parallel runs.

        Examples:
            >>> net = nn.ReLU().shard(((1,),))
            >>> print(net(Tensor([-1.0, 2.0])))
            [0. 2.]
        """
        check_inputs_form(in_strategy, out_strategy)
        if parameter_plan is not None:
            weights = self.parameters_dict()
            check_parameter_plan(parameter_plan, {name: tuple(weight.shape) for name, weight in weights.items()})
            for name, cuts in parameter_plan.items():
                if name in weights:
                    weights[name].param_info.strategy = cuts
                else:
                    log.warning(f"'parameter_plan' has '{name}', which is no weight of {type(self).__name__}: it changes nothing.")
        self._flags["in_strategy"], self._flags["out_strategy"] = in_strategy, out_strategy
        return self

    def offload(self, backward_prefetch: str = "Auto") -> None:
        """Kept for other hardware: activations stay where they are.

        Examples:
            >>> nn.ReLU().offload() is None
            True
        """
        self._flags["offload"] = True

    def set_broadcast_flag(self, mode: bool = True) -> Cell:
        """Mark the parameters as equal on all devices.

        Examples:
            >>> nn.ReLU().set_broadcast_flag().cls_name
            'ReLU'
        """
        return self.add_flags_recursive(broadcast_flag=mode)

    def set_auto_parallel(self) -> None:
        """Mark the cell as one to be cut over devices.

        Examples:
            >>> nn.ReLU().set_auto_parallel() is None
            True
        """
        self.add_flags(auto_parallel=True)

    def set_data_parallel(self) -> None:
        """Mark the cell as one whose copies share a batch.

        Examples:
            >>> nn.ReLU().set_data_parallel() is None
            True
        """
        self.add_flags(data_parallel=True)

    def update_cell_type(self, cell_type: str) -> None:
        """Note the kind of cell, such as "quant".

        Examples:
            >>> net = nn.ReLU()
            >>> net.update_cell_type("quant")
            >>> net.cell_type
            'quant'
        """
        self.__dict__["cell_type"] = cell_type

    def update_cell_prefix(self) -> None:
        """Name every child after the path that leads to it.

        Examples:
            >>> nn.SequentialCell(nn.Dense(2, 3)).update_cell_prefix() is None
            True
        """
        for name, cell in self.cells_and_names():
            cell.__dict__["_param_prefix"] = name

    def _drop_compiled(self) -> None:
        note_change()
        self.__dict__["_compiled"] = None

    def compile_signature(self) -> tuple:
        """What a graph made of this cell depends on, besides attributes that `construct` reads.

        Examples:
            >>> net = nn.Dense(2, 3)
            >>> net.compile_signature() == net.compile_signature()
            True
        """
        own = self.__dict__
        return (
            own.get("construct"),
            own["training"],
            own["_amp_dtype"],
            own.get("amp_strategy"),
            own["_flags"].get("recompute"),
            *self._hook_keys(),
            *own["_cells"].values(),
        )

    # -- descriptions -----------------------------------------------------------------------------------------------
    @property
    def cls_name(self) -> str:
        """The name of the class.

        Examples:
            >>> from mindspore import nn
            >>> nn.ReLU().cls_name
            'ReLU'
        """
        return type(self).__name__

    @property
    def param_prefix(self) -> str:
        """What stands before the names of this cell's parameters.

        Examples:
            >>> net = nn.SequentialCell(nn.Dense(2, 3))
            >>> net[0].param_prefix
            ''
        """
        return self._param_prefix

    @property
    def phase(self) -> str:
        """What the cell is being compiled for, as text.

        Examples:
            >>> from mindspore import nn
            >>> nn.ReLU().phase
            'predict'
        """
        return self._phase

    @phase.setter
    def phase(self, value: str) -> None:
        if not isinstance(value, str):
            raise TypeError(f"'phase' must be a string, but got {value!r}.")
        self.__dict__["_phase"] = value

    @property
    def bprop_debug(self) -> bool:
        """Whether user-defined gradients are run outside of graphs; kept for old scripts.

        Examples:
            >>> nn.ReLU().bprop_debug
            False
        """
        return bool(self._flags.get("bprop_debug", False))

    @bprop_debug.setter
    def bprop_debug(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise TypeError(f"'bprop_debug' must be a bool, but got {value!r}.")
        self._flags["bprop_debug"] = value

    @property
    def pipeline_stage(self) -> int | None:
        """The stage of a pipeline this cell belongs to.

        Examples:
            >>> net = nn.ReLU()
            >>> net.pipeline_stage = 1
            >>> net.pipeline_stage
            1
        """
        return self._pipeline_stage

    @pipeline_stage.setter
    def pipeline_stage(self, value: int) -> None:
        self._place_in_pipeline("pipeline_stage", value)

    @property
    def pipeline_segment(self) -> int:
        """The segment of an interleaved pipeline this cell belongs to: a batch goes through all stages once for each segment.

        Examples:
            >>> net = nn.ReLU()
            >>> net.pipeline_stage, net.pipeline_segment = 0, 1
            >>> net.pipeline_segment
            1
        """
        return self._pipeline_segment

    @pipeline_segment.setter
    def pipeline_segment(self, value: int) -> None:
        self._place_in_pipeline("pipeline_segment", value)

    def _place_in_pipeline(self, name: str, value: int) -> None:
        """Set the stage or segment of this cell and of all within it."""
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"'{name}' must be an int, but got {value!r}.")
        if value < 0:
            raise ValueError(f"For 'Cell', the property '{name}' can not be less than 0, but got {value}.")
        for _, cell in self.cells_and_names():
            cell.__dict__[f"_{name}"] = value

    @property
    def jit_config_dict(self) -> dict:
        """The settings of `set_jit_config` by name.

        Examples:
            >>> net = nn.ReLU().set_jit_config(ms.JitConfig(jit_level="O1"))
            >>> net.jit_config_dict["jit_level"]
            'O1'
        """
        return self._jit_config_dict

    @property
    def parameter_layout_dict(self) -> dict:
        """How parameters are cut over devices, by name: device matrix, tensor map, shape of a part, and more.

        Known when the cell has been compiled in a mode that cuts it.

        Examples:
            >>> nn.ReLU().parameter_layout_dict
            {}
        """
        plan = self._sharded()
        return plan.parameter_layouts() if plan is not None else self.__dict__.setdefault("_parameter_layout_dict", {})

    @parameter_layout_dict.setter
    def parameter_layout_dict(self, value: dict) -> None:
        if not isinstance(value, dict):
            raise TypeError(f"'parameter_layout_dict' must be dict type, but got {type(value).__name__}.")
        self.__dict__["_parameter_layout_dict"] = value

    def _sharded(self) -> Any:
        """The executable compiled last, if it is cut over devices."""
        entries = self._compiled.entries() if self._compiled is not None else []
        executable = entries[-1].executable if entries else None
        return executable if hasattr(executable, "parameter_layouts") else None

    def explain_parallel(self) -> Any:
        """How the graph compiled last is cut over devices: a report with a row for each operator; print it.

        Examples:
            >>> import mindspore as ms
            >>> from mindspore import Tensor, nn
            >>> ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", device_num=2)
            >>> net = nn.ReLU()
            >>> net.compile(ms.ops.ones((4, 2)))
            >>> net.explain_parallel().rows[0].strategy
            [[2, 1]]
            >>> ms.reset_auto_parallel_context()
        """
        executable = self._sharded()
        if executable is None:
            raise RuntimeError(
                f"'{type(self).__name__}' is not cut over devices: set parallel_mode 'semi_auto_parallel' or 'auto_parallel' and "
                "device_num by 'set_auto_parallel_context', then compile or call it."
            )
        return executable.report()

    def generate_scope(self) -> None:
        """Give every child the path that leads to it as its scope: names and classes, as in "Default/conv-Conv2d".

        Examples:
            >>> net = nn.SequentialCell(nn.Dense(2, 3))
            >>> net.generate_scope()
            >>> net[0].get_scope()
            'Default/0-Dense'
        """
        self._scope_children("Default")

    def _scope_children(self, path: str) -> None:
        for name, cell in self._cells.items():
            if cell is not None:
                scope = f"{path}/{name}-{type(cell).__name__}"
                cell.__dict__["_scope"] = _RECOMPUTED + scope if cell._flags.get("recompute") else scope
                cell._scope_children(scope)

    def get_scope(self) -> str | None:
        """The path of names that leads to this cell.

        Examples:
            >>> nn.ReLU().get_scope() is None
            True
        """
        return self._scope

    def extend_repr(self) -> str:
        """Extra text for `repr`; subclasses override it.

        Examples:
            >>> from mindspore import nn
            >>> class Named(nn.Cell):
            ...     def extend_repr(self):
            ...         return 'size=3'
            >>> print(Named())
            Named(size=3)
        """
        return ""

    def __repr__(self) -> str:
        extra = self.extend_repr()
        children = [
            f"  ({name}): " + repr(cell).replace("\n", "\n  ") for name, cell in self._cells.items() if cell is not None
        ]
        if not children:
            return f"{type(self).__name__}({extra})" if extra else f"{type(self).__name__}()"
        head = f"{type(self).__name__}({extra}" if extra else f"{type(self).__name__}("
        return "\n".join([head, *children, ")"])

    def __hash__(self) -> int:
        return id(self)

    def __getstate__(self) -> dict:
        return {**self.__dict__, "_compiled": None}

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)


class _nothing:
    def __enter__(self) -> None: ...
    def __exit__(self, *exc: Any) -> None: ...


def cast_floats(value: Any, dtype: Any) -> Any:
    """Cast every floating-point tensor in a structure."""
    if isinstance(value, Tensor):
        return Cast()(value, dtype) if value.dtype.kind == "f" and value.dtype is not dtype else value
    if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        return type(value)(cast_floats(v, dtype) for v in value)
    if isinstance(value, dict):
        return {k: cast_floats(v, dtype) for k, v in value.items()}
    return value
