"""The way methods were written before 1.5: call_preprocess, call_servable, call_postprocess, each once and in this order.

How many outputs a call has is read from the statement it stands in (`x1, x2 = call_preprocess(…)`), so that only plain
assignments are possible in such methods.
"""

from __future__ import annotations

from typing import Any

from mindspore_serving import log
from mindspore_serving.engine.declaration import current
from mindspore_serving.server.register.call_sources import calls_of_method, too_complex
from mindspore_serving.server.register.method import add_stage, method_being_defined
from mindspore_serving.server.register.model import Model

#: call -> calls that must come after it
_LATER = {
    "preprocess": ("call_servable", "call_postprocess or call_postprocess_pipeline"),
    "servable": ("call_postprocess or call_postprocess_pipeline",),
    "postprocess": (),
}
_KIND = {"call_servable": "servable", "call_postprocess or call_postprocess_pipeline": "postprocess"}
_TITLE = {
    "preprocess": "call_preprocess or call_preprocess_pipeline",
    "servable": "call_servable",
    "postprocess": "call_postprocess or call_postprocess_pipeline",
}


def _note(name: str, kind: str) -> int:
    """Check the order of calls; returns the number of outputs."""
    method = method_being_defined(name)
    calls = calls_of_method()
    failed = f"Check failed in method '{method.name}', "
    if calls is None or name not in calls.outputs:
        raise too_complex(method.name, name)
    if kind in calls.made:
        raise RuntimeError(f"{failed}{_TITLE[kind]} should not be invoked more than once")
    for later in _LATER[kind]:
        if _KIND[later] in calls.made:
            raise RuntimeError(f"{failed}{later} should be invoked after {name}")
    calls.made.add(kind)
    return calls.outputs[name]


def _deprecated(name: str) -> None:
    log.warning(f"'register.{name}' is deprecated from version 1.5.0, use 'register.add_stage' instead.")


def call_preprocess(preprocess_fun: Any, *args: Any) -> Any:
    """A Python stage before the model, one instance at a time."""
    _deprecated("call_preprocess")
    return add_stage(preprocess_fun, *args, outputs_count=_note("call_preprocess", "preprocess"), tag="Preprocess")


def call_preprocess_pipeline(preprocess_fun: Any, *args: Any) -> Any:
    """A Python stage before the model, several instances at a time."""
    _deprecated("call_preprocess_pipeline")
    outputs = _note("call_preprocess_pipeline", "preprocess")
    return add_stage(preprocess_fun, *args, outputs_count=outputs, batch_size=0, tag="Preprocess")


def call_postprocess(postprocess_fun: Any, *args: Any) -> Any:
    """A Python stage after the model, one instance at a time."""
    _deprecated("call_postprocess")
    return add_stage(postprocess_fun, *args, outputs_count=_note("call_postprocess", "postprocess"), tag="Postprocess")


def call_postprocess_pipeline(postprocess_fun: Any, *args: Any) -> Any:
    """A Python stage after the model, several instances at a time."""
    _deprecated("call_postprocess_pipeline")
    outputs = _note("call_postprocess_pipeline", "postprocess")
    return add_stage(postprocess_fun, *args, outputs_count=outputs, batch_size=0, tag="Postprocess")


def call_servable(*args: Any) -> Any:
    """The only declared model as a stage."""
    _deprecated("call_servable")
    outputs = _note("call_servable", "servable")
    models = list(current().models.values())
    if not models:
        raise RuntimeError("There is no model declared, you can use declare_model to declare models.")
    if len(models) > 1:
        raise RuntimeError(
            "There are more than one servable declared when the interface 'call_servable' is used, use 'add_stage' to replace "
            "'call_servable'"
        )
    return add_stage(Model(models[0].key, current()), *args, outputs_count=outputs)
