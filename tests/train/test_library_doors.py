"""Names that other libraries import from inside the package: they resolve, and do what those libraries need of them."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops


def test_recording_can_be_switched_off():
    from mindspore.common.api import _no_grad, _pynative_executor

    def f(x):
        assert _pynative_executor.requires_grad()
        before = _pynative_executor.enable_grad()
        _pynative_executor.set_enable_grad(False)
        assert not _pynative_executor.enable_grad()
        y = x * 2
        _pynative_executor.set_enable_grad(before)
        with _no_grad():
            z = x * 5
        return x * y + x * z

    ms.set_context(mode=ms.PYNATIVE_MODE)
    assert ms.grad(f)(Tensor(3.0)).asnumpy() == 21.0
    assert not _pynative_executor.requires_grad()
    _pynative_executor.sync()


def test_compiling_a_cell():
    from mindspore.common.api import _cell_graph_executor

    phase, new = _cell_graph_executor.compile(nn.Dense(2, 3), Tensor(np.ones((1, 2), np.float32)))
    assert new and phase.startswith("predict")
    with pytest.raises(ValueError):
        _cell_graph_executor.compile(nn.Dense(2, 3), Tensor(np.ones((1, 5), np.float32)))


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_strategy_of_a_cell(mode):
    from mindspore._c_expression.amp import AmpLevel, create_amp_strategy, pop_amp_strategy, push_amp_strategy

    ms.set_context(mode=mode)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(2, 2)

        def construct(self, x):
            y = self.dense(x)
            return y, ops.exp(y), x + x, x * 2.0

    net, x = Net(), Tensor([[1.0, 2.0]])
    assert [y.dtype for y in net(x)] == [ms.float32] * 4
    net.amp_strategy = create_amp_strategy(AmpLevel.AmpO3, ms.float16, [], [("Exp", [])])
    assert [y.dtype for y in net(x)] == [ms.float16, ms.float32, ms.float16, ms.float16]  # Python's operators, too
    net.amp_strategy = create_amp_strategy(AmpLevel.AmpO0, ms.float16, [], [])
    assert net(x)[0].dtype == ms.float32
    push_amp_strategy(AmpLevel.AmpO1, ms.float16, ["Exp"], [])
    assert ops.Exp()(x).dtype == ms.float16
    pop_amp_strategy()
    assert ops.Exp()(x).dtype == ms.float32
    with pytest.raises(RuntimeError, match="push"):
        pop_amp_strategy()


def test_black_lists_as_libraries_apply_them():
    from mindspore.train.amp import AMP_BLACK_LIST, AMP_WHITE_LIST, _auto_black_list, _auto_mixed_precision_rewrite

    x = Tensor(np.ones((1, 3), np.float32))
    net = nn.SequentialCell(nn.Dense(3, 3), nn.LayerNorm((3,)))
    assert _auto_black_list(net, AMP_BLACK_LIST, ms.float16) is net
    assert net(x).dtype == ms.float16
    assert _auto_mixed_precision_rewrite(nn.Dense(3, 3), ms.float16, white_list=AMP_WHITE_LIST)(x).dtype == ms.float32
    assert _auto_mixed_precision_rewrite(nn.Dense(3, 3), ms.float16, black_list=[])(x).dtype == ms.float32
    with pytest.raises(ValueError):
        _auto_mixed_precision_rewrite(nn.Dense(3, 3), ms.float16)


def test_classes_of_types_and_the_context():
    from mindspore._c_expression import Cell_, MSContext, TensorPy, is_reboot_node, swap_cache
    from mindspore._c_expression.typing import BFloat, Float, Number

    assert isinstance(ms.float16, Float) and not isinstance(ms.bfloat16, Float) and isinstance(ms.bfloat16, BFloat)
    assert isinstance(ms.int32, Number) and not isinstance(ms.int32, Float)
    assert MSContext.get_instance().get_ascend_soc_version() == "" and not is_reboot_node()
    assert TensorPy is ms.Tensor and Cell_ is nn.Cell
    host, device = Tensor(np.zeros((3, 2), np.float32)), Tensor(np.arange(6, dtype=np.float32).reshape(3, 2))
    swap_cache(host, device, Tensor([[2, 0], [0, 1]]), True)
    np.testing.assert_array_equal(host.asnumpy(), [[4, 5], [0, 1], [0, 0]])
    with pytest.raises(ValueError, match="block_mapping"):
        swap_cache(host, device, Tensor([1, 2]), False)
    with pytest.raises(AttributeError):
        _ = MSContext.nothing_of_the_kind


def test_registered_arguments_of_cells():
    from mindspore._extends import cell_attr_register

    class Net(nn.Cell):
        @cell_attr_register(attrs=["width"])
        def __init__(self, width, other=3):
            super().__init__()
            self.width = width

    assert Net(7).cell_init_args == "Net[7]"
    with pytest.raises(ValueError):
        cell_attr_register(attrs=3)


def test_updating_a_parameter():
    from mindspore.train._utils import _make_directory

    from mindspore.train.serialization import _update_param, tensor_to_ms_type

    param = Parameter(Tensor([1.0, 2.0]), name="p")
    _update_param(param, Parameter(Tensor([3, 4], ms.int32), name="q"), False)
    np.testing.assert_array_equal(param.asnumpy(), [3.0, 4.0])
    with pytest.raises(RuntimeError, match="shape"):
        _update_param(param, Parameter(Tensor([3.0]), name="q"), False)
    with pytest.raises(RuntimeError, match="type"):
        _update_param(param, Parameter(Tensor([3, 4], ms.int32), name="q"), True)
    assert tensor_to_ms_type["Float16"] == ms.float16 and callable(_make_directory)


def test_pieces_of_attention():
    from mindspore.ops.function import nn_func as f

    rng = np.random.default_rng(0)
    q, k = (Tensor(rng.normal(size=(2, 3, 4)).astype(np.float32)) for _ in range(2))
    w, b = rng.normal(size=(12, 4)).astype(np.float32), rng.normal(size=12).astype(np.float32)
    for inputs, flags in (((q, q, q), (True, True)), ((q, k, k), (True, False)), ((q, k, q), (False, False))):
        parts = f._in_projection_packed(*inputs, Tensor(w), Tensor(b), *flags)
        apart = f._in_projection(*inputs, *map(Tensor, np.split(w, 3)), *map(Tensor, np.split(b, 3)))
        for i, x in enumerate(inputs):
            wanted = x.asnumpy() @ w[4 * i : 4 * i + 4].T + b[4 * i : 4 * i + 4]
            np.testing.assert_allclose(parts[i].asnumpy(), wanted, rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(apart[i].asnumpy(), wanted, rtol=1e-4, atol=1e-5)
    assert f._inner_pad(Tensor([True]), (0, 1)).tolist() == [True, False]
    assert f._inner_dropout(q, 0.5, False) is q
    assert f._check_qkv_shape(3, 3, 3) and not f._check_qkv_shape(2, 2, 2)
    assert f._interpolate_ext_scale_factor_convert_size(ops.ones((1, 1, 3, 5)), (2.0, 0.5)) == (6, 2)
    assert f._interploate_ext_make_tuple(ops.ones((1, 1, 3, 5)), 2) == (2, 2)
    for call in (
        lambda: f._check_qkv_shape(3, 2, 3),
        lambda: f._check_kpm_shape(3, 3),
        lambda: f._check_attn_mask_shape(2, (3, 4), (5, 4), 3, (2, 3, 3), 2),
        lambda: f._in_projection(q, k, k, Tensor(w), Tensor(w), Tensor(w)),
    ):
        with pytest.raises(ValueError):
            call()
