"""Caffe's files through Converter and Model, beside OpenCV's reader of them."""

import numpy as np
import pytest

import mindspore_lite as mslite
from mindspore_lite.importers import prototxt
from mindspore_lite.importers.caffe import Blob, BlobShape, LayerWeights, NetWeights

rng = np.random.default_rng(8)

NET = """
name: "small"  # a comment
layer { name: "data" type: "Input" top: "data" input_param { shape: { dim: 1 dim: 3 dim: 15 dim: 13 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
        convolution_param { num_output: 8 kernel_size: 3 pad: 1 stride: 2 } }
layer { name: "norm" type: "BatchNorm" bottom: "conv" top: "conv" batch_norm_param { use_global_stats: true eps: 0.001 } }
layer { name: "scale" type: "Scale" bottom: "conv" top: "conv" scale_param { bias_term: true } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" relu_param { negative_slope: 0.1 } }
layer { name: "deep" type: "Convolution" bottom: "conv" top: "deep"
        convolution_param { num_output: 8 kernel_h: 3 kernel_w: 1 pad_h: 1 pad_w: 0 group: 8 bias_term: false } }
layer { name: "prelu" type: "PReLU" bottom: "deep" top: "bent" }
layer { name: "sum" type: "Eltwise" bottom: "conv" bottom: "bent" top: "sum" eltwise_param { operation: SUM coeff: 1 coeff: -0.5 } }
layer { name: "both" type: "Concat" bottom: "sum" bottom: "conv" top: "both" }
layer { name: "lrn" type: "LRN" bottom: "both" top: "lrn" lrn_param { local_size: 3 alpha: 0.1 beta: 0.75 } }
layer { name: "pool" type: "Pooling" bottom: "lrn" top: "pool" pooling_param { pool: MAX kernel_size: 3 stride: 2 } }
layer { name: "mean" type: "Pooling" bottom: "pool" top: "mean" pooling_param { pool: AVE kernel_size: 2 stride: 2 } }
layer { name: "drop" type: "Dropout" bottom: "mean" top: "mean" }
layer { name: "fc" type: "InnerProduct" bottom: "mean" top: "fc" inner_product_param { num_output: 5 } }
layer { name: "prob" type: "Softmax" bottom: "fc" top: "prob" }
layer { name: "accuracy" type: "Accuracy" bottom: "fc" bottom: "label" top: "accuracy" include { phase: TEST } }
"""
WEIGHTS = {
    "conv": [(8, 3, 3, 3), (8,)], "norm": [(8,), (8,), (1,)], "scale": [(8,), (8,)], "deep": [(8, 1, 3, 1)], "prelu": [(8,)],
    "fc": [(5, 64), (5,)],
}  # fmt: skip


def blob(array):
    return Blob(data=array.ravel().tolist(), shape=BlobShape(dim=list(array.shape)))


def weights():
    made = {name: [rng.uniform(0.2, 1, shape).astype(np.float32) for shape in shapes] for name, shapes in WEIGHTS.items()}
    return NetWeights(layer=[LayerWeights(name=name, blobs=[blob(a) for a in arrays]) for name, arrays in made.items()]).encode()


@pytest.fixture
def files(tmp_path):
    (tmp_path / "net.prototxt").write_text(NET)
    (tmp_path / "net.caffemodel").write_bytes(weights())
    return str(tmp_path / "net.prototxt"), str(tmp_path / "net.caffemodel")


def convert(structure, content, tmp_path):
    mslite.Converter().convert(mslite.FmkType.CAFFE, structure, str(tmp_path / "out"), content)
    model = mslite.Model()
    model.build_from_file(str(tmp_path / "out.ms"), mslite.ModelType.MINDIR_LITE)
    return model


def test_a_network(files, tmp_path):
    dnn = pytest.importorskip("cv2").dnn
    if not hasattr(dnn, "readNetFromCaffe"):
        pytest.skip("this OpenCV does not read Caffe's files")
    known = NET.partition('layer { name: "accuracy"')[0]
    (tmp_path / "deploy.prototxt").write_text(known)
    x = rng.standard_normal((1, 3, 15, 13)).astype(np.float32)
    net = dnn.readNetFromCaffe(str(tmp_path / "deploy.prototxt"), files[1])
    net.setInput(x)
    wanted = net.forward("prob")
    model = convert(*files, tmp_path)
    assert [t.name for t in model.get_inputs()] == ["data"] and [t.name for t in model.get_outputs()] == ["prob"]
    found = model.predict([mslite.Tensor(x)])[0].get_data_to_numpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_weights(tmp_path):
    """Filters of one pixel, normalised, then a product: a few lines of NumPy."""
    kept = NET.split("\nlayer")
    text = "\nlayer".join(part for part in kept if any(f'"{n}" type' in part for n in ("data", "conv", "norm", "scale", "fc")))
    text = text.replace("kernel_size: 3 pad: 1 stride: 2", "kernel_size: 1").replace('bottom: "mean"', 'bottom: "conv"')
    (tmp_path / "net.prototxt").write_text("layer" + text)
    shapes = {**WEIGHTS, "conv": [(8, 3, 1, 1), (8,)], "fc": [(5, 8 * 15 * 13), (5,)]}
    made = {name: [rng.uniform(0.2, 1, shape).astype(np.float32) for shape in shapes[name]] for name in ("conv", "norm", "scale", "fc")}
    layers = [LayerWeights(name=name, blobs=[blob(a) for a in arrays]) for name, arrays in made.items()]
    (tmp_path / "net.caffemodel").write_bytes(NetWeights(layer=layers).encode())
    x = rng.standard_normal((1, 3, 15, 13)).astype(np.float32)
    (w, b), (mean, variance, factor), (gamma, beta), (matrix, bias) = made.values()
    rows = x.transpose(0, 2, 3, 1) @ w[:, :, 0, 0].T + b
    rows = (rows - mean / factor) / np.sqrt(variance / factor + 1e-3) * gamma + beta
    wanted = rows.transpose(0, 3, 1, 2).reshape(1, -1) @ matrix.T + bias
    model = convert(str(tmp_path / "net.prototxt"), str(tmp_path / "net.caffemodel"), tmp_path)
    np.testing.assert_allclose(model.predict([mslite.Tensor(x)])[0].get_data_to_numpy(), wanted, rtol=1e-4)


@pytest.mark.parametrize(
    ("layer", "function"),
    [
        ('type: "Power" power_param { power: 2 scale: 0.5 shift: 1 }', lambda x: (0.5 * x + 1) ** 2),
        ('type: "TanH"', np.tanh),
        ('type: "AbsVal"', np.abs),
        ('type: "Flatten"', lambda x: x.reshape(2, -1)),
        ('type: "Permute" permute_param { order: 0 order: 2 order: 3 order: 1 }', lambda x: x.transpose(0, 2, 3, 1)),
        ('type: "Reshape" reshape_param { shape { dim: 0 dim: -1 dim: 2 } }', lambda x: x.reshape(2, -1, 2)),
        ('type: "Pooling" pooling_param { pool: AVE global_pooling: true }', lambda x: x.mean((2, 3), keepdims=True)),
        ('type: "ShuffleChannel" shuffle_channel_param { group: 2 }', lambda x: x.reshape(2, 2, 2, 2, 3).swapaxes(1, 2).reshape(x.shape)),
        ('type: "Eltwise" bottom: "data" eltwise_param { operation: PROD }', lambda x: x * x),
        ('type: "ArgMax" argmax_param { axis: 1 }', lambda x: x.argmax(1, keepdims=True).astype(np.float32)),
    ],
)  # fmt: skip
def test_layers(layer, function, tmp_path):
    (tmp_path / "net.prototxt").write_text(
        f'input: "data" input_dim: 2 input_dim: 4 input_dim: 2 input_dim: 3\nlayer {{ name: "y" bottom: "data" top: "y" {layer} }}'
    )
    (tmp_path / "net.caffemodel").write_bytes(NetWeights().encode() or b"\x0a\x01x")
    model = convert(str(tmp_path / "net.prototxt"), str(tmp_path / "net.caffemodel"), tmp_path)
    x = rng.standard_normal((2, 4, 2, 3)).astype(np.float32)
    np.testing.assert_allclose(model.predict([mslite.Tensor(x)])[0].get_data_to_numpy(), function(x), rtol=1e-5, atol=1e-6)


def test_parts_of_a_tensor(tmp_path):
    (tmp_path / "net.prototxt").write_text(
        'input: "data" input_dim: 2 input_dim: 4 input_dim: 2 input_dim: 3\n'
        'layer { name: "s" type: "Slice" bottom: "data" top: "a" top: "b" slice_param { axis: 1 slice_point: 1 } }'
    )
    (tmp_path / "net.caffemodel").write_bytes(b"\x0a\x01x")
    model = convert(str(tmp_path / "net.prototxt"), str(tmp_path / "net.caffemodel"), tmp_path)
    x = rng.standard_normal((2, 4, 2, 3)).astype(np.float32)
    first, second = (t.get_data_to_numpy() for t in model.predict([mslite.Tensor(x)]))
    assert (first == x[:, :1]).all() and (second == x[:, 1:]).all()


def test_what_is_wrong_is_said(files, tmp_path):
    with pytest.raises(RuntimeError, match="weight_file"):
        convert(files[0], "", tmp_path)
    (tmp_path / "bad.prototxt").write_text(NET.replace('"Softmax"', '"Sharpmax"').replace('"LRN"', '"Blurr"'))
    with pytest.raises(RuntimeError, match=r"Blurr \(at lrn\); Sharpmax \(at prob\)"):
        convert(str(tmp_path / "bad.prototxt"), files[1], tmp_path)
    (tmp_path / "bad.prototxt").write_text(NET.replace('type: "Input"', 'type: "Data"'))
    with pytest.raises(RuntimeError, match=r"deploy\.prototxt"):
        convert(str(tmp_path / "bad.prototxt"), files[1], tmp_path)


def test_damaged_files(files, tmp_path):
    text, content = NET.encode(), weights()
    for number in range(60):
        damaged = bytearray(text if number % 2 else content)
        damaged[int(rng.integers(len(damaged)))] ^= 1 << int(rng.integers(8))
        part = damaged[: int(rng.integers(len(damaged) // 2, len(damaged) + 1))]
        (tmp_path / "bad.prototxt").write_bytes(part if number % 2 else text)
        (tmp_path / "bad.caffemodel").write_bytes(content if number % 2 else part)
        try:
            convert(str(tmp_path / "bad.prototxt"), str(tmp_path / "bad.caffemodel"), tmp_path)
        except RuntimeError:
            continue


def test_text_messages():
    made = prototxt.parse("a: 1 a: -2.5e1 b { c: 'x\\'y' d: [1, 2] } # end\ne: NAME f: true;")
    assert made == {"a": [1, -25.0], "b": [{"c": ["x'y"], "d": [1, 2]}], "e": ["NAME"], "f": [True]}
    for bad in ("a {", "a: }", "}", "a: 'x", "a {" * 100):
        with pytest.raises(prototxt.TextFormatError):
            prototxt.parse(bad)
