"""Training in a `.ms` file: the section "training", and a section of rows for each graph."""

from __future__ import annotations

from typing import Any, NamedTuple

from mindspore.ir import FuncGraph
from mindspore_lite.arrays import ArrayReader, ArrayWriter
from mindspore_lite.container import BadModelError, Container, as_json
from mindspore_lite.graph_records import read_graph, write_graph
from mindspore_lite.training.gradients import TrainGraphs
from mindspore_lite.training.options import TrainOptions
from mindspore_lite.training.plan import TrainPlan

_GRAPHS = ("step", "gather", "apply")


class Training(NamedTuple):
    """What a file says about training."""

    graphs: TrainGraphs
    options: TrainOptions
    loss: int
    pieces: int


def sections(made: TrainPlan, loss: int, options: TrainOptions, arrays: ArrayWriter) -> dict[str, bytes]:
    """What is written beside the model; arrays of the graphs go to `arrays`."""
    graphs = made.graphs
    meta = {
        "options": options._asdict(), "trained": graphs.trained, "changed": graphs.changed, "outputs": graphs.outputs,
        "loss": loss, "pieces": made.pieces,
    }  # fmt: skip
    found = {name: as_json(write_graph(getattr(graphs, name), arrays)) for name in _GRAPHS}
    return {"training": as_json(meta), **found}


def read(container: Container, arrays: ArrayReader) -> Training:
    """BadModelError when a file has nothing about training, or when that is damaged."""
    if "training" not in container:
        raise BadModelError("it was not converted for training (--trainModel=true)")
    meta = container.json("training")
    try:
        made: dict[str, FuncGraph] = {name: read_graph(container.json(name), arrays) for name in _GRAPHS}
        graphs = TrainGraphs(
            **made,
            trained=tuple(str(n) for n in meta["trained"]),
            changed=tuple(str(n) for n in meta["changed"]),
            outputs=int(meta["outputs"]),
        )
        return Training(graphs, _options(meta["options"]), int(meta["loss"]), int(meta["pieces"]))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, BadModelError):
            raise
        raise BadModelError(f"its description of training is damaged ({error})") from None


def _options(given: dict[str, Any]) -> TrainOptions:
    kinds = {name: type(value) for name, value in TrainOptions()._asdict().items()}
    return TrainOptions(**{name: kinds[name](value) for name, value in given.items()})
