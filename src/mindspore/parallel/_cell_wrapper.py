"""Cells that gather parameters from other devices when checkpoints are written."""

from __future__ import annotations

from typing import Any

from mindspore.communication.management import get_group_size
from mindspore.nn.cell import Cell
from mindspore.prims.collective import AllGather
from mindspore.runtime import context


class AllGatherCell(Cell):
    """The parts of a parameter from all devices of a group, joined."""

    def __init__(self, group: str, do_reshape: bool = False, after_reshape_slice_shape: tuple = ()):
        super().__init__(auto_prefix=False)
        self.allgather = AllGather(group)
        self.do_reshape, self.shape = do_reshape, tuple(after_reshape_slice_shape)

    def construct(self, x: Any) -> Any:
        return self.allgather(x.reshape(self.shape) if self.do_reshape else x)


def get_allgather_cell(
    group: str, need_merge_twice: bool = False, do_reshape: bool = False, after_reshape_slice_shape: tuple = ()
) -> AllGatherCell:
    """The cell of a group; made once."""
    key = (group, need_merge_twice, do_reshape, tuple(after_reshape_slice_shape), get_group_size(group))
    made: dict[Any, AllGatherCell] = context.current().section("allgather_cells", {})
    if key not in made:
        made[key] = AllGatherCell(group, do_reshape, after_reshape_slice_shape)
    return made[key]


def destroy_allgather_cell() -> None:
    """Forget the cells."""
    context.current().sections.pop("allgather_cells", None)
