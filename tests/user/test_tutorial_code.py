"""Pieces of language and data pipelines as tutorials use them."""

import numpy as np
import pytest

import mindspore as ms
import mindspore.dataset as ds
from mindspore import Parameter, Tensor, nn, ops


def test_primitives_take_arguments_by_name():
    x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))

    def use(x):
        total = ops.ReduceSum(True)(x, axis=1)
        product = ops.MatMul(transpose_b=True)(input=x, mat2=x)
        return total, product, ops.Transpose()(x, dims=(1, 0)), ops.Mul()(x, y=3.0), ops.Concat(1)(tensors=(x, x))

    array = x.asnumpy()
    expected = (array.sum(1, keepdims=True), array @ array.T, array.T, array * 3, np.concatenate([array, array], 1))
    for out in (use(x), ms.jit(use)(x)):
        for found, wanted in zip(out, expected, strict=True):
            np.testing.assert_allclose(found.asnumpy(), wanted)
    weight = Parameter(Tensor([1.0, 2.0]), name="weight")
    assert ops.ApplyGradientDescent()(weight, alpha=0.5, grad=Tensor([2.0, 2.0])).tolist() == [0.0, 1.0]
    with pytest.raises(TypeError, match="'dim' by name, but its arguments are: x, axis"):
        ops.ReduceSum()(x, dim=1)


def test_partial_fixes_arguments_by_name():
    def power(base, exponent):
        return base**exponent

    @ms.jit
    def cube_of_two():
        return ops.partial(power, exponent=3)(base=2)

    assert cube_of_two() == 8


def test_compiled_functions_return_what_iterators_run_through():
    def next_number(v):
        return v + 1

    @ms.jit
    def sequences():
        table = {"a": 1, "b": 2}
        return (
            range(1, 6, 2), map(next_number, [1, 2]), map(next_number, (1, 2)), filter(lambda v: v > 1, (1, 2, 3)),
            (v * v for v in (2, 3)), zip((1, 2), (3, 4)), table.keys(), table.values(), table.items(),
        )  # fmt: skip

    assert sequences() == (
        (1, 3, 5), [2, 3], (2, 3), [2, 3], [4, 9], ((1, 3), (2, 4)), ("a", "b"), (1, 2), [("a", 1), ("b", 2)],
    )  # fmt: skip


def test_dictionaries_know_has_key_in_graphs():
    @ms.jit
    def known(x):
        table = {"a": x}
        return table.has_key("a"), table.has_key("b")

    assert known(Tensor(1)) == (True, False)


def test_a_number_is_assigned_to_a_parameter():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.level = Parameter(Tensor(3.0), name="level")

        @ms.jit
        def construct(self, x):
            self.level = 5
            return x + self.level

    net = Net()
    assert net(Tensor(1.0)) == 6.0 and net.level.asnumpy() == 5.0


class _Chosen:
    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, i):
        return self.rows[i]

    def __len__(self):
        return len(self.rows)


class _Iterated(ds.Sampler):
    def __iter__(self):
        yield from [2, 0, 2, 2, 1]


@pytest.mark.parametrize("sampler, rows", [(_Chosen([1, 1, 0, 2, 1]), [5, 5, 4, 6, 5]), (_Iterated(), [6, 4, 6, 6, 5])])
@pytest.mark.parametrize("source", [ds.NumpySlicesDataset, ds.GeneratorDataset])
def test_samplers_may_visit_rows_again(source, sampler, rows):
    data = source([4, 5, 6], ["x"], sampler=sampler)
    assert [int(x) for (x,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)] == rows
    assert data.get_dataset_size() == 5


def test_random_tensors_of_a_shape_and_a_type():
    assert ms.mint.randn((2, 3), ms.float32).shape == ms.mint.rand([2, 3], ms.float32).shape == (2, 3)


def test_a_profiler_may_be_started_again_and_write_by_default(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    profiler = ms.profiler.profile(on_trace_ready=ms.profiler.tensorboard_trace_handler)
    profiler.start()
    ops.exp(Tensor([1.0]))
    profiler.step()
    profiler.stop()
    assert any((tmp_path / "data").iterdir())


def test_notes_are_written_into_exported_models(tmp_path):
    def annotate(model):
        model.producer_name = "someone"
        model.user_info["version"] = "7.1"

    ms.export(
        nn.Dense(2, 3),
        Tensor([[1.0, 2.0]]),
        file_name=str(tmp_path / "net"),
        file_format="MINDIR",
        custom_func=annotate,
    )
    content = (tmp_path / "net.mindir").read_bytes()
    assert b"someone" in content and b"version" in content and b"7.1" in content
    assert nn.GraphCell(ms.load(str(tmp_path / "net.mindir")))(Tensor([[1.0, 2.0]])).shape == (1, 3)


def test_older_homes_are_attributes_too():
    assert ops.function.array_func.concat is ops.concat
    assert nn.probability.distribution.Normal(0.0, 1.0).prob(Tensor(0.0)).item() == pytest.approx(0.3989, abs=1e-4)
    assert not hasattr(ops.function, "no_such_func")


def test_hooks_for_saved_tensors_decorate():
    @ms.register_saved_tensors_hooks(lambda x: x, lambda x: x)
    def square(x):
        return x * x

    assert ms.grad(square)(Tensor(3.0)) == 6.0


def test_generated_names_are_found_under_their_variants():
    generated, x = ops.auto_generate, Tensor([[1.0, 5.0], [3.0, 2.0]])
    assert generated.ExpandDimsView()(x, 0).shape == (1, 2, 2)
    assert generated.transpose_ext_view(x, 0, 1).tolist() == [[1.0, 3.0], [5.0, 2.0]]
    assert generated.add_ext(x, x, 3).tolist() == [[4.0, 20.0], [12.0, 8.0]]
    assert generated.clamp_scalar(x, 2, 3).tolist() == [[2.0, 3.0], [3.0, 2.0]]
    values, places = generated.MaxDim()(x, 0, False)
    assert values.tolist() == [3.0, 5.0] and places.tolist() == [1, 0]


def test_registrations_take_what_their_kind_takes_by_position():
    info = (
        ops.TBERegOp("Abs").input(0, "x", None, "required", None).attr("mode", "required", "int", "all").get_op_info()
    )
    assert info["inputs"][0] == {"index": 0, "name": "x", "param_type": "required"}
    expected = {"name": "mode", "param_type": "required", "value_type": "int", "value": "all"}
    assert info["attr"][0] == expected
    assert ops.AiCPURegOp("Own").attr("depth", "int").get_op_info()["attr"][0] == {"name": "depth", "value_type": "int"}


def test_one_element_as_a_number():
    assert ms.mint.item(Tensor([2.5])) == 2.5
    assert ms.tools.get_sdc_detect_result() is False
