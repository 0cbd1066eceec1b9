"""Small public modules: types, symbols, dumps, utils, run_check."""

import subprocess
import sys

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common import dtype as mstype
from mindspore.common.hook_handle import HookHandle
from mindspore.utils import MsDispatchMode, dryrun, from_dlpack, to_dlpack


def test_families_of_types():
    assert isinstance(ms.float16, mstype.Float) and not isinstance(ms.int8, mstype.Float)
    assert isinstance(ms.int8, ms.Int) and isinstance(ms.uint8, mstype.Number) and isinstance(ms.bool_, mstype.Bool)
    assert not isinstance(3, mstype.Number)
    assert ms.float32 in mstype.float_type and ms.float32 in mstype.number_type and ms.bool_ in mstype.all_types
    assert mstype.QuantDtype.INT8.value == 7 and mstype.QuantDtype.UINT8.value == 107
    assert mstype.type_size_in_bytes(ms.float64) == 8


def test_bfloat16_for_numpy():
    from mindspore.common.np_dtype import bfloat16

    assert np.dtype(bfloat16).itemsize == 2


def test_symbols():
    assert ms.Symbol(max=10, min=3, divisor=2).to_dict() == {"max": 10, "min": 3, "divisor": 2}
    unique = ms.Symbol(unique=True)
    assert unique.to_dict() == {"id": id(unique)}
    for wrong in ({"min": 0}, {"divisor": 0}, {"divisor": 2, "remainder": 2}):
        with pytest.raises(ValueError):
            ms.Symbol(**wrong)
    with pytest.raises(TypeError):
        ms.Symbol(max="a")


def test_marks_for_dumps():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.add = ops.Add()

    net = Net()
    ms.set_dump(net)
    assert net.add.attrs["dump"] == "true"
    ms.set_dump(net.add, False)
    assert net.add.attrs["dump"] == "false"
    with pytest.raises(ValueError, match="Cell or Primitive"):
        ms.set_dump(3)
    with pytest.raises(ValueError, match="bool"):
        ms.set_dump(net, 1)


def test_swapping_tensors_keeps_identities():
    a, b = Tensor([1.0]), Parameter(Tensor([2, 3]), name="b")
    ms.swap_tensors(a, b)
    assert isinstance(a, Parameter) and a.name == "b" and a.asnumpy().tolist() == [2, 3]
    assert type(b) is Tensor and b.asnumpy().tolist() == [1.0]
    with pytest.raises(TypeError):
        ms.swap_tensors(a, 3)


def test_dynamic_parameters_are_checked_by_name():
    @ms.enable_dynamic(y=Tensor([1.0]))
    @ms.jit
    def f(x, y):
        return x + y

    assert f(Tensor([1.0]), Tensor([2.0])) == 3.0
    assert f(Tensor([1.0, 2.0]), Tensor([2.0, 3.0])).asnumpy().tolist() == [3, 5]
    with pytest.raises(ValueError, match="no parameters"):
        ms.enable_dynamic(z=Tensor([1.0]))(lambda x: x)
    with pytest.raises(TypeError):
        ms.enable_dynamic(z=3)


def test_devices_in_a_block():
    before = ms.get_current_device()
    with ms.DeviceCtx("CPU", 0):
        assert ms.get_current_device() == ("CPU", 0)
    assert ms.get_current_device() == before


def test_hook_handles_remove_once():
    hooks = {}
    handle = HookHandle(hooks)
    hooks[handle.handle_id] = print
    handle.remove()
    handle.remove()
    assert hooks == {}


def test_dlpack_shares_memory():
    source = np.arange(3.0)
    tensor = from_dlpack(source)
    source[0] = 7.0
    assert tensor.asnumpy().tolist() == [7, 1, 2]
    assert from_dlpack(to_dlpack(Tensor([1, 2]))).asnumpy().tolist() == [1, 2]
    for wrong in (lambda: to_dlpack([1]), lambda: from_dlpack(3)):
        with pytest.raises(TypeError):
            wrong()


def test_dry_run_values(monkeypatch):
    monkeypatch.delenv("MS_SIMULATION_LEVEL", raising=False)
    assert (dryrun.mock(1, 2), dryrun.mock(1, max, 3, 4), dryrun.mock(1, lambda: 5)) == (2, 4, 5)
    monkeypatch.setenv("MS_SIMULATION_LEVEL", "1")
    assert dryrun.mock(1, 2) == 1


def test_watching_operations():
    class Watch(MsDispatchMode):
        def __init__(self, seen):
            self.seen = seen

        def __ms_dispatch__(self, func, args, kwargs=None):
            self.seen.append(func.name)
            return func(*args)

    outer, inner = [], []
    x = Tensor([1.0, 2.0])
    with Watch(outer):
        _ = x + x
        with Watch(inner):
            _ = x * x
        _ = x - x
    _ = x / x
    assert (outer, inner) == (["Add", "Sub"], ["Mul"])


def test_run_check_prints_version_and_result(capsys):
    ms.run_check()
    first, second = capsys.readouterr().out.splitlines()
    assert first == f"MindSpore version:  {ms.__version__}"
    assert second.endswith("MindSpore has been installed on platform [CPU] successfully!")


def test_hardware_self_test():
    assert ms.utils.stress_detect() == 0
    ms.utils.sdc_detect_start()
    assert ms.utils.get_sdc_detect_result() is False
    ms.utils.sdc_detect_stop()
    with pytest.raises(ValueError):
        ms.utils.stress_detect("x")


def test_tensors_travel_between_processes():
    script = """
import mindspore as ms, mindspore.multiprocessing as mp
def work(queue, x):
    queue.put(x * 2)
if __name__ == "__main__":
    queue = mp.get_context("fork").Queue()
    child = mp.get_context("fork").Process(target=work, args=(queue, ms.Tensor([1.0, 2.0])))
    child.start()
    print(queue.get(timeout=30).asnumpy().tolist())
    child.join()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout == "[2.0, 4.0]\n", done.stderr


def test_mutable_is_a_function_by_every_path():
    import mindspore
    import mindspore.common.mutable
    from mindspore.common import mutable
    from mindspore.common.mutable import mutable as by_module

    assert mutable is by_module is mindspore.mutable is mindspore.common.mutable
