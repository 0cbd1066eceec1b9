"""`cropper --packageFile=lib.a --configFile=mapping.cfg --modelFile=net.ms --outputFile=small.a`: a static library with the kernels that
models need.

A line of the mapping is `operation,type,object`: the object file is kept if a model has the operation with numbers of that type
(kNumberTypeFloat32, kNumberTypeFloat16 and kNumberTypeInt32 for layers in floats, kNumberTypeInt8 for quantised ones, `prototype` for
both), `common` ones always. Operations are those that `benchmark --timeProfiling=true` and `model_viewer` name; names of the
official converter (`Conv2DFusion`, `Activation`) are understood for the common ones.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from mindspore._base.files import write_parts
from mindspore_lite import model_file
from mindspore_lite.tools import archive, options

_FLOATS = ("kNumberTypeFloat32", "kNumberTypeFloat16", "kNumberTypeInt32")
_TYPES = (*_FLOATS, "kNumberTypeInt8", "prototype", "common")
#: names of the official converter -> operations of graphs here
_OFFICIAL = {
    "Conv2DFusion": ("Conv2D", "Conv2DQuantised"), "Conv2dTransposeFusion": ("Conv2DTranspose", "Conv2DBackpropInput"),
    "MatMulFusion": ("MatMul", "BatchMatMul", "PackedProduct"), "FullConnection": ("MatMul", "PackedProduct"),
    "Activation": ("ReLU", "ReLU6", "Sigmoid", "Tanh", "HSwish", "HSigmoid", "GeLU", "Elu", "Softplus"),
    "AvgPoolFusion": ("AvgPool", "AvgPoolNd"), "MaxPoolFusion": ("MaxPool", "MaxPoolNd"), "AddFusion": ("Add",), "SubFusion": ("Sub",),
    "MulFusion": ("Mul",), "DivFusion": ("RealDiv", "Div"), "LayerNormFusion": ("LayerNorm",), "PadFusion": ("Pad",), "ReduceFusion":
    ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin"), "ScaleFusion": ("Mul", "Add"), "PowFusion": ("Pow",), "ExpFusion": ("Exp",),
}  # fmt: skip


class Needs(NamedTuple):
    """Operations of models: of all kinds, with floats, and in whole numbers."""

    every: set[str]
    floats: set[str]
    whole: set[str]


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when the smaller library was written."""
    parser = options.parser("cropper", "Leaves out of a static library what models do not need.")
    parser.add_argument("--packageFile", required=True)
    parser.add_argument("--configFile", required=True)
    options.add(parser, "modelFile", [], "models, separated by commas", options.split_names)
    options.add(parser, "modelFolderPath", "", "a folder of models")
    options.add(parser, "outputFile", "", "the new library; the old one is replaced if none is named")
    given = parser.parse_args(arguments)
    try:
        target = crop(given.packageFile, given.configFile, given.modelFile, given.modelFolderPath, given.outputFile)
    except (ValueError, OSError) as error:
        print(f"CROPPER RESULT FAILED:1 {error}", file=sys.stderr)
        return 1
    print(f"Save package file {target} success.\nCROPPER RESULT SUCCESS:0")
    return 0


def crop(package: str, config: str, models: Sequence[str], folder: str, target: str) -> str:
    """Write the smaller library; ValueError says what is wrong with which file."""
    paths = [*models, *(str(path) for path in sorted(Path(folder).rglob("*.ms")) if folder)]
    if not paths:
        raise ValueError("no model is given: name files with modelFile, or a folder of .ms files with modelFolderPath")
    needs = _needs(paths)
    wanted = _wanted(config, needs)
    try:
        found = archive.read(Path(package).read_bytes())
    except archive.BadArchiveError as error:
        raise ValueError(f"{package} is no static library: {error}") from None
    kept = {number for number, member in enumerate(found.members) if member.name in wanted}
    if not kept:
        raise ValueError(f"{config} keeps none of the {len(found.members)} objects of {package}: is it the library's own mapping?")
    target = target or package
    write_parts(target, [archive.write(found, kept)])
    return os.path.realpath(target)


def _needs(paths: Sequence[str]) -> Needs:
    needs = Needs(set(), set(), set())
    for path in paths:
        if not path.endswith(".ms"):
            raise ValueError(f"{path} is no .ms model")
        program = model_file.read(path).program
        if program is None:
            raise ValueError(f"{path} leaves sizes open, so its operations are not known; convert it with inputShape")
        for node in (node for graph in program.graph.all_graphs() for node in graph.nodes()):
            kinds = {getattr(getattr(a.abstract, "dtype", None), "name", "") for a in node.args}
            needs.every.add(node.op.name)
            (needs.whole if kinds & {"int8", "uint8"} else needs.floats).add(node.op.name)
    return needs


def _wanted(config: str, needs: Needs) -> set[str]:
    """Object files that a mapping keeps."""
    found: set[str] = set()
    with open(config, encoding="utf-8") as stream:
        for number, line in enumerate(stream, 1):
            fields = [word.strip() for word in line.split(",")]
            if fields == [""]:
                continue
            if len(fields) != 3 or fields[1] not in _TYPES:
                raise ValueError(f"{config}, line {number}: it must be operation,type,object with a type of {', '.join(_TYPES)}")
            operation, kind, file = fields
            names = {operation, *_OFFICIAL.get(operation, ())}
            pool = needs.floats if kind in _FLOATS else needs.whole if kind == "kNumberTypeInt8" else needs.every
            if kind == "common" or names & pool:
                found.add(file)
    return found


if __name__ == "__main__":
    sys.exit(main())
