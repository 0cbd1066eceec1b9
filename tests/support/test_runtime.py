"""Streams, events, memory figures, devices and their settings."""

import time

import pytest

import mindspore as ms
from mindspore import Tensor, device_context, hal, runtime
from mindspore.hal import contiguous_tensors_handle
from mindspore.hal.contiguous_tensors_handle import combine_tensor_list_contiguous


def test_streams_nest_and_restore():
    assert runtime.current_stream() == runtime.default_stream()
    first, second = runtime.Stream(), runtime.Stream(priority=1)
    assert first != second
    with runtime.StreamCtx(first):
        assert runtime.current_stream() is first
        with runtime.StreamCtx(second):
            y = Tensor([1.0]) + 1
            assert runtime.current_stream() is second
        with runtime.StreamCtx(None):
            assert runtime.current_stream() is first
    assert runtime.current_stream() == runtime.default_stream()
    second.wait_stream(first)
    second.synchronize()
    assert second.query() and y == 2.0 and "device_name=CPU" in repr(first)


def test_events_measure_time():
    start, end = runtime.Event(enable_timing=True), runtime.Event(enable_timing=True)
    start.record()
    before = time.perf_counter()
    time.sleep(0.01)
    waited = (time.perf_counter() - before) * 1000
    end.record(runtime.default_stream())
    end.synchronize()
    assert end.query() and start.elapsed_time(end) >= waited
    with pytest.raises(RuntimeError, match="enable_timing"):
        start.elapsed_time(runtime.Event())
    with pytest.raises(RuntimeError, match="recorded"):
        start.elapsed_time(runtime.Event(enable_timing=True))


@pytest.mark.parametrize(
    "call",
    [
        lambda: runtime.Stream("high"),
        lambda: runtime.StreamCtx(3),
        lambda: runtime.Event(enable_timing=1),
        lambda: runtime.Stream().wait_event(3),
        lambda: runtime.set_memory(2),
        lambda: runtime.dispatch_threads_num(2.0),
        lambda: runtime.set_cpu_affinity(1),
    ],
)
def test_wrong_types(call):
    with pytest.raises(TypeError):
        call()


def test_memory_figures_are_consistent():
    stats = runtime.memory_stats()
    assert stats["total_reserved_memory"] == runtime.memory_reserved() >= runtime.memory_allocated() >= 0
    assert runtime.max_memory_allocated() >= runtime.memory_allocated()
    runtime.reset_peak_memory_stats()
    runtime.empty_cache()
    table = runtime.memory_summary()
    assert len({len(line) for line in table.splitlines()}) == 1 and "Reserved memory" in table


@pytest.mark.parametrize("size", ["2gb", "2", "GB", "0GB", "-1GB", "1.5.2GB"])
def test_sizes_of_memory_are_gigabytes(size):
    with pytest.raises(ValueError, match="correct format"):
        runtime.set_memory(init_size=size)


def test_settings_are_accepted():
    runtime.set_memory(max_size="10GB", optimize_level="O1")
    runtime.set_kernel_launch_group(2, 4)
    runtime.set_device_limit(0, 4)
    assert runtime.get_device_limit(0) == {"cube_core_num": 4, "vector_core_num": -1}
    with runtime.StreamLimitCtx(runtime.default_stream(), vector_num=2):
        assert runtime.get_stream_limit(runtime.default_stream())["vector_core_num"] == 2
    with pytest.raises(ValueError, match="optimize_level"):
        runtime.set_memory(optimize_level="O9")
    with pytest.raises(ValueError, match="like '0-3'"):
        runtime.set_cpu_affinity(True, ["a-b"])


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="has no attribute"):
        _ = runtime.does_not_exist
    assert "synchronize" in dir(runtime) and ms.synchronize is runtime.synchronize


def test_devices():
    assert hal.is_available("CPU") and hal.device_count("CPU") == 1 and hal.get_device_name(0) == "CPU"
    assert hal.get_device_properties(0) is None and hal.get_arch_list() is None
    with pytest.raises(ValueError, match="must be one of"):
        hal.is_available("TPU")
    with pytest.raises(ValueError, match="less than device count"):
        hal.get_device_name(5, "CPU")
    with pytest.raises(TypeError):
        hal.get_device_name("0")
    assert hal.memory_stats("CPU") == runtime.memory_stats()


def test_settings_of_devices():
    device_context.ascend.op_precision.precision_mode("force_fp32")
    device_context.gpu.op_tuning.conv_fprop_algo("winograd")
    device_context.cpu.op_tuning.threads_num(2)
    assert ms.get_context("runtime_num_threads") == 2
    ms.set_context(runtime_num_threads=0)
    for call in (
        lambda: device_context.ascend.op_precision.precision_mode("fast"),
        lambda: device_context.gpu.op_tuning.conv_dgrad_algo("implicit_gemm"),
        lambda: device_context.cpu.op_tuning.threads_num(0),
    ):
        with pytest.raises(ValueError):
            call()
    assert device_context.cpu.is_available() and device_context.cpu.device_count() == 1


def test_tensors_in_one_block(monkeypatch):
    handle = combine_tensor_list_contiguous([Tensor([1.0, 2.0]), Tensor([[3.0], [4.0]])], enable_mem_align=False)
    assert handle[1:3].asnumpy().tolist() == [2, 3] and handle.slice_by_tensor_index(1, 2).asnumpy().tolist() == [3, 4]
    on_cpu = combine_tensor_list_contiguous([Tensor([1.0, 2.0]), Tensor([3.0])])
    assert len(on_cpu) == 3 and on_cpu.slice_by_tensor_index(1, 2).asnumpy().tolist() == [3]
    monkeypatch.setattr(contiguous_tensors_handle, "get_context", lambda name: "GPU")
    aligned = combine_tensor_list_contiguous([Tensor([1.0, 2.0]), Tensor([3.0])])
    assert len(aligned) == 256 and aligned.slice_by_tensor_index(1, 2).asnumpy()[0] == 3
    with pytest.raises(TypeError, match="same dtype"):
        combine_tensor_list_contiguous([Tensor([1.0]), Tensor([1])])
