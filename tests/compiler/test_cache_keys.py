"""Caches are keyed by values and types: what differs is computed anew, however equal it looks to `==` or `id()`."""

import gc

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore._base.keys import ByIdentity, exact

BACKENDS = ("interp", "cpu", "xla")


@pytest.fixture(params=BACKENDS)
def backend(request):
    before = ms.get_context("backend")
    ms.set_context(backend=request.param)
    yield request.param
    ms.set_context(backend=before)


def ones():
    return Tensor(np.ones(3, np.float32))


def test_sets_are_compared_by_their_elements(backend):
    scaled = ms.jit(lambda x, s: x * len(s))
    assert [float(scaled(ones(), set(range(n)))[0]) for n in (2, 3, 4, 5)] == [2, 3, 4, 5]


def test_a_set_that_grows_is_another_argument():
    scaled, chosen = ms.jit(lambda x, s: x * len(s)), {1}
    assert float(scaled(ones(), chosen)[0]) == 1
    chosen.add(2)
    assert float(scaled(ones(), chosen)[0]) == 2


@pytest.mark.parametrize("make", [bytearray, lambda n: memoryview(bytes(n)), lambda n: slice(0, n)])
def test_other_arguments_without_a_hash(make):
    measure = ms.jit(lambda x, s: x * (s.stop if isinstance(s, slice) else len(s)))
    got = []
    for n in (2, 3, 4, 5):
        got.append(float(measure(ones(), make(n))[0]))
        gc.collect()
    assert got == [2, 3, 4, 5]


def test_objects_without_a_hash_are_not_mistaken_for_those_before_them():
    class Setting:
        __slots__ = ("scale",)
        __hash__ = None

        def __init__(self, scale):
            self.scale = scale

        def __eq__(self, other):
            return True

    scaled = ms.jit(lambda x, s: x * s.scale)
    assert [float(scaled(ones(), Setting(n))[0]) for n in (2, 3, 4, 5)] == [2, 3, 4, 5]


def test_zeros_of_both_signs(backend):
    divided = ms.jit(lambda x, s: x / s)
    assert [float(divided(ones(), zero)[0]) for zero in (0.0, -0.0)] == [np.inf, -np.inf]


def test_zeros_of_both_signs_in_one_graph_and_in_two(backend):
    both = ms.jit(lambda x: (x / 0.0, x / -0.0))(ones())
    assert [float(b[0]) for b in both] == [np.inf, -np.inf]
    apart = [ms.jit(lambda x: x / 0.0), ms.jit(lambda x: x / -0.0)]
    assert [float(f(ones())[0]) for f in apart] == [np.inf, -np.inf]


def test_nan_is_compiled_once():
    shifted = ms.jit(lambda x, s: x + s)
    for _ in range(3):
        shifted(ones(), float("nan"))
    assert shifted.compile_cache_size == 1


def test_keys_of_dictionaries_keep_their_types():
    counted = ms.jit(lambda x, d: x * sum(isinstance(k, bool) for k in d))
    assert [float(counted(ones(), d)[0]) for d in ({1: 0}, {True: 0})] == [0, 1]


def test_cached_primitives_keep_the_types_of_their_attributes():
    from mindspore.ops._primitive_cache import _get_cache_prim

    class Scaled(ops.Primitive):
        def __init__(self, factor):
            super().__init__("Scaled", factor=factor)

    made = [_get_cache_prim(Scaled)(factor) for factor in (1, 1.0, True, 0.0, -0.0)]
    assert [repr(p.factor) for p in made] == ["1", "1.0", "True", "0.0", "-0.0"]
    assert _get_cache_prim(Scaled)(1.0) is made[1]
    assert _get_cache_prim(Scaled)([1]) is _get_cache_prim(Scaled)([1])


def test_the_gradient_of_other_weights():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a, self.b = Parameter(Tensor(2.0), name="a"), Parameter(Tensor(3.0), name="b")

        def construct(self, x):
            return self.a * x + self.b * x * 5

    net, make = Net(), ops.GradOperation(get_by_list=True)
    got = []
    for weight in (net.a, net.b) * 4:
        got.append(float(make(net, [weight])(Tensor(1.0))[0]))
        gc.collect()
    assert got == [1, 5] * 4


def test_gradient_functions_of_methods_do_not_pile_up():
    class Net(nn.Cell):
        def construct(self, x):
            return x * x

        def doubled(self, x):
            return 2 * x * x

    net, make = Net(), ops.GradOperation()
    assert make(net.doubled) is make(net.doubled)
    assert float(make(net.doubled)(Tensor(3.0))) == 12


def test_a_method_compiled_anew_replaces_the_old_one():
    class Net:
        scale = 1

    net = Net()
    got = []
    for n in range(4):
        Net.f = ms.jit(lambda self, x, n=n: x * n)
        got.append(float(net.f(ones())[0]))
        del Net.f
        gc.collect()
    assert got == [0, 1, 2, 3]


def test_exact_tells_types_apart_and_holds_what_it_cannot_compare():
    different = [1, 1.0, True, np.int64(1), 1 + 0j, "1", b"1", (1,), [1], (True,), {1}, {True}, frozenset({1}), {1: 1},
                 {1: True}, np.ones(1), np.ones(1, np.float32), bytearray(b"1"), slice(1), None, 0.0, -0.0]  # fmt: skip
    keys = [exact(value) for value in different]
    assert len(set(keys)) == len(keys)
    assert keys == [exact(value) for value in different]
    held = exact(Unhashable())
    assert isinstance(held, ByIdentity) and held != exact(Unhashable())


class Unhashable:
    __hash__ = None
