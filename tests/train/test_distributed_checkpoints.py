"""Checkpoints of distributed runs: any way of cutting the parameters, from one to another."""

import contextlib
import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mindspore as ms
from mindspore import Parameter, Tensor, nn, parallel
from mindspore.formats.strategy_file import (
    ParallelLayouts,
    Sizes,
    _LayoutItem,
    _Strategies,
    _StrategyItem,
    _StrategyMap,
)


def cut(whole, layout, device):
    """The slice of a device, by definition: cut dimension by dimension, then the optimizer's share of the rows."""
    devices, axes, shards = layout["dev_matrix"], layout["tensor_map"], layout.get("opt_weight_shard_size", 0)
    place = np.unravel_index(device, devices)
    part = whole
    for dim, axis in enumerate(axes):
        if axis != -1:
            part = np.split(part, devices[-1 - axis], dim)[place[-1 - axis]]
    if shards:
        free = [i for i in range(len(devices)) if len(devices) - 1 - i not in axes]
        copies = list(itertools.product(*(range(devices[i]) for i in free)))
        part = np.split(part, shards)[copies.index(tuple(place[i] for i in free)) % shards]
    return part


def write_strategy(path, layouts, stage=0):
    """A strategy file as a run writes it."""
    if str(path).endswith(".json"):
        content = {
            "current_stage": 0, "parallel_layout_item": layouts,
            "parallel_strategy_item": {"node": {"stage": stage, "parallel_strategy": [[1]]}},
        }  # fmt: skip
        path.write_text(json.dumps(content))
        return str(path)
    items = [
        _LayoutItem(
            param_name=name,
            parallel_layouts=ParallelLayouts(
                dev_matrix=[Sizes(dim=list(layout["dev_matrix"]))], tensor_map=[Sizes(dim=list(layout["tensor_map"]))],
                param_split_shape=[Sizes()], field=0, opt_weight_shard_step=layout.get("opt_weight_shard_step", 0),
                opt_weight_shard_size=layout.get("opt_weight_shard_size", 0),
            ),
        )
        for name, layout in layouts.items()
    ]  # fmt: skip
    strategy = _StrategyItem(node_name="node", parallel_strategys=_Strategies(stage=stage))
    path.write_bytes(_StrategyMap(parallel_strategy_item=[strategy], parallel_layout_item=items).encode())
    return str(path)


def save_ranks(folder, wholes, layouts, devices, file_format="ckpt"):
    for device in range(devices):
        (folder / f"rank_{device}").mkdir(parents=True)
        entries = [
            {"name": n, "data": Tensor(np.ascontiguousarray(cut(w, layouts[n], device)))} for n, w in wholes.items()
        ]
        entries.append({"name": "step", "data": Tensor(7)})
        ms.save_checkpoint(entries, str(folder / f"rank_{device}" / f"net.{file_format}"), format=file_format)


WHOLES = {"w": np.arange(256, dtype=np.float32).reshape(16, 16), "b": np.arange(16, dtype=np.float16)}
FOUR = {
    "w": {"dev_matrix": [2, 2], "tensor_map": [0, 1]},
    "b": {"dev_matrix": [2, 2], "tensor_map": [-1], "opt_weight_shard_step": 1, "opt_weight_shard_size": 4},
}
TWO = {"w": {"dev_matrix": [2], "tensor_map": [-1, 0]}, "b": {"dev_matrix": [2], "tensor_map": [0]}}


@st.composite
def layouts(draw, devices):
    """A way to cut a tensor of two dimensions among so many devices."""
    matrix = draw(st.sampled_from([m for m in ([devices], [2, devices // 2], [devices // 2, 2]) if min(m) > 0]))
    places = [*range(len(matrix)), -1, -1]
    axes = draw(st.permutations(places))[:2]
    free = math.prod(matrix) // math.prod(matrix[-1 - a] for a in axes if a != -1)
    shards = draw(st.sampled_from([0, *(s for s in (2, 4, 8) if free % s == 0)]))
    layout = {"dev_matrix": matrix, "tensor_map": axes}
    return {**layout, "opt_weight_shard_step": 1, "opt_weight_shard_size": shards} if shards else layout


@settings(max_examples=40, deadline=None)
@given(data=st.data(), before=st.sampled_from([1, 2, 4, 8]), after=st.sampled_from([1, 2, 4, 8]))
def test_any_cut_becomes_any_other(data, before, after):
    from mindspore.formats.strategy_file import _from_json, layouts_of
    from mindspore.parallel import _slices

    whole = np.arange(64 * 64).reshape(64, 64)
    source, target = data.draw(layouts(before)), data.draw(layouts(after))
    own = {k: layouts_of({"p": _from_json(v, "")})["p"] for k, v in (("source", source), ("target", target))}
    for device in range(after):
        needed = _slices.needed_devices(own["source"], own["target"], device)
        parts = {d: cut(whole, source, d) for d in needed}
        made = _slices.assemble(own["source"], own["target"], device, parts)
        np.testing.assert_array_equal(made, cut(whole, target, device))


@pytest.mark.parametrize("suffix", ["ckpt", "json"])
def test_transform_checkpoints(tmp_path, suffix):
    save_ranks(tmp_path / "source", WHOLES, FOUR, 4)
    four, two = write_strategy(tmp_path / f"four.{suffix}", FOUR), write_strategy(tmp_path / f"two.{suffix}", TWO)
    ms.transform_checkpoints(str(tmp_path / "source"), str(tmp_path / "target"), "new", four, two)
    for device in range(2):
        found = ms.load_checkpoint(str(tmp_path / "target" / f"rank_{device}" / f"new{device}.ckpt"))
        assert int(found["step"].asnumpy()) == 7
        for name, whole in WHOLES.items():
            assert found[name].asnumpy().tobytes() == np.ascontiguousarray(cut(whole, TWO[name], device)).tobytes()


def test_transform_to_whole_parameters_and_back(tmp_path):
    save_ranks(tmp_path / "source", WHOLES, FOUR, 4)
    four = write_strategy(tmp_path / "four.ckpt", FOUR)
    ms.transform_checkpoints(str(tmp_path / "source"), str(tmp_path / "whole"), "net", four, None)
    found = ms.load_checkpoint(str(tmp_path / "whole" / "rank_0" / "net0.ckpt"))
    for name, whole in WHOLES.items():
        np.testing.assert_array_equal(found[name].asnumpy(), whole)
    ms.transform_checkpoints(str(tmp_path / "whole"), str(tmp_path / "again"), "net", None, four, process_num=2)
    for device in range(4):
        again = ms.load_checkpoint(str(tmp_path / "again" / f"rank_{device}" / f"net{device}.ckpt"))
        for name, whole in WHOLES.items():
            np.testing.assert_array_equal(again[name].asnumpy(), cut(whole, FOUR[name], device))


def test_ranks_that_are_needed(tmp_path):
    parted = {"w": {"dev_matrix": [2, 2], "tensor_map": [0, -1]}}
    source = write_strategy(tmp_path / "source.ckpt", parted)
    halved = write_strategy(tmp_path / "target.ckpt", {"w": {"dev_matrix": [2], "tensor_map": [0, -1]}})
    assert ms.rank_list_for_transform(0, source, None) == [1, 0]
    assert ms.rank_list_for_transform(1, source, halved) == [1]
    assert ms.rank_list_for_transform(3, source, source) == [3]
    assert ms.rank_list_for_transform(5, None, source) == [0]
    files = {1: str(tmp_path / "rank1.ckpt")}
    ms.save_checkpoint([{"name": "w", "data": Tensor(np.ones((2, 3), np.float32))}], files[1])
    ms.transform_checkpoint_by_rank(1, files, str(tmp_path / "out.ckpt"), source, halved)
    assert ms.load_checkpoint(str(tmp_path / "out.ckpt"))["w"].shape == (2, 3)
    with pytest.raises(ValueError, match="rank 0 is missing"):
        ms.transform_checkpoint_by_rank(0, files, str(tmp_path / "out.ckpt"), source, None)


@pytest.mark.parametrize("suffix", ["ckpt", "json"])
def test_pipeline_stages(tmp_path, suffix):
    parted = {"dev_matrix": [2], "tensor_map": [0]}
    (tmp_path / "stages").mkdir()
    for stage in range(2):
        write_strategy(tmp_path / "stages" / f"stage{stage}.{suffix}", {f"w{stage}": parted}, stage)
    merged = str(tmp_path / f"merged.{suffix}")
    ms.merge_pipeline_strategys(str(tmp_path / "stages"), merged)
    assert sorted(ms.build_searched_strategy(merged)) == ["0-w0", "1-w1"]
    for rank in range(4):
        (tmp_path / "source" / f"rank_{rank}").mkdir(parents=True)
        value = np.arange(4, dtype=np.float32) + 10 * (rank // 2) + 4 * (rank % 2)
        entry = {"name": f"w{rank // 2}", "data": Tensor(value)}
        ms.save_checkpoint([entry], str(tmp_path / "source" / f"rank_{rank}" / "net.ckpt"))
    assert ms.rank_list_for_transform(0, merged, None) == [3, 2, 1, 0]
    ms.transform_checkpoints(str(tmp_path / "source"), str(tmp_path / "whole"), "net", merged, None)
    found = ms.load_checkpoint(str(tmp_path / "whole" / "rank_0" / "net0.ckpt"))
    np.testing.assert_array_equal(found["w0"].asnumpy(), np.arange(8))
    np.testing.assert_array_equal(found["w1"].asnumpy(), np.arange(8) + 10)
    ms.transform_checkpoints(str(tmp_path / "whole"), str(tmp_path / "again"), "net", None, merged)
    assert list(ms.load_checkpoint(str(tmp_path / "again" / "rank_2" / "net2.ckpt"))) == ["w1"]


def test_merge_sliced_parameter(tmp_path):
    whole = np.arange(32, dtype=np.float32).reshape(8, 4)
    layout = {"dev_matrix": [2, 2], "tensor_map": [0, 1]}
    strategy = ms.build_searched_strategy(write_strategy(tmp_path / "s.json", {"w": layout}))
    slices = [Parameter(Tensor(np.ascontiguousarray(cut(whole, layout, d))), name="w") for d in range(4)]
    np.testing.assert_array_equal(ms.merge_sliced_parameter(slices, strategy).asnumpy(), whole)
    rows = [Parameter(Tensor(whole[:3]), name="w"), Parameter(Tensor(whole[3:]), name="w")]
    np.testing.assert_array_equal(ms.merge_sliced_parameter(rows).asnumpy(), whole)
    with pytest.raises(ValueError, match="4 slices"):
        ms.merge_sliced_parameter(slices[:2], strategy)
    with pytest.raises(KeyError, match="'w' is not in"):
        ms.merge_sliced_parameter(slices, {"v": strategy["w"]})


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.zeros((16, 16), np.float32)), name="w")
        self.b = Parameter(Tensor(np.zeros(16, np.float16)), name="b")

    def construct(self, x):
        return x


def test_load_distributed_checkpoint(tmp_path):
    save_ranks(tmp_path / "source", WHOLES, FOUR, 4)
    four = write_strategy(tmp_path / "four.ckpt", FOUR)
    files = [str(tmp_path / "source" / f"rank_{r}" / "net.ckpt") for r in range(4)]
    net = Net()
    ms.load_distributed_checkpoint(net, files, None, four)
    for name, whole in WHOLES.items():
        np.testing.assert_array_equal(getattr(net, name).asnumpy(), whole)
    with pytest.raises(ValueError, match="4 checkpoints"):
        ms.load_distributed_checkpoint(net, files[:2], None, four)


@pytest.mark.parametrize("redundant", [True, False])
def test_unified_safetensors(tmp_path, redundant):
    layouts_ = {"w": {"dev_matrix": [2, 2], "tensor_map": [0, -1]}, "b": FOUR["b"]}
    save_ranks(tmp_path / "source", WHOLES, layouts_, 4, "safetensors")
    if not redundant:  # ranks 0 and 3 give up what 2 and 1 hold as well
        for rank in (0, 3):
            file = str(tmp_path / "source" / f"rank_{rank}" / "net.safetensors")
            left = {n: p for n, p in ms.load_checkpoint(file, format="safetensors").items() if n != "w"}
            ms.save_checkpoint(left, file, format="safetensors")
    strategy = write_strategy(tmp_path / "four.ckpt", layouts_)
    parallel.unified_safetensors(
        str(tmp_path / "source"), strategy, str(tmp_path / "whole"), merge_with_redundancy=redundant,
        choice_func=lambda name: "weight" if name == "w" else True,
    )  # fmt: skip
    found = ms.load_checkpoint(str(tmp_path / "whole" / "part0.safetensors"), format="safetensors")
    np.testing.assert_array_equal(found["weight"].asnumpy(), WHOLES["w"])
    np.testing.assert_array_equal(found["b"].asnumpy(), WHOLES["b"])
    rest = ms.load_checkpoint(str(tmp_path / "whole" / "hyper_param.safetensors"), format="safetensors")
    assert int(rest["step"].asnumpy()) == 7
    net = Net()
    options = {"format": "safetensors", "unified_safetensors_dir": str(tmp_path / "whole"), "name_map": {"weight": "w"}}
    ms.load_distributed_checkpoint(net, **options)
    np.testing.assert_array_equal(net.w.asnumpy(), WHOLES["w"])
    two = write_strategy(tmp_path / "two.ckpt", TWO)
    ms.load_distributed_checkpoint(None, predict_strategy=two, dst_safetensors_dir=str(tmp_path / "two"), **options)
    part = ms.load_checkpoint(str(tmp_path / "two" / "rank_1" / "net.safetensors"), format="safetensors")
    np.testing.assert_array_equal(part["w"].asnumpy(), cut(WHOLES["w"], TWO["w"], 1))


@pytest.mark.parametrize("content", [b"", b"\xff\xff\xff", b"{}", b"\x1a\x05\x0a\x01w\x12\x00"])
def test_bad_strategy_files(tmp_path, content):
    path = tmp_path / "bad.ckpt"
    path.write_bytes(content)
    with pytest.raises((ValueError, TypeError)):
        ms.rank_list_for_transform(0, str(path), None)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_damaged_strategy_files_never_hang(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("strategy")
    content = bytearray(Path(write_strategy(folder / "s.ckpt", FOUR)).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    (folder / "s.ckpt").write_bytes(content)
    with contextlib.suppress(ValueError, TypeError):
        ms.rank_list_for_transform(0, str(folder / "s.ckpt"), None)


def test_too_many_devices(tmp_path):
    path = write_strategy(tmp_path / "s.json", {"w": {"dev_matrix": [1 << 40], "tensor_map": [0]}})
    with pytest.raises(ValueError, match="too many devices"):
        ms.rank_list_for_transform(0, path, None)


def test_bad_arguments(tmp_path):
    with pytest.raises(NotADirectoryError):
        ms.transform_checkpoints(str(tmp_path / "none"), str(tmp_path), "net")
    with pytest.raises(ValueError, match="no checkpoints"):
        ms.transform_checkpoints(str(tmp_path), str(tmp_path), "net")
    with pytest.raises(ValueError, match="part of a file name"):
        ms.transform_checkpoints(str(tmp_path), str(tmp_path), "../net")
    with pytest.raises(TypeError, match="rank_id"):
        ms.rank_list_for_transform("0")
    with pytest.raises(KeyError, match="absolute"):
        parallel.set_op_strategy_config("SAVE", "strategy.json")
