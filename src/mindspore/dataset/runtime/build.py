"""From the tree to running operators.

Maps, projections and batches become steps of one chain over their source, so that one worker does all of a row's or a
batch's work; shuffles, skips, takes and repeats slide under those steps and act on row numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import singledispatch

from mindspore.dataset.ir.leaf import MappableNode, StreamNode
from mindspore.dataset.ir.node import Node, walk
from mindspore.dataset.ir.ops import (
    BatchNode,
    BucketBatchNode,
    CacheNode,
    ConcatNode,
    FilterNode,
    FlatMapNode,
    MapNode,
    ProjectNode,
    RenameNode,
    RepeatNode,
    ShuffleNode,
    SkipNode,
    SyncWaitNode,
    TakeNode,
    TransferNode,
    ZipNode,
    map_columns,
)
from mindspore.dataset.ir.transform import is_random
from mindspore.dataset.runtime import operators as op
from mindspore.dataset.runtime.batch import BucketBatch, DynamicBatch
from mindspore.dataset.runtime.callback_map import CallbackMap
from mindspore.dataset.runtime.chain import BatchedChain, Chain
from mindspore.dataset.runtime.context import RunContext
from mindspore.dataset.runtime.replace import Replaced
from mindspore.dataset.runtime.step import (
    ANY,
    CALLER,
    PROCESS,
    THREAD,
    BatchMapStep,
    CachedSteps,
    CollateStep,
    LoadStep,
    MapStep,
    PickStep,
    map_placement,
)
from mindspore.dataset.settings import ErrorSamplesMode, settings


@singledispatch
def build(node: Node, context: RunContext) -> op.Operator:
    raise TypeError(f"There is no operator for {type(node).__name__}.")


@build.register
def _(node: MappableNode, context):
    reader = node.reader
    if node.python_multiprocessing and (node.num_parallel_workers or 1) > 1:
        placement = PROCESS
    elif reader.can_gather():
        placement = ANY
    else:
        placement = THREAD if reader.releases_gil else CALLER
    step = LoadStep(reader, node.workers(), placement)
    step.max_rowsize = node.max_rowsize
    return Chain(op.SourceOrder(node, context), [step], reader.columns, context)


@build.register
def _(node: StreamNode, context):
    return op.StreamSource(node, context)


@build.register
def _(node: MapNode, context):
    child = build(node.children[0], context)
    inputs = node.input_columns or child.columns[:1]
    outputs = node.output_columns or inputs
    columns = map_columns(child.columns, inputs, outputs)
    step = MapStep(
        node.operations,
        [child.columns.index(name) for name in inputs],
        layout(child.columns, inputs, outputs),
        len(outputs),
        context.root_seed,
        node.streams(),
        node.workers(),
        map_placement(node.operations, node.python_multiprocessing),
    )
    step.max_rowsize = node.max_rowsize
    if node.callbacks:
        return CallbackMap(child, step, columns, node.callbacks)
    made = extend(child, step, columns, context)
    return Replaced(made) if settings().error_samples_mode is ErrorSamplesMode.REPLACE else made


def layout(below: Sequence[str], inputs: Sequence[str], outputs: Sequence[str]) -> list[tuple[str, int]]:
    """Where each column of a map's result comes from: ("out", i) or ("in", i)."""
    if len(inputs) == len(outputs):
        return [("out", inputs.index(name)) if name in inputs else ("in", i) for i, name in enumerate(below)]
    kept = [("in", i) for i, name in enumerate(below) if name not in inputs]
    return [("out", i) for i in range(len(outputs))] + kept


def extend(child: op.Operator, step, columns, context) -> Chain:
    if isinstance(child, Chain) and not isinstance(child, BatchedChain):
        return child.extended(step, columns)
    return Chain(child, [step], columns, context)


@build.register
def _(node: ProjectNode, context):
    child = build(node.children[0], context)
    for name in node.names:
        if name not in child.columns:
            raise RuntimeError(f"Invalid column, column name: {name} does not exist. Columns: {child.columns}.")
    positions = [child.columns.index(name) for name in node.names]
    if isinstance(child, Chain) and not isinstance(child, BatchedChain):
        return child.extended(PickStep(positions), node.names)
    return op.Pick(child, positions, node.names)


@build.register
def _(node: RenameNode, context):
    child = build(node.children[0], context)
    for name in node.input_columns:
        if name not in child.columns:
            raise RuntimeError(f"Invalid parameter, rename input column: {name} doesn't exist in {child.columns}.")
    renamed = dict(zip(node.input_columns, node.output_columns))
    columns = [renamed.get(name, name) for name in child.columns]
    if len(set(columns)) != len(columns):
        raise RuntimeError(f"Invalid parameter, rename operation makes two columns of one name: {columns}.")
    if isinstance(child, Chain) and not isinstance(child, BatchedChain):
        return Chain(child.base, child.steps, columns, context)
    return op.Renamed(child, columns=columns)


def slide_under(child: op.Operator, make: Callable[[op.Operator], op.Operator]) -> op.Operator:
    """`make` an operator that only rearranges rows: under the steps of a chain when they are one to one."""
    if isinstance(child, Chain) and not isinstance(child, BatchedChain) and child.one_to_one:
        return child.over(make(child.base))
    return make(child)


@build.register
def _(node: ShuffleNode, context):
    child = build(node.children[0], context)
    return slide_under(child, lambda base: op.Shuffle(base, node, context))


@build.register
def _(node: SkipNode, context):
    return slide_under(build(node.children[0], context), lambda base: op.Skip(base, node.count))


@build.register
def _(node: TakeNode, context):
    return slide_under(build(node.children[0], context), lambda base: op.Take(base, node.count))


@build.register
def _(node: RepeatNode, context):
    return slide_under(build(node.children[0], context), lambda base: op.Repeat(base, node.count))


@build.register
def _(node: FilterNode, context):
    child = build(node.children[0], context)
    for name in node.input_columns:
        if name not in child.columns:
            raise RuntimeError(f"Invalid parameter, input column name: {name} doesn't exist in {child.columns}.")
    inputs = [child.columns.index(name) for name in node.input_columns or child.columns]
    return op.Filter(child, node.predicate, inputs)


@build.register
def _(node: BatchNode, context):
    for below in walk(node.children[0]):
        if isinstance(below, SyncWaitNode) and not callable(node.rows):
            below.rows_per_batch *= node.rows
    child = build(node.children[0], context)
    if node.rows == -1:
        raise RuntimeError("Batch size cannot be -1 without using batch sampler.")
    if node.per_batch_map is not None or callable(node.rows):
        return dynamic_batch(node, child)
    joined = isinstance(child, Chain) and not isinstance(child, BatchedChain) and child.one_to_one
    chain = child if isinstance(child, Chain) and joined else Chain(child, [], child.columns, context)
    collate = CollateStep(chain.columns, node.pad_info)
    return BatchedChain(chain, collate, node.rows, node.drop_remainder)


def dynamic_batch(node: BatchNode, child: op.Operator) -> op.Operator:
    step, columns = None, child.columns
    if node.per_batch_map is not None:
        inputs = node.input_columns or columns
        outputs = node.output_columns or inputs
        check_batch_columns(columns, inputs, outputs)
        step = BatchMapStep(
            node.per_batch_map,
            [columns.index(name) for name in inputs],
            layout(columns, inputs, outputs),
            outputs,
            node.workers(),
            PROCESS if node.python_multiprocessing else CALLER,
        )
        step.max_rowsize = node.max_rowsize
        columns = map_columns(columns, inputs, outputs)
    return DynamicBatch(child, columns, node.rows, node.drop_remainder, step, node.pad_info)


def check_batch_columns(columns: Sequence[str], inputs: Sequence[str], outputs: Sequence[str]) -> None:
    for name in inputs:
        if name not in columns:
            raise RuntimeError(f"Invalid parameter, '{name}' of 'input_columns' doesn't exist: the columns are {columns}.")
    kept = [name for name in columns if name not in inputs]
    for name in outputs:
        if name in kept:
            raise RuntimeError(
                f"Invalid parameter, columns that are not involved in 'per_batch_map' should not be in output_columns, "
                f"but got: {name}."
            )


@build.register
def _(node: BucketBatchNode, context):
    return BucketBatch(build(node.children[0], context), node)


@build.register
def _(node: ZipNode, context):
    return op.Zip(*[build(child, context) for child in node.children], columns=node.columns())


@build.register
def _(node: ConcatNode, context):
    children = [build(child, context) for child in node.children]
    sizes = []
    if node.mixed():
        from mindspore.dataset.runtime.pipeline import count_rows

        sizes = [child.size(count_rows) or 0 for child in node.children]
    return op.Concat(children, children[0].columns, node, sizes, context)


@build.register
def _(node: SyncWaitNode, context):
    return op.SyncWait(build(node.children[0], context), node.condition, node.rows_per_batch)


@build.register
def _(node: CacheNode, context):
    child = build(node.children[0], context)
    if isinstance(child, Chain) and isinstance(child.steps[0], LoadStep) and child.one_to_one:
        for step in child.steps:
            if isinstance(step, MapStep) and any(is_random(operation) for operation in step.operations):
                raise RuntimeError("A map with random operations cannot be cached: its rows differ in every epoch.")
        return Chain(child.base, [CachedSteps(child.steps, node.cache)], child.columns, context)
    return op.Cache(child, node.cache)


@build.register
def _(node: TransferNode, context):
    return build(node.children[0], context)


@build.register
def _(node: FlatMapNode, context):
    from mindspore.dataset.runtime.pipeline import run_once

    return op.FlatMap(build(node.children[0], context), node.function, run_once)
