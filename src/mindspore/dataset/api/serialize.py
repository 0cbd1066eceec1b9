"""Pipelines as JSON: `serialize`, `deserialize`, `show`, `compare`; and `explain`, which shows what the optimiser does.

The keys are those of official MindSpore, so that files can be exchanged. Python functions are named but cannot be read
back.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable
from typing import Any

from mindspore.dataset import samplers
from mindspore.dataset._check import check_type, worker_limit
from mindspore.dataset.api.cache import DatasetCache
from mindspore.dataset.api.dataset import Dataset
from mindspore.dataset.api.operations import ConcatDataset
from mindspore.dataset.ir.node import number, tree_text
from mindspore.dataset.opt import applied
from mindspore.dataset.runtime.build import build
from mindspore.dataset.runtime.chain import plan
from mindspore.dataset.runtime.context import RunContext
from mindspore.dataset.samplers import Shuffle
from mindspore.dataset.samplers.builtin import SHUFFLE_MODES


def serialize(dataset: Dataset, json_filepath: str = "") -> dict:
    """The pipeline as a dict, optionally written to a JSON file.

    ds.serialize(data, "pipeline.json")

    Examples:
        >>> ds.serialize(ds.NumpySlicesDataset([1, 2]).batch(2))["op_type"]
        'Batch'
    """
    check_type(dataset, Dataset, "dataset")
    return dataset.to_json(json_filepath)


def deserialize(input_dict: dict | None = None, json_filepath: str | None = None) -> Dataset | None:
    """The pipeline that `serialize` described, from a dict or a JSON file.

    Raises:
        ValueError: if it does not describe a pipeline that can be made.
        RuntimeError: if a source's files cannot be read, or if it held Python code, which JSON does not.

    Examples:
        >>> data = ds.FakeImageDataset(num_images=4, image_size=(2, 3, 3), num_classes=2).batch(2)
        >>> ds.deserialize(input_dict=ds.serialize(data)).get_dataset_size()
        2
    """
    if json_filepath:
        input_dict = _read_json(json_filepath)
    if not input_dict:
        return None
    check_type(input_dict, dict, "input_dict")
    try:
        return _restore(input_dict.get("tree", input_dict))
    except _Damaged as error:
        raise ValueError(f"Invalid pipeline{f' in {json_filepath}' if json_filepath else ''}: {error}") from error


def _read_json(path: str) -> Any:
    with open(os.path.realpath(path), "rb") as stream:
        data = stream.read()
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"The file {path} is no JSON text: {error}.") from None


class _Damaged(Exception):
    """An entry of a JSON form that does not say what its operation needs."""


def show(dataset: Dataset, indentation: int = 2) -> None:
    """Print the pipeline as JSON."""
    print(json.dumps(dataset.to_json(), indent=indentation))


def compare(pipeline1: Dataset, pipeline2: Dataset) -> bool:
    """True when two pipelines have the same JSON form.

    Examples:
        >>> ds.compare(ds.NumpySlicesDataset([1, 2]), ds.NumpySlicesDataset([1, 2]))
        True
    """
    return pipeline1.to_json() == pipeline2.to_json()


def explain(dataset: Dataset) -> str:
    """Print, and return, the tree before and after optimisation, the rules that changed it, and what runs where."""
    before = number(dataset._node)
    after, rules = applied(before)
    stages = plan(build(after, RunContext()))
    text = "\n".join(
        ["before:", tree_text(before), "", "after:", tree_text(after), "", "rules: " + (", ".join(rules) or "none")]
        + ["", "runs:", *(stages or ["all in the calling thread"])]
    )
    print(text)
    return text


def _restore(form: dict[str, Any]) -> Dataset:
    op_type = form.get("op_type") if isinstance(form, dict) else None
    if not isinstance(op_type, str):
        raise ValueError("op_type field in the json file can't be found: this is not a pipeline.")
    below = form.get("children") or []
    if not isinstance(below, list):
        raise _Damaged(f"the children of {op_type} are no list.")
    children = [_restore(child) for child in below]
    kind = _NODE_NAMES.get(op_type, op_type)
    try:
        return _operation(kind, children, form)
    except KeyError as error:
        raise _Damaged(f"the entry {error} of {kind} is missing.") from error
    except (IndexError, TypeError, AttributeError) as error:
        raise _Damaged(f"{kind} cannot be made of its entries: {error}.") from error


def _operation(kind: str, children: list[Dataset], form: dict[str, Any]) -> Dataset:
    if kind in _OPERATIONS:
        return _OPERATIONS[kind](children, form)
    if kind in ("GeneratorDataset", "MindDataDataset", "RandomDataset") or not _has_source(kind):
        raise ValueError(f"Invalid operation, the source {kind!r} cannot be restored from JSON.")
    return _source(kind, form)


_NODE_NAMES = {"EMnistNode": "EMnistDataset", "CoNLL2000Node": "CoNLL2000Dataset", "UDPOSNode": "UDPOSDataset",
               "kGTZANNode": "GTZANDataset", "YesNoNode": "YesNoDataset"}  # fmt: skip


def _has_source(kind: str) -> bool:
    from mindspore import dataset as package

    return kind.endswith("Dataset") and isinstance(getattr(package, kind, None), type)


_NOT_GIVEN: tuple[Any, ...] = ([], {}, "", None)


def _source(kind: str, form: dict[str, Any]) -> Dataset:
    """A source: its arguments carry the names they have in JSON, except for a few."""
    from mindspore import dataset as package

    source = getattr(package, kind)
    accepted = inspect.signature(source.__init__).parameters
    renamed = {"schema_file_path": "schema", "dataset_dir": "dataset_files"} if kind == "CLUEDataset" else {
        "schema_file_path": "schema"}  # fmt: skip
    arguments: dict[str, Any] = {}
    for key, value in form.items():
        name = renamed.get(key, key)
        if key == "sampler":
            arguments["sampler"] = _sampler(value)
        elif key == "shuffle":
            arguments["shuffle"] = _shuffle(value)
        elif name == "num_parallel_workers":
            arguments[name] = _workers(form)
        elif name in accepted and value not in _NOT_GIVEN:
            arguments[name] = value
    if arguments.get("num_samples") == 0:
        arguments["num_samples"] = None
    if arguments.get("num_shards", 1) == 1:
        arguments.pop("num_shards", None)
        arguments.pop("shard_id", None)
    if "schema_json_string" in form:
        schema = package.Schema()
        schema.from_json(json.loads(form["schema_json_string"]))
        arguments["schema"] = schema
    return source(**arguments)


def _shuffle(mode: int | bool) -> Shuffle | bool:
    found = {number: name for name, number in SHUFFLE_MODES.items()}.get(int(mode), Shuffle.GLOBAL)
    return False if found is Shuffle.FALSE else found


def _sampler(form: dict[str, Any] | None) -> Any:
    if not form:
        return None
    name = str(form.get("sampler_name"))
    make = _SAMPLERS.get(name)
    if make is None:
        raise ValueError(f"Invalid sampler, {name!r} cannot be restored from JSON.")
    sampler = make(form, form.get("num_samples") or None)
    for child in form.get("child_sampler", []):
        sampler.add_child(_sampler(child))
    return sampler


def _random_sampler(form: dict, count: int | None) -> samplers.RandomSampler:
    sampler = samplers.RandomSampler(form["replacement"], count)
    sampler.reshuffle_each_epoch = form.get("reshuffle_each_epoch", True)
    return sampler


def _distributed(form: dict, count: int | None) -> samplers.DistributedSampler:
    mixed = form["shuffle"] if "shuffle" in form else form.get("shuffle_mode", 2) != 0
    return samplers.DistributedSampler(form["num_shards"], form["shard_id"], bool(mixed), count, form.get("offset", -1))


_SAMPLERS: dict[str, Callable[[dict, int | None], Any]] = {
    "SequentialSampler": lambda form, count: samplers.SequentialSampler(form.get("start_index"), count),
    "RandomSampler": _random_sampler,
    "DistributedSampler": _distributed,
    "SubsetSampler": lambda form, count: samplers.SubsetSampler(form["indices"], count),
    "SubsetRandomSampler": lambda form, count: samplers.SubsetRandomSampler(form["indices"], count),
    "PKSampler": lambda form, count: samplers.PKSampler(form["num_val"], None, form["shuffle"], "label", count),
    "WeightedRandomSampler": lambda form, count: samplers.WeightedRandomSampler(
        form["weights"], count, form["replacement"]
    ),
}


def _map(children: list[Dataset], form: dict) -> Dataset:
    from mindspore.dataset.transforms.transform import transform_from_json

    if form.get("callback"):
        raise _holds_python("Map", f"the callback {form['callback'][0]}")
    operations = []
    for entry in form["operations"]:
        if (
            entry.get("python_module")
            and entry.get("tensor_op_params") is None
            and "is_python_front_end_op" not in entry
        ):
            raise _holds_python("Map", f"the Python function {entry['tensor_op_name']!r}")
        operations.append(transform_from_json(entry["tensor_op_name"], entry.get("tensor_op_params") or {}))
    inputs, outputs = form.get("input_columns") or None, form.get("output_columns") or None
    return children[0].map(operations, inputs, outputs, _workers(form))


def _batch(children: list[Dataset], form: dict) -> Dataset:
    if form.get("per_batch_map"):
        raise _holds_python("Batch", "per_batch_map")
    if form["batch_size"] == -1:
        raise _holds_python("Batch", "a function that gives its size")
    return children[0].batch(form["batch_size"], form["drop_remainder"], _workers(form))


def _padded_batch(children: list[Dataset], form: dict) -> Dataset:
    padding = _padding(form)
    return children[0].padded_batch(form["batch_size"], form["drop_remainder"], _workers(form), padding)


def _bucket(children: list[Dataset], form: dict) -> Dataset:
    if form.get("element_length_function"):
        raise _holds_python("BucketBatchByLength", "element_length_function")
    return children[0].bucket_batch_by_length(
        form["length_dependent_columns"],
        form["bucket_boundaries"],
        form["bucket_batch_sizes"],
        None,
        _padding(form),
        form["pad_to_bucket_boundary"],
        form["drop_remainder"],
    )


def _padding(form: dict) -> dict[str, tuple] | None:
    padding = form.get("pad_info")
    return None if padding is None else {name: value and tuple(value) for name, value in padding.items()}


def _concat(children: list[Dataset], form: dict) -> Dataset:
    joined = ConcatDataset(children)
    if form.get("sampler"):
        joined.use_sampler(_sampler(form["sampler"]))
    return joined


def _cache(children: list[Dataset], form: dict) -> Dataset:
    """A new cache of the same bounds over the same rows."""
    data = children[0]
    data.cache = DatasetCache(form["session_id"], form["size"], form["spilling"])
    data._use(data._node)
    return data


def _sync_wait(children: list[Dataset], form: dict) -> Dataset:
    if form.get("callback"):
        raise _holds_python("SyncWait", "a callback")
    return children[0].sync_wait(form["condition_name"], form["num_batch"])


def _workers(form: dict) -> int | None:
    """The number of workers; a file of a larger machine gets this machine's own number."""
    count = form.get("num_parallel_workers")
    return count if isinstance(count, int) and 1 <= count <= worker_limit() else None


def _holds_python(kind: str, what: str) -> RuntimeError:
    return RuntimeError(
        f"Invalid data, unsupported operation type: {kind} with {what}, which is Python code and cannot be restored from JSON."
    )


def _not_restored(children: list[Dataset], form: dict) -> Dataset:
    kind = form["op_type"]
    raise RuntimeError(
        f"Invalid data, unsupported operation type: {kind}, which holds Python code and cannot be restored from JSON."
    )


_OPERATIONS: dict[str, Callable[[list[Dataset], dict], Dataset]] = {
    "Map": _map,
    "Batch": _batch,
    "PaddedBatch": _padded_batch,
    "BucketBatchByLength": _bucket,
    "Shuffle": lambda children, form: children[0].shuffle(form["buffer_size"]),
    "Repeat": lambda children, form: children[0].repeat(form["count"]),
    "Skip": lambda children, form: children[0].skip(form["count"]),
    "Take": lambda children, form: children[0].take(form["count"]),
    "Project": lambda children, form: children[0].project(form["columns"]),
    "Rename": lambda children, form: children[0].rename(form["input_columns"], form["output_columns"]),
    "Zip": lambda children, form: children[0].zip(tuple(children[1:])),
    "Concat": _concat,
    "Transfer": lambda children, form: children[0].device_que(form["send_epoch_end"], queue_name=form["queue_name"]),
    "Cache": _cache,
    "SyncWait": _sync_wait,
    "Filter": _not_restored,
    "FlatMap": _not_restored,
}
