"""Calling compiled graphs: results, errors, threads, control flow, the cache on disk."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from mindspore.backends.cpu import available

if not available():
    pytest.skip("the native backend is not installed", allow_module_level=True)

from tests.backend_cpu.helpers import build, check

import mindspore
from mindspore.backends.cpu import CpuBackend, cache, jit
from mindspore.compiler.fuse import flags
from mindspore.ir import AbstractTensor, AbstractTuple
from mindspore.prims import activation, gather_scatter, sorting, special_functions, values
from mindspore.prims import elementwise as ew
from mindspore.prims.active import ACTIVE
from mindspore.prims.broadcasting import ReduceSum
from mindspore.prims.primitive import Primitive

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def compiled(function, *arrays, flags=""):
    return CpuBackend(flags).compile(build(function, *arrays))


def _environment(**more):
    """For a process that imports the package and these tests."""
    path = os.pathsep.join([ROOT, os.path.join(ROOT, "src"), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, **more}


def test_results_do_not_change_later():
    x = np.arange(5, dtype=np.float32)
    executable = compiled(lambda a: a * 2, x)
    first = executable(x)[0]
    view = first[1:3]
    kept = [executable(x + i)[0] for i in range(6)]
    np.testing.assert_array_equal(first, x * 2)
    np.testing.assert_array_equal(view, (x * 2)[1:3])
    for i, k in enumerate(kept):
        np.testing.assert_array_equal(k, (x + i) * 2)


def test_memory_of_results_is_used_again():
    x = np.ones(1000, np.float32)
    executable = compiled(lambda a: a * 2, x)
    addresses = {executable(x)[0].ctypes.data for _ in range(10)}
    assert len(addresses) == 1


def test_donated_parameters_are_updated_in_place():
    """The new weight takes the old one's memory, though the old one is read elsewhere too."""
    w, g = np.arange(6, dtype=np.float32), np.ones(6, np.float32)

    def update(weight, grad):
        return ReduceSum()(weight * 3, ()), weight - grad * 0.5

    executable = CpuBackend().compile(build(update, w, g), frozenset({0}))
    mine = w.copy()
    total, new = executable(mine, g)
    assert new is mine
    np.testing.assert_array_equal(new, w - 0.5)
    assert total == 3 * w.sum()


def test_a_view_of_a_donated_parameter_shows_the_old_values():
    w = np.arange(6, dtype=np.float32)
    executable = CpuBackend().compile(build(lambda x: (x + 1, x[::-1]), w), frozenset({0}))
    new, turned = executable(w.copy())
    np.testing.assert_array_equal(new, w + 1)
    np.testing.assert_array_equal(turned, w[::-1])


def test_a_parameter_read_after_its_update_is_not_overwritten():
    w = np.arange(6, dtype=np.float32)

    def update(weight):
        new = weight * 2
        return new, ReduceSum()(sorting.Sort()(new)[0] * weight, ())

    executable = CpuBackend().compile(build(update, w), frozenset({0}))
    new, product = executable(w.copy())
    np.testing.assert_array_equal(new, w * 2)
    assert product == (w * w * 2).sum()


def test_swapped_parameters():
    a, b = np.arange(4, dtype=np.float32), np.arange(4, 8, dtype=np.float32)
    executable = CpuBackend().compile(build(lambda x, y: (y + 1, x + 1), a, b), frozenset({0, 1}))
    first, second = executable(a.copy(), b.copy())
    np.testing.assert_array_equal(first, b + 1)
    np.testing.assert_array_equal(second, a + 1)


def test_a_parameter_as_result_is_a_copy():
    x = np.ones(3, np.float32)
    out = compiled(lambda a: (a, a + 1), x)(x)
    assert not np.shares_memory(out[0], x)
    np.testing.assert_array_equal(out[0], x)


def test_one_value_as_two_results():
    check(lambda a: (lambda y: (y, y, y[1:]))(a * 2), np.ones(4, np.float32))


def test_wrong_shape_is_an_error():
    x = np.ones((2, 3), np.float32)
    with pytest.raises(ValueError, match="shape"):
        compiled(lambda a: a + 1, x)(np.ones((3, 2), np.float32))


def test_host_steps_inside_a_graph():
    """Bessel functions have no kernel: they run on the host, between kernels, within the one native call."""
    x = np.random.default_rng(0).standard_normal((4, 9)).astype(np.float32)
    executable = check(lambda a: ew.Exp()(special_functions.BesselJ0()(a * 2)) + 1, x)
    assert [name.split(":")[0] for name in executable.steps()] == ["fused", "host", "fused"]


class _Inner(Primitive):
    """`prim((a, b), c)`: the sum of a * b, and c: tensors inside a tuple, and a function that loops do not have."""

    def __init__(self) -> None:
        super().__init__("Inner")

    def infer(self, pair, c):
        return AbstractTuple((AbstractTensor(c.dtype, ()), AbstractTensor(c.dtype, c.shape)))

    def eval(self, xp, pair, c):
        return np.vdot(np.asarray(pair[0]), np.asarray(pair[1])), np.asarray(c)


def test_tensors_inside_a_tuple():
    a, b, c = (np.arange(n, n + 5, dtype=np.float32) for n in range(3))

    def function(x, y, z):
        builder = ACTIVE.builder
        pair = builder.make_tuple([builder.node_of(x * 2), builder.node_of(y)])
        out = builder.emit(_Inner(), (pair, builder.node_of(z)))
        return tuple(values.from_node(builder.get_item(out, i)) for i in range(2))

    executable = check(function, a, b, c)
    assert "host:Inner" in executable.steps()


def test_errors_of_host_steps_reach_the_caller():
    table, index = np.ones((3, 2), np.complex64), np.array([[0], [9]], np.int32)
    executable = compiled(lambda t, i: gather_scatter.TensorScatterAdd()(t, i, t[:2]), table, index)
    with pytest.raises(IndexError):
        executable(table, index)
    index[1] = 1
    executable(table, index)  # usable afterwards


def test_calls_from_several_threads():
    x = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)
    executable = compiled(lambda a: activation.Softmax(-1)(a) * 3, x)
    want = executable(x)[0].copy()
    failures = []

    def work():
        for _ in range(30):
            if not np.array_equal(executable(x)[0], want):
                failures.append(1)

    workers = [threading.Thread(target=work) for _ in range(3)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert not failures


def test_children_of_a_fork_compute():
    """Data loaders fork: a child must not wait for threads that only its parent has."""
    program = (
        "import os, signal, sys\n"
        "import numpy as np\n"
        "from mindspore.backends.cpu import CpuBackend, openmp\n"
        "from mindspore.prims import elementwise\n"
        "from tests.backend_cpu.helpers import build\n"
        "assert 'GOMP_SPINCOUNT' not in os.environ\n"  # loading the runtime leaves no traces
        "x = np.ones((500, 500), np.float32)\n"
        "run = CpuBackend(threads=2).compile(build(lambda a: elementwise.Tanh()(a), x))\n"
        "want = run(x)[0].copy()\n"
        "child = os.fork()\n"
        "signal.alarm(30)\n"
        "same = np.array_equal(run(x)[0], want)\n"
        "if not child:\n"
        "    os._exit(0 if same else 1)\n"
        "sys.exit(os.waitpid(child, 0)[1] or not same)\n"
    )
    assert subprocess.run([sys.executable, "-c", program], env=_environment(), timeout=60).returncode == 0


@pytest.mark.parametrize("side", ["end", "start"])
def test_kernels_touch_nothing_beside_their_arrays(side):
    program = [sys.executable, "-m", "tests.backend_cpu.guarded", side]
    done = subprocess.run(program, env=_environment(), cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "untouched\n"), done.stderr


@pytest.mark.parametrize("level,most", [(0, 4), (1, 3), (2, 1), (3, 1)])
def test_levels_of_fusion(level, most):
    """exp, times 2, sum, plus 1: one kernel each at level 0, one for all at level 2."""
    x = np.random.default_rng(0).standard_normal((8, 8)).astype(np.float32)
    executable = check(lambda a: ReduceSum()(ew.Exp()(a) * 2, 1) + 1, x, flags=f"--opt_level={level}")
    assert len(executable.steps()) == most


def test_flags():
    parsed = flags.parse("--opt_level=1 --dump_as_text --disable_expand_ops=Softmax,Gelu --unknown=3")
    assert (parsed.opt_level, parsed.dump_as_text, parsed.disable_expand_ops) == (1, True, ("Softmax", "Gelu"))
    with pytest.raises(ValueError, match="opt_level"):
        flags.parse("--opt_level=7")
    with pytest.raises(ValueError, match="number"):
        flags.parse("--opt_level=high")


def test_dump(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x = np.ones((2, 3), np.float32)
    compiled(lambda a: activation.Softmax(-1)(a), x, flags="--dump_as_text")
    (file,) = (tmp_path / "graph_kernel_dump").iterdir()
    text = file.read_text()
    assert "kernel 0" in text
    assert "reduce('sum'" in text
    assert "# Softmax" in text


def test_memory_report():
    x = np.ones((64, 64), np.float32)

    def chain(a):
        for _ in range(6):
            a = sorting.Sort()(a + 1)[0]
        return a

    report = compiled(chain, x).memory_report()
    assert 0 < report["peak_bytes"] < report["total_bytes"]


# -- cache --------------------------------------------------------------------------------------------------------------
IR = "define i32 @{name}(ptr %p) {{\n  ret i32 {number}\n}}\n"


def test_objects_are_cached_and_damage_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setenv("MS_COMPILER_CACHE_PATH", str(tmp_path))
    ir = IR.format(name="cached", number=7)
    body = jit.object_code(ir)
    (file,) = (tmp_path / "cpu_kernels").iterdir()
    made = []
    monkeypatch.setattr(jit, "_compile", lambda text, optimised: made.append(text) or body)
    assert jit.object_code(ir) == body
    assert not made
    whole = file.read_bytes()
    for damaged in (b"", whole[:50], b"\0" * 500, whole[:-1] + bytes([whole[-1] ^ 1])):
        file.write_bytes(damaged)
        assert jit.object_code(ir) == body
        assert made.pop() == ir
    assert cache.read(file.stem) == body


def test_objects_that_others_may_have_written_are_not_run(tmp_path, monkeypatch):
    monkeypatch.setenv("MS_COMPILER_CACHE_PATH", str(tmp_path))
    body = jit.object_code(IR.format(name="foreign", number=9))
    place = tmp_path / "cpu_kernels"
    (file,) = place.iterdir()
    assert place.stat().st_mode & 0o777 == 0o700
    assert cache.read(file.stem) == body
    for path, before in ((file, 0o600), (place, 0o700)):
        for more in (0o020, 0o002):
            path.chmod(before | more)
            assert cache.read(file.stem) is None
        path.chmod(before)
    assert cache.read(file.stem) == body
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    if user:  # root is trusted
        assert cache.read(file.stem) is None


def test_the_cache_is_in_a_folder_of_the_user_unless_another_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv("MS_COMPILER_CACHE_PATH", raising=False)
    monkeypatch.setenv("MS_COMPILER_CACHE_ENABLE", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.folder() == tmp_path / "mindspore" / "cpu_kernels"


def test_the_cache_is_asked_for_in_the_context(tmp_path, monkeypatch):
    for name in ("MS_COMPILER_CACHE_PATH", "MS_COMPILER_CACHE_ENABLE"):
        monkeypatch.delenv(name, raising=False)
    assert cache.folder() is None
    try:
        mindspore.set_context(enable_compile_cache=True, compile_cache_path=str(tmp_path))
        jit.object_code(IR.format(name="chosen", number=3))
        assert len(list((tmp_path / "cpu_kernels").iterdir())) == 1
    finally:
        mindspore.set_context(enable_compile_cache=False, compile_cache_path="")
    assert cache.folder() is None


def test_the_cache_is_bounded(tmp_path, monkeypatch):
    """What was unused for longest goes first."""
    monkeypatch.setenv("MS_COMPILER_CACHE_PATH", str(tmp_path))
    monkeypatch.setattr(cache, "LIMIT", 5000)
    monkeypatch.setattr(cache, "_LOOK_EVERY", 1)
    for number in range(10):
        cache.write(f"k{number}", bytes(900))
        os.utime(tmp_path / "cpu_kernels" / f"k{number}.o", (number, number))
        assert cache.read("k0") == bytes(900)  # used, so it stays
    files = list((tmp_path / "cpu_kernels").iterdir())
    assert sum(f.stat().st_size for f in files) <= 5000
    assert {"k0.o", "k9.o"} <= {f.name for f in files}


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("MS_COMPILER_CACHE_PATH", str(blocked))
    assert jit.object_code(IR.format(name="uncached", number=1))


def test_processes_share_the_cache(tmp_path):
    program = (
        "import numpy as np\n"
        "from mindspore.backends.cpu import CpuBackend\n"
        "from mindspore.prims import activation\n"
        "from tests.backend_cpu.helpers import build\n"
        "x = np.arange(6, dtype=np.float32).reshape(2, 3)\n"
        "y = CpuBackend().compile(build(lambda a: activation.Softmax(-1)(a), x))(x)[0]\n"
        "assert abs(y.sum() - 2) < 1e-5\n"
    )
    environment = _environment(MS_COMPILER_CACHE_PATH=str(tmp_path))
    workers = [subprocess.Popen([sys.executable, "-c", program], env=environment) for _ in range(3)]
    assert [w.wait() for w in workers] == [0, 0, 0]
    assert all(f.suffix == ".o" for f in (tmp_path / "cpu_kernels").iterdir())
