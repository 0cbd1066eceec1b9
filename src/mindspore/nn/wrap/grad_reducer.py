"""Combining gradients over devices."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from mindspore import context, ops
from mindspore.nn.cell import Cell
from mindspore.prims import world
from mindspore.prims.active import ACTIVE
from mindspore.prims.collective import AllGather, AllReduce
from mindspore.runtime.sharding import measured_machine

#: bytes of gradients that travel together. Small enough that the first are under way while the others are computed
_BUCKET = 8 << 20


def buckets(sizes: Sequence[tuple[int, Any]], limit: int = _BUCKET, ends: Sequence[int] = ()) -> list[list[int]]:
    """Numbers of gradients that are combined together; `sizes` has the bytes and the element type of each.

    The backward pass computes the last parameters' gradients first, so that is the order. `ends`: the parameters at which
    buckets end are given, and sizes do not matter.
    """
    found: list[list[int]] = []
    room, kind = 0, None
    for number in reversed(range(len(sizes))):
        nbytes, dtype = sizes[number]
        fits = number not in ends if ends else nbytes <= room
        if not found or not fits or dtype != kind:
            found.append([])
            room, kind = limit, dtype
        found[-1].append(number)
        room -= nbytes
    return found


class _Wish(NamedTuple):
    """What the user says about buckets."""

    limit: int = _BUCKET  #: bytes; 0: every gradient by itself
    ends: tuple[int, ...] = ()  #: the parameters at which they end
    by_time: bool = False  #: nothing: they may be cut by measured times


def _configured() -> _Wish:
    """What `comm_fusion` and `all_reduce_fusion_config` say."""
    ends = tuple(context.get_auto_parallel_context("all_reduce_fusion_config") or ())
    fusion = context.get_auto_parallel_context("comm_fusion") or {}
    if fusion and not fusion.get("openstate", True):
        return _Wish(0)
    chosen = fusion.get("allreduce", {})
    if chosen.get("mode") == "size":
        return _Wish(int(chosen["config"]) << 20)
    if chosen.get("mode") == "index":
        return _Wish(ends=tuple(chosen["config"]))
    return _Wish(ends=ends, by_time=not ends)


def buckets_by_time(grads: Sequence[Any], devices: int, machine: Any) -> list[list[int]]:
    """Numbers of gradients of a graph that are combined together, in the order in which they are computed."""
    from mindspore.compiler.shard.buckets import best_cut, ready_times

    ready = ready_times([ACTIVE.builder.node_of(g) for g in grads], machine)
    order = sorted(range(len(grads)), key=lambda number: (ready[number], -number))
    nbytes = [math.prod(grads[i].shape) * grads[i].itemsize for i in order]
    counts = best_cut([ready[i] for i in order], nbytes, [grads[i].dtype for i in order], devices, machine)
    numbers = iter(order)
    return [list(itertools.islice(numbers, count)) for count in counts]


class DistributedGradReducer(Cell):
    """Sum (or, with `mean`, average) the gradients of all devices of a group.

    Args:
        parameters: those the gradients belong to.
        mean: divide the sum by `degree`; by default what `set_auto_parallel_context(gradients_mean=…)` says.
        degree: how many gradients are summed; by default the number of devices.
        group: the processes.

    Gradients travel in buckets (`comm_fusion`, `all_reduce_fusion_config`), each as soon as it is complete. Where nothing is said
    about them and the machine has been measured (`parallel.calibrate`), graphs cut them so that the last one arrives as early as
    possible. In a run of one process the sum is the gradient itself.

    Examples:
        >>> from mindspore import nn
        >>> reducer = nn.DistributedGradReducer(nn.Dense(2, 3).trainable_params())
        >>> type(reducer).__name__
        'DistributedGradReducer'
    """

    def __init__(
        self,
        parameters: Any,
        mean: bool | None = None,
        degree: int | None = None,
        fusion_type: int = 1,
        group: str = "hccl_world_group",
    ):
        super().__init__(auto_prefix=False)
        if degree is not None and (isinstance(degree, bool) or not isinstance(degree, int) or degree <= 0):
            raise ValueError(f"For 'DistributedGradReducer', 'degree' must be a positive int, but got {degree}.")
        self.mean = context.get_auto_parallel_context("gradients_mean") if mean is None else mean
        self.group = group
        self.size = world.group_size(group)
        self.degree = degree or self.size
        self.wish = _configured()
        self.machine = measured_machine() if self.wish.by_time else None
        self.sum = AllReduce("sum", group)
        self.gather = AllGather(group)

    def construct(self, grads: Any) -> Any:
        if self.size > 1:
            grads = self._summed(grads)
        if not self.mean or self.degree == 1:
            return grads
        return tuple([_times(g, 1.0 / self.degree) for g in grads])

    def _summed(self, grads: Any) -> Any:
        """The gradients of all processes, added up bucket by bucket."""
        reduced = list(grads)
        dense = [i for i, g in enumerate(grads) if not _is_sparse(g)]
        for bucket in self._buckets([grads[i] for i in dense]):
            members = [dense[number] for number in bucket]
            for number, total in zip(members, self._bucket_summed([grads[i] for i in members])):
                reduced[number] = total
        for number, grad in enumerate(grads):
            if _is_sparse(grad):
                reduced[number] = type(grad)(self.gather(grad.indices), self.gather(grad.values), grad.dense_shape)
        return tuple(reduced)

    def _buckets(self, grads: list) -> list[list[int]]:
        if self.machine is not None and ACTIVE.builder is not None:
            return buckets_by_time(grads, self.size, self.machine)
        sizes = [(math.prod(g.shape) * g.itemsize, g.dtype) for g in grads]
        return buckets(sizes, self.wish.limit, self.wish.ends)

    def _bucket_summed(self, grads: list) -> list:
        if len(grads) == 1:
            return [self.sum(grads[0])]
        total = self.sum(ops.concat([g.reshape(-1) for g in grads]))
        parts, start = [], 0
        for g in grads:
            count = math.prod(g.shape)
            parts.append(total[start : start + count].reshape(g.shape))
            start += count
        return parts


def _is_sparse(grad: Any) -> bool:
    return hasattr(grad, "indices") and hasattr(grad, "dense_shape")


def _times(grad: Any, factor: float) -> Any:
    if _is_sparse(grad):
        return type(grad)(grad.indices, grad.values * factor, grad.dense_shape)
    return grad * factor


class PipelineGradReducer(Cell):
    """Divide gradients summed over the parts of a batch by the scale of their loss.

    `construct(grads)` serves pipeline training, where `grads` are sums over micro-batches.

    Examples:
        >>> weight = Parameter(Tensor([1.0]), name="weight")
        >>> print(nn.PipelineGradReducer([weight], scale_sense=4.0)((Tensor([8.0]),))[0])
        [2.]
    """

    def __init__(self, parameters: Any, scale_sense: float = 1.0, opt_shard: bool | None = None):
        super().__init__(auto_prefix=False)
        self.scale_sense = scale_sense
        self.opt_shard = opt_shard

    def construct(self, grads: Any) -> Any:
        return tuple([g * (1.0 / self.scale_sense) for g in grads])


__all__ = ["DistributedGradReducer", "PipelineGradReducer"]
