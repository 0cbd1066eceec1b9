"""`declare_servable`: the model of a `servable_config.py` whose parts agents run."""

from __future__ import annotations

from typing import Any

from mindspore_serving.checks import check_bool, check_int, check_ints
from mindspore_serving.engine.declaration import ModelDeclaration, current
from mindspore_serving.server.register.model import Model


def declare_servable(
    rank_size: Any,
    stage_size: Any,
    with_batch_dim: Any = True,
    without_batch_dim_inputs: Any = None,
    enable_pipeline_infer: Any = False,
) -> Model:
    """Declare a model that `rank_size` agents run together (`startup_agents` starts them), in `stage_size` stages.

    Stages are part of the model files (`pipeline_stages` where they were exported). `enable_pipeline_infer` has no effect: a batch has
    passed all stages before the next one begins.
    """
    check_bool("with_batch_dim", with_batch_dim)
    check_bool("enable_pipeline_infer", enable_pipeline_infer)
    unbatched = check_ints("without_batch_dim_inputs", without_batch_dim_inputs, 0) if without_batch_dim_inputs else ()
    check_int("rank_size", rank_size, 1)
    check_int("stage_size", stage_size, 1)
    if rank_size % stage_size:
        raise RuntimeError(f"Parameter 'rank_size' {rank_size} should be a multiple of parameter 'stage_size' {stage_size}")
    servable = current()
    model = ModelDeclaration(servable.name, (), "mindir", with_batch_dim, unbatched, ranks=rank_size)
    servable.add_model(model)
    return Model(model.key, servable)


__all__ = ["declare_servable"]
