"""Sparse tensors, boxes, and operations of the user's own."""

import os
import shutil
import subprocess

import numpy as np
import pytest
import scipy.sparse

import mindspore as ms
from mindspore import COOTensor, CSRTensor, RowTensor, Tensor, ops

RNG = np.random.default_rng(6)
D = RNG.normal(size=(4, 5)) * (RNG.uniform(size=(4, 5)) > 0.5)
S = scipy.sparse.csr_matrix(D)


def test_conversions_keep_the_matrix():
    x = Tensor(D)
    for sparse in (x.to_coo(), x.to_csr(), x.to_coo().to_csr(), x.to_csr().to_coo(), ops.dense_to_sparse_csr(x)):
        np.testing.assert_array_equal(sparse.to_dense().asnumpy(), D)
    repeated = COOTensor(Tensor([[0, 1], [0, 1]]), Tensor([1.0, 2.0]), (2, 2))
    assert repeated.to_dense().tolist() == [[0, 3], [0, 0]]
    assert repeated.coalesce().values.tolist() == [3.0]


def test_products_sums_and_arithmetic():
    c, m = Tensor(D).to_csr(), RNG.normal(size=(5, 3))
    np.testing.assert_allclose(c.mm(Tensor(m)).asnumpy(), S @ m)
    np.testing.assert_allclose(c.mv(Tensor(m[:, 0])).asnumpy(), S @ m[:, 0])
    np.testing.assert_allclose(c.sum(1).asnumpy(), D.sum(1, keepdims=True))
    np.testing.assert_allclose(c.sum(0).asnumpy(), D.sum(0, keepdims=True))
    np.testing.assert_allclose((c + c).to_dense().asnumpy(), 2 * D)
    np.testing.assert_allclose((c * Tensor(D + 1)).to_dense().asnumpy(), D * (D + 1))
    np.testing.assert_allclose(ops.coo_sin(Tensor(D).to_coo()).to_dense().asnumpy(), np.sin(D))
    e = np.where(D != 0, np.exp(D), 0)
    np.testing.assert_allclose(ops.csr_softmax(c, ms.float64).to_dense().asnumpy(), e / e.sum(1, keepdims=True))
    coo = Tensor(D).to_coo()
    out = ops.SparseTensorDenseMatmul(adjoint_st=True)(coo.indices, coo.values, (4, 5), Tensor(RNG.normal(size=(4, 2))))
    assert out.shape == (5, 2)


def test_gradients_reach_the_values_also_when_compiled():
    c, m = Tensor(D).to_csr(), Tensor(RNG.normal(size=(5, 3)))

    def f(values):
        return CSRTensor(c.indptr, c.indices, values, (4, 5)).mm(m).sum()

    expected = m.asnumpy().sum(1)[S.indices]
    np.testing.assert_allclose(ms.grad(f)(c.values).asnumpy(), expected)
    np.testing.assert_allclose(ms.jit(ms.grad(f))(c.values).asnumpy(), expected)


def test_rows_and_bad_parts():
    row = RowTensor(Tensor([1]), Tensor([[1.0, 2.0]]), (3, 2))
    assert row.to_dense().tolist() == [[0, 0], [1, 2], [0, 0]]
    for make in (
        lambda: COOTensor(Tensor([[0, 1]]), Tensor([1.0, 2.0]), (2, 2)), lambda: COOTensor(Tensor([[0.5, 1]]), Tensor([1.0]), (2, 2)),
        lambda: CSRTensor(Tensor([0, 1]), Tensor([0]), Tensor([1.0]), (2, 2)), lambda: RowTensor(Tensor([1]), Tensor([[1.0]]), (3, 2)),
        lambda: COOTensor([[0, 1]], Tensor([1.0]), (2, 2)), lambda: COOTensor(Tensor([[0, 1]]), Tensor([1.0]), (2, -2)),
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError)):
            make()


# -- boxes --------------------------------------------------------------------------------------------------------------
def test_boxes():
    boxes = np.array([[0, 0, 9, 9], [0, 0, 4, 9], [20, 20, 29, 29]], np.float32)
    overlap = ops.IOU()(Tensor(boxes), Tensor(boxes[:1])).asnumpy()
    np.testing.assert_allclose(overlap, [[1.0, 0.5, 0.0]])
    encoded = ops.BoundingBoxEncode()(Tensor(boxes), Tensor(boxes + 2))
    decoded = ops.BoundingBoxDecode(max_shape=(100, 100))(Tensor(boxes), encoded)
    np.testing.assert_allclose(decoded.asnumpy(), boxes + 2, 1e-4)
    scored = np.concatenate([boxes, [[0.5], [0.9], [0.7]]], 1).astype(np.float32)
    _, index, kept = ops.NMSWithMask(0.4)(Tensor(scored))
    assert index.tolist() == [0, 1, 2] and kept.tolist() == [True, True, False]
    assert ops.CheckValid()(Tensor(boxes), Tensor([25.0, 25.0, 1.0])).tolist() == [True, True, False]


def test_regions_of_a_linear_image_are_linear():
    y, x = np.mgrid[0:6, 0:6]
    features = Tensor((2 * y + 3 * x).astype(np.float32)[None, None])
    out = ops.ROIAlign(2, 2, 1.0, 2, 0)(features, Tensor([[0.0, 1.0, 1.0, 3.0, 3.0]])).asnumpy()[0, 0]
    np.testing.assert_allclose(
        out, [[2 * 1.5 + 3 * 1.5, 2 * 1.5 + 3 * 2.5], [2 * 2.5 + 3 * 1.5, 2 * 2.5 + 3 * 2.5]], 1e-5
    )
    image = features.transpose(0, 2, 3, 1)
    crop = ops.CropAndResize()(image, Tensor([[0.2, 0.2, 0.8, 0.8]]), Tensor([0], ms.int32), (2, 2)).asnumpy()
    np.testing.assert_allclose(crop[0, :, :, 0], [[5, 14], [11, 20]], 1e-5)


# -- the user's own -----------------------------------------------------------------------------------------------------
def test_python_functions_run_and_differentiate_in_both_modes():
    square = ops.Custom(lambda x: x * x, lambda x: x, lambda x: x, "pyfunc", lambda x, out, dout: (2 * x * dout,))
    x = Tensor([1.0, 3.0])
    for wrap in (lambda f: f, ms.jit):
        assert wrap(lambda x: square(x) + 1)(x).tolist() == [2, 10]
        assert wrap(ms.grad(lambda x: square(x).sum()))(x).tolist() == [2, 6]
    for shape, dtype, result in (((2,), ms.float32, [1, 9]), ((), ms.int32, 5), (((2,),), (ms.float32,), [[1, 9]])):  # as values
        values = np.array([1.0, 9.0], np.float32) if shape else 5
        given = ops.Custom(lambda x, values=values: values, shape, dtype, "pyfunc")
        for wrap in (lambda f: f, ms.jit):
            found = wrap(given)(x)
            assert (found.tolist() if not isinstance(found, tuple) else [t.tolist() for t in found]) == result
    two = ops.PyFunc(lambda a: (a + 1, a * 2), [ms.float32], [(2,)], [ms.float32, ms.float32], [(2,), (2,)])
    assert [t.tolist() for t in two(x)] == [[2, 4], [2, 6]]
    wrong = ops.Custom(lambda x: x[:1], lambda x: x, lambda x: x)
    with pytest.raises(ValueError, match="declared"):
        wrong(x)


def test_hybrid_kernels():
    @ops.kernel
    def outer(a, b):
        c = output_tensor((a.shape[0], b.shape[0]), a.dtype)  # noqa: F821 - known inside kernels
        for i0 in range(a.shape[0]):
            for i1 in range(b.shape[0]):
                c[i0, i1] = a[i0] * b[i1]
        return c

    op = ops.Custom(outer, func_type="hybrid")
    assert op(Tensor([1.0, 2.0]), Tensor([3.0, 4.0, 5.0])).tolist() == [[3, 4, 5], [6, 8, 10]]


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_functions_of_shared_libraries(tmp_path):
    source = tmp_path / "add.c"
    source.write_text(
        "#include <stdint.h>\n"
        "int add(int n, void **p, int *ndims, int64_t **shapes, const char **dtypes, void *stream, void *extra) {\n"
        "  float *a = p[0], *b = p[1], *c = p[2];\n"
        "  for (int64_t i = 0; i < shapes[0][0]; i++) c[i] = a[i] + b[i];\n"
        "  return n == 3 ? 0 : 1;\n}\n"
    )
    library = tmp_path / "add.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    op = ops.Custom(f"{library}:add", lambda a, b: a, lambda a, b: a, "aot")
    assert op(Tensor([1.0, 2.0]), Tensor([3.0, 4.0])).tolist() == [4, 6]
    with pytest.raises(ValueError, match="cannot be loaded"):
        ops.Custom(f"{library}:missing", lambda a: a, lambda a: a, "aot")


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_a_source_file_is_compiled(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    source = tmp_path / "twice.c"
    text = (
        "#include <stdint.h>\n"
        "int twice(int n, void **p, int *ndims, int64_t **shapes, const char **dtypes, void *stream, void *extra) {\n"
        "  for (int64_t i = 0; i < shapes[0][0]; i++) ((float *)p[1])[i] = FACTOR * ((float *)p[0])[i];\n"
        "  return 0;\n}\n"
    )
    for factor in (2, 3):  # what has changed is compiled again
        source.write_text(text.replace("FACTOR", str(factor)))
        op = ops.Custom(f"{source}:twice", lambda a: a, lambda a: a, "aot")
        for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
            with ms.context.local_context(mode=mode):
                assert ms.jit(lambda x, op=op: op(x))(Tensor([1.0, 2.0])).tolist() == [factor, 2 * factor]
    source.write_text("int twice(")
    with pytest.raises(RuntimeError, match=r"cannot be compiled:\n.*error"):
        ops.Custom(f"{source}:twice", lambda a: a, lambda a: a, "aot")
    assert [p.suffix for p in (tmp_path / f"mindspore_custom_{os.getuid()}").iterdir()] == [".so", ".so"]
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(RuntimeError, match="needs the compiler 'no-such-compiler'"):
        ops.Custom(f"{source}:twice", lambda a: a, lambda a: a, "aot")


def test_mistakes_with_compiled_operations(tmp_path, monkeypatch):
    with pytest.raises(TypeError, match="must be of type str"):
        ops.Custom(None, lambda a: a, lambda a: a, "aot")
    with pytest.raises(TypeError, match="should be like 'file_name:func_name'"):
        ops.Custom("add", None, None, "aot")
    elsewhere = ops.CustomRegOp("add").target("Ascend").get_op_info()
    op = ops.Custom("add", lambda a: a, lambda a: a, "aot", reg_info=elsewhere)
    with pytest.raises(RuntimeError, match="is made for Ascend"):
        op(Tensor([1.0]))
    monkeypatch.setenv("MS_CUSTOM_AOT_WHITE_LIST", str(tmp_path))
    with pytest.raises(TypeError, match="the legal path for the file is"):
        ops.Custom("/usr/lib/add.so:add", lambda a: a, lambda a: a, "aot")


_WITH_EXTRAS = """
#include <stdexcept>
#include "custom_aot_extra.h"
struct Kept : public AotKernelData { float scale; std::vector<float> shifts; };
extern "C" int axpyInit(int *ndims, int64_t **shapes, const char **dtypes, AotExtra *extra) {
  if (ndims[0] == 3) throw std::runtime_error("three dimensions");
  if (ndims[0] == 4) return 7;
  auto kept = new Kept;
  kept->scale = extra->Attr<float>("scale");
  kept->shifts = extra->Attr<std::vector<float>>("shifts");
  extra->SetKernelData(kept);
  size_t n = 1;
  for (int i = 0; i < ndims[0]; i++) n *= shapes[0][i];
  extra->SetWorkSpace({n * sizeof(float)});
  return extra->HasAttr("scale") && !extra->HasAttr("nothing") ? 0 : 1;
}
extern "C" std::vector<int64_t> axpyInferShape(int *ndims, int64_t **shapes, AotExtra *extra) {
  std::vector<int64_t> out(shapes[0], shapes[0] + ndims[0]);
  if (extra->Attr<bool>("flat")) { int64_t n = 1; for (auto s : out) n *= s; return {n}; }
  return out;
}
extern "C" int axpy(int n, void **p, int *ndims, int64_t **shapes, const char **dtypes, void *stream, void *extra) {
  auto kept = static_cast<Kept *>(static_cast<AotExtra *>(extra)->KernelData());
  float *a = (float *)p[0], *b = (float *)p[1], *out = (float *)p[2], *room = (float *)p[3];
  int64_t size = 1;
  for (int i = 0; i < ndims[0]; i++) size *= shapes[0][i];
  for (int64_t i = 0; i < size; i++) room[i] = a[i] + b[i] * kept->scale;
  for (int64_t i = 0; i < size; i++) out[i] = room[i] + kept->shifts[i % kept->shifts.size()];
  return n == 4 ? 0 : 1;
}
"""
#: the parts of the interface that the source above uses
_INTERFACE = """
#pragma once
#include <cstdint>
#include <string>
#include <vector>
class AotKernelData { public: virtual ~AotKernelData() = default; };
class AotExtra {
 public:
  virtual ~AotExtra() = default;
  virtual bool HasAttr(std::string name) = 0;
  template <typename T> T Attr(std::string name);
  void SetWorkSpace(const std::vector<size_t> &sizes) { workspace_ = sizes; }
  void SetKernelData(AotKernelData *data) { data_ = data; }
  AotKernelData *KernelData() const { return data_; }
 private:
  virtual bool B(std::string name) = 0;
  virtual int64_t I(std::string name) = 0;
  virtual float F(std::string name) = 0;
  virtual std::string S(std::string name) = 0;
  virtual std::vector<int64_t> IV(std::string name) = 0;
  virtual std::vector<float> FV(std::string name) = 0;
  std::vector<size_t> workspace_;
  AotKernelData *data_{nullptr};
};
template <> inline bool AotExtra::Attr(std::string name) { return B(name); }
template <> inline float AotExtra::Attr(std::string name) { return F(name); }
template <> inline std::vector<float> AotExtra::Attr(std::string name) { return FV(name); }
"""


@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")
def test_attributes_workspaces_and_shapes_of_library_functions(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "custom_aot_extra.h").write_text(_INTERFACE)
    source = tmp_path / "axpy.cc"
    source.write_text(_WITH_EXTRAS)
    library = tmp_path / "older.so"  # with strings as they were before C++ 11
    subprocess.run(["c++", "-D_GLIBCXX_USE_CXX11_ABI=0", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)

    def record(**attributes):
        made = ops.CustomRegOp("axpy").input(0, "a").input(1, "b").output(0, "out")
        made = made.dtype_format(*3 * (ops.DataType.None_None,))
        for name, value in attributes.items():
            made.attr(name, "required", "all", **({} if value is None else {"value": value}))
        return made.target("CPU").get_op_info()

    a, b = (RNG.normal(size=(2, 3)).astype(np.float32) for _ in range(2))
    for file in (source, library):
        for flat in (False, True):
            op = ops.Custom(f"{file}:axpy", None, ms.float32, "aot", reg_info=record(scale=None, shifts=[1.0, 2.0], flat=flat))
            for wrap in (lambda f: f, ms.jit):
                for scale in (2.0, 3):  # given behind the inputs
                    expected = a + scale * b + np.resize([1, 2], 6).reshape(2, 3)
                    found = wrap(lambda x, y, scale=scale, op=op: op(x, y, scale))(Tensor(a), Tensor(b))
                    np.testing.assert_allclose(found.asnumpy(), expected.reshape(6 if flat else (2, 3)), rtol=1e-6)
                with pytest.raises(RuntimeError, match=r"'Init' of .*failed: three dimensions"):
                    wrap(lambda x, op=op: op(x, x, 1.0))(Tensor(a[None]))
                with pytest.raises(RuntimeError, match="failed with status 7"):
                    wrap(lambda x, op=op: op(x, x, 1.0))(Tensor(a[None, None]))
    without = ops.Custom(f"{source}:axpy", lambda x, y: x, lambda x, y: x, "aot")
    with pytest.raises(RuntimeError, match="there is no attribute 'scale' that is a float"):
        without(Tensor(a), Tensor(b))
    without.add_prim_attr("scale", 1).add_prim_attr("shifts", [0])
    np.testing.assert_allclose(without(Tensor(a), Tensor(b)).asnumpy(), a + b, rtol=1e-6)


def test_registration_records():
    info = ops.CustomRegOp("mine").input(0, "x").output(0, "y").dtype_format(ops.DataType.F32_Default).get_op_info()
    assert info["op_name"] == "mine" and info["inputs"] == [{"index": 0, "name": "x"}]
    assert ops.DataType.F16_5HD == ("float16", "NC1HWC0")
    with pytest.raises(AttributeError):
        ops.DataType.F99_Default  # noqa: B018
