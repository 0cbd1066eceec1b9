"""`model_viewer --modelFile=net.ms --outputFile=net.html`: a page with the operators of a model as they run, each with what it reads,
its shape, its time, and the memory in use. The page is one file and loads nothing."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from importlib import resources

from mindspore._base.files import atomic_write
from mindspore_lite.context import Context
from mindspore_lite.model import Model, ModelType
from mindspore_lite.profile import profile
from mindspore_lite.tools import options
from mindspore_lite.tools.inputs import fill


def main(arguments: Sequence[str] | None = None) -> int:
    parser = options.parser("model_viewer", "Write a page that shows a model's operators with sizes, times and memory.")
    options.add(parser, "modelFile", None, "the .ms or .mindir file", required=True)
    options.add(parser, "outputFile", None, "the .html file to write", required=True)
    options.add(parser, "inputShapes", [], "shapes of the inputs, e.g. 1,3,224,224:1,8", options.split_shapes)
    options.add(parser, "numThreads", 1, "threads", int)
    options.add(parser, "loopCount", 5, "runs; the least time of each operator counts", int)
    given = parser.parse_args(arguments)
    try:
        page = render(given.modelFile, given.inputShapes, given.numThreads, given.loopCount)
    except (RuntimeError, ValueError, OSError) as error:
        print(f"MODEL VIEWER FAILED: {error}", file=sys.stderr)
        return 1
    with atomic_write(given.outputFile) as stream:
        stream.write(page.encode("utf-8"))
    print(f"{given.outputFile} shows {os.path.basename(given.modelFile)}")
    return 0


def render(path: str, shapes: Sequence[Sequence[int]] = (), threads: int = 1, runs: int = 5) -> str:
    """The page of a model."""
    model, context = Model(), Context()
    context.cpu.thread_num = threads
    model.build_from_file(path, ModelType.MINDIR if path.endswith(".mindir") else ModelType.MINDIR_LITE, context)
    if shapes:
        model.resize(model.get_inputs(), [list(shape) for shape in shapes])
    inputs = model.get_inputs()
    fill(inputs, [])
    program = model.program()
    arrays = {tensor.name: tensor.get_data_to_numpy() for tensor in inputs}
    rows = profile(program, [arrays[spec.name] for spec in program.inputs], threads, runs)
    content = {
        "name": os.path.basename(path), "threads": threads, "bytes": os.path.getsize(path),
        "inputs": [[spec.name, str(spec.dtype), list(spec.shape)] for spec in program.inputs],
        "outputs": [[spec.name, str(spec.dtype), list(spec.shape)] for spec in program.outputs],
        "weights": int(sum(array.nbytes for array in program.weights.values())),
        "rows": [[r.name, r.kind, list(r.shape), r.seconds, r.nbytes, list(r.reads), r.weights, r.alive] for r in rows],
    }  # fmt: skip
    template = resources.files("mindspore_lite.tools").joinpath("model_viewer.html").read_text("utf-8")
    return template.replace("/*DATA*/null", json.dumps(content).replace("</", "<\\/"))


if __name__ == "__main__":
    sys.exit(main())
