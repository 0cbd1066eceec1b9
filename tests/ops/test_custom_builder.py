"""C++ sources built and imported as modules."""

import shutil

import pytest

from mindspore import ops

SOURCE = """
#include <Python.h>
static PyObject *add(PyObject *, PyObject *args) {
  double a, b;
  return PyArg_ParseTuple(args, "dd", &a, &b) ? PyFloat_FromDouble(a + b + OFFSET) : nullptr;
}
static PyMethodDef methods[] = {{"add", add, METH_VARARGS, ""}, {nullptr, nullptr, 0, nullptr}};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "adder", "", -1, methods};
extern "C" __attribute__((visibility("default"))) PyObject *PyInit_adder() { return PyModule_Create(&definition); }
"""
needs_compiler = pytest.mark.skipif(not shutil.which("c++") and not shutil.which("g++"), reason="no C++ compiler")


@needs_compiler
def test_build_and_load(tmp_path):
    file = tmp_path / "adder.cpp"
    file.write_text(SOURCE)
    builder = ops.CustomOpBuilder("adder", str(file), backend="CPU", cflags="-DOFFSET=0.5", build_dir=str(tmp_path))
    path = builder.build()
    assert builder.load().add(1.0, 2.0) == 3.5
    assert builder.build() == path  # nothing changed, nothing is compiled again
    file.write_text(SOURCE.replace("a + b", "a - b"))
    assert builder.build() != path
    with pytest.raises(RuntimeError, match="could not be compiled"):
        ops.CustomOpBuilder("adder", [str(file)], build_dir=str(tmp_path)).load()  # OFFSET is not defined


def test_mistakes(tmp_path):
    with pytest.raises(ValueError, match="no file"):
        ops.CustomOpBuilder("adder", str(tmp_path / "none.cpp")).build()
    for make in (
        lambda: ops.CustomOpBuilder("no name", "a.cpp"),
        lambda: ops.CustomOpBuilder("adder", "a.cpp", backend="Ascend"),
        lambda: ops.CustomOpBuilder("adder", []),
    ):
        with pytest.raises(ValueError, match="CustomOpBuilder"):
            make()
    with pytest.raises(TypeError, match="include_paths"):
        ops.CustomOpBuilder("adder", "a.cpp", include_paths=3)
    builder = ops.CustomOpBuilder("adder", "a.cpp", include_paths="here", ldflags="-lm")
    assert builder.get_sources() == ["a.cpp"] and "here" in builder.get_include_paths()
    assert "-fPIC" in builder.get_cflags() and "-lm" in builder.get_ldflags()
