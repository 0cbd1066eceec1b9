"""`declare_model` and the settings of a model."""

from __future__ import annotations

from typing import Any

from mindspore_serving import log
from mindspore_serving.checks import check_bool, check_int, check_ints, check_str, check_strs
from mindspore_serving.engine.declaration import ModelDeclaration, Servable, current
from mindspore_serving.server.register.context import AclOptions, Context, GpuOptions

_FORMATS = ("om", "mindir", "mindir_opt", "mindir_lite", "onnx")


class Model:
    """A declared model: an argument of `add_stage`, or called by Python stages. Returned by `declare_model`."""

    def __init__(self, model_key: str, servable: Servable | None = None) -> None:
        self.model_key = model_key
        self.servable = servable

    def call(self, *args: Any, subgraph: int = 0) -> Any:
        """Run the model on one instance, `call(x1, x2)`, or on several, `call([[x1, x2], [x1, x2]])`.

        Returns the output, or the tuple of outputs, of the one instance; of several a tuple of such tuples.
        """
        check_int("subgraph", subgraph, 0)
        name = f"Model({self.model_key}{f', subgraph={subgraph}' if subgraph else ''}).call() failed"
        forms = "the inputs can be call(x1, x2) for single instance or call([[x1, x2], [x1, x2]]) for multi instances."
        if not args:
            raise RuntimeError(f"{name}: no inputs provided, {forms}")
        several = len(args) == 1 and isinstance(args[0], (tuple, list))
        instances = list(args[0]) if several else [args]
        if not all(isinstance(instance, (tuple, list)) for instance in instances):
            raise RuntimeError(f"{name}: inputs format invalid, {forms}")
        if self.servable is None or self.servable.call_model is None:
            raise RuntimeError(
                f"{name}: the model is not declared, ensure that interface 'declare_model' can take effect when importing "
                "servable_config.py by the serving server"
            )
        try:
            outputs = self.servable.call_model(self.model_key, [tuple(instance) for instance in instances], subgraph)
        except RuntimeError as error:
            raise RuntimeError(f"{name}: {error}") from error
        if several:
            return tuple(outputs)
        return outputs[0] if len(outputs[0]) > 1 else outputs[0][0]


def declare_model(
    model_file: Any,
    model_format: Any,
    with_batch_dim: Any = True,
    options: Any = None,
    without_batch_dim_inputs: Any = None,
    context: Any = None,
    config_file: Any = None,
) -> Model:
    """Declare a model of this servable: a file, or several that are its subgraphs, in each version's folder."""
    check_bool("with_batch_dim", with_batch_dim)
    files = check_strs("model_file", model_file)
    unbatched = check_ints("without_batch_dim_inputs", without_batch_dim_inputs, 0) if without_batch_dim_inputs else ()
    check_str("model_format", model_format)
    if model_format.lower() not in _FORMATS:
        raise RuntimeError("model format can only be OM, MindIR or MindIR_Lite, case ignored")
    chosen = _context(options, context)
    if config_file is not None:
        check_str("config_file", config_file)
    servable = current()
    model = ModelDeclaration(
        ";".join(files), files, model_format.lower(), with_batch_dim, unbatched, chosen.thread_num if chosen else None
    )
    servable.add_model(model)
    log.info(f"Declare model, model_file: {files}, model_format: {model_format}, with_batch_dim: {with_batch_dim}")
    return Model(model.key, servable)


def _context(options: Any, context: Any) -> Context | None:
    if context is not None:
        if not isinstance(context, Context):
            raise RuntimeError(f"Parameter 'context' should be Context, but gotten {type(context)}")
        return context
    if isinstance(options, (GpuOptions, AclOptions)):
        return options.context
    if options is not None:
        raise RuntimeError(f"Parameter 'options' should be None, GpuOptions or AclOptions, but gotten {type(options)}")
    return None


def declare_servable(
    servable_file: Any, model_format: Any, with_batch_dim: Any = True, options: Any = None, without_batch_dim_inputs: Any = None
) -> Model:
    """The name of `declare_model` before 1.5."""
    log.warning("'register.declare_servable' is deprecated from version 1.5.0, use 'register.declare_model' instead.")
    return declare_model(servable_file, model_format, with_batch_dim, options, without_batch_dim_inputs)
