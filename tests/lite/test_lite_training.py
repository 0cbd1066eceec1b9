"""Training on the device: steps against closed forms, virtual batches, memory limits, checkpoints, and the way back."""

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mindspore_lite as mslite
from mindspore_lite.tools import benchmark_train

RANDOM = np.random.default_rng(0)


def weights():
    random = np.random.default_rng(3)
    return {
        "conv.weight": (random.standard_normal((4, 1, 3, 3)) * 0.3).astype(np.float32),
        "fc.weight": (random.standard_normal((64, 3)) * 0.2).astype(np.float32),
        "fc.bias": np.zeros(3, np.float32),
    }


def converted(folder, batch=8, **settings):
    """A small network with its loss, converted for training."""
    nodes = [
        helper.make_node("Conv", ["x", "conv.weight"], ["a"], pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Flatten", ["b"], ["c"]),
        helper.make_node("Gemm", ["c", "fc.weight", "fc.bias"], ["logits"]),
        helper.make_node("SoftmaxCrossEntropyLoss", ["logits", "label"], ["loss"]),
    ]
    graph = helper.make_graph(
        nodes, "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 1, 8, 8]),
         helper.make_tensor_value_info("label", TensorProto.INT64, [batch])],
        [helper.make_tensor_value_info("loss", TensorProto.FLOAT, []),
         helper.make_tensor_value_info("logits", TensorProto.FLOAT, [batch, 3])],
        [numpy_helper.from_array(array, name) for name, array in weights().items()],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "net.onnx")
    converter = mslite.Converter()
    converter.train_model = True
    if settings:
        converter.set_config_info("train_param", settings)
    converter.convert(mslite.FmkType.ONNX, str(folder / "net.onnx"), str(folder / "net"))
    return str(folder / "net.ms")


def loaded(path):
    model = mslite.TrainModel()
    model.build_from_file(path)
    return model


def batch(count=8):
    labels = RANDOM.integers(0, 3, count)
    pictures = RANDOM.standard_normal((count, 1, 8, 8)).astype(np.float32) + labels[:, None, None, None]
    return pictures.astype(np.float32), labels


def reference(x, labels, w):
    """The loss and the gradients of all weights, in float64."""
    w = {name: array.astype(np.float64) for name, array in w.items()}
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    patches = np.stack([padded[:, 0, i : i + 8 : 2, j : j + 8 : 2] for i in range(3) for j in range(3)], axis=1)
    a = np.einsum("npyx,op->noyx", patches, w["conv.weight"].reshape(4, 9))
    flat = np.maximum(a, 0).reshape(len(x), -1)
    logits = flat @ w["fc.weight"] + w["fc.bias"]
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    loss = -np.log(p[np.arange(len(x)), labels]).mean()
    d = (p - np.eye(3)[labels]) / len(x)
    da = (d @ w["fc.weight"].T).reshape(a.shape) * (a > 0)
    grads = {"conv.weight": np.einsum("npyx,noyx->op", patches, da).reshape(4, 1, 3, 3), "fc.weight": flat.T @ d,
             "fc.bias": d.sum(axis=0)}  # fmt: skip
    return loss, grads


def test_steps_of_sgd_with_momentum_and_decay(tmp_path):
    model = loaded(converted(tmp_path, learning_rate="0.1", momentum="0.9", weight_decay="0.01"))
    w, velocity = {n: a.astype(np.float64) for n, a in weights().items()}, dict.fromkeys(weights(), 0.0)
    for _ in range(3):
        x, labels = batch()
        loss, grads = reference(x, labels, w)
        assert model.run_step([x, labels]) == pytest.approx(loss, rel=1e-5)
        for name, grad in grads.items():
            velocity[name] = 0.9 * velocity[name] + grad + 0.01 * w[name]
            w[name] = w[name] - 0.1 * velocity[name]
    for name, array in w.items():
        np.testing.assert_allclose(model.weights[name], array, rtol=1e-4, atol=1e-6)


def test_steps_of_adam_at_a_changing_rate(tmp_path):
    model = loaded(converted(tmp_path, optimizer="Adam", learning_rate="0.01"))
    w = {n: a.astype(np.float64) for n, a in weights().items()}
    mean, square = dict.fromkeys(w, 0.0), dict.fromkeys(w, 0.0)
    for step, rate in ((1, 0.01), (2, 0.05)):
        model.learning_rate = rate
        x, labels = batch()
        _, grads = reference(x, labels, w)
        model.run_step([x, labels])
        for name, grad in grads.items():
            mean[name] = 0.9 * mean[name] + 0.1 * grad
            square[name] = 0.999 * square[name] + 0.001 * grad**2
            w[name] = w[name] - rate * (mean[name] / (1 - 0.9**step)) / (np.sqrt(square[name] / (1 - 0.999**step)) + 1e-8)
    for name, array in w.items():
        np.testing.assert_allclose(model.weights[name], array, rtol=1e-3, atol=1e-5)


def test_a_virtual_batch_is_a_large_batch(tmp_path):
    (tmp_path / "large").mkdir()
    small = loaded(converted(tmp_path, learning_rate="0.1"))
    large = loaded(converted(tmp_path / "large", batch=24, learning_rate="0.1"))
    small.setup_virtual_batch(3)
    for _ in range(2):
        x, labels = batch(24)
        large.run_step([x, labels])
        before = {n: a.copy() for n, a in small.weights.items()}
        for part in range(3):
            assert all(np.array_equal(small.weights[n], before[n]) for n in before)
            small.run_step([x[part * 8 : part * 8 + 8], labels[part * 8 : part * 8 + 8]])
    for name in weights():
        np.testing.assert_allclose(small.weights[name], large.weights[name], rtol=1e-4, atol=1e-6)


def test_a_memory_limit_cuts_the_batch_or_is_refused(tmp_path, capsys):
    plain = loaded(converted(tmp_path, batch=32, learning_rate="0.1"))
    x, labels = batch(32)
    plain.run_step([x, labels])
    cut = loaded(converted(tmp_path, batch=32, learning_rate="0.1", memory_limit="24K"))
    assert "PIECE(S)" in capsys.readouterr().out
    assert cut._training.pieces > 1
    cut.run_step([x, labels])
    for name in weights():
        np.testing.assert_allclose(cut.weights[name], plain.weights[name], rtol=1e-4, atol=1e-6)
    with pytest.raises(RuntimeError, match="training takes at least"):
        converted(tmp_path, memory_limit="1K")


def test_frozen_weights_stay_and_have_no_gradients(tmp_path):
    model = loaded(converted(tmp_path, trainable="fc.*"))
    kinds = [node.op.name for node in model._training.graphs.step.nodes()]
    assert not any("Backprop" in kind for kind in kinds)
    model.run_step(batch())
    assert np.array_equal(model.weights["conv.weight"], weights()["conv.weight"])
    assert not np.array_equal(model.weights["fc.weight"], weights()["fc.weight"])


def test_evaluation_changes_nothing_and_the_model_learns(tmp_path):
    model = loaded(converted(tmp_path, learning_rate="0.05"))
    test = batch()
    model.train_mode = False
    first = model.run_step(test)
    assert model.run_step(test) == first == pytest.approx(reference(*test, weights())[0], rel=1e-5)
    model.train_mode = True
    for _ in range(60):
        model.run_step(batch())
    model.train_mode = False
    assert model.run_step(test) < 0.5 * first
    model.export_model(str(tmp_path / "done"))
    inference = mslite.Model()
    inference.build_from_file(str(tmp_path / "done.ms"), mslite.ModelType.MINDIR_LITE)
    found = inference.predict(list(test))
    np.testing.assert_allclose(found[1].get_data_to_numpy(), model.predict(test)[1], rtol=1e-6)


def test_checkpoints_go_on_exactly_and_go_back_to_the_framework(tmp_path):
    path = converted(tmp_path)
    one, other = loaded(path), loaded(path)
    one.run_step(batch())
    one.save_checkpoint(str(tmp_path / "state.ckpt"))
    other.load_checkpoint(str(tmp_path / "state.ckpt"))
    assert other.steps == 1
    again = batch()
    assert one.run_step(again) == other.run_step(again)
    for name in weights():
        assert np.array_equal(one.weights[name], other.weights[name])
    one.export_weights(str(tmp_path / "weights.ckpt"))
    import mindspore

    back = mindspore.load_checkpoint(str(tmp_path / "weights.ckpt"))
    assert set(back) == set(weights())
    np.testing.assert_array_equal(back["fc.weight"].asnumpy(), one.weights["fc.weight"])
    mindspore.save_checkpoint([{"name": "fc.bias", "data": mindspore.Tensor([1.0, 2.0, 3.0])}], str(tmp_path / "cloud.ckpt"))
    one.load_checkpoint(str(tmp_path / "cloud.ckpt"))
    assert one.weights["fc.bias"].tolist() == [1, 2, 3]


def test_killed_while_it_saves_a_checkpoint_is_whole(tmp_path):
    path = converted(tmp_path)
    script = textwrap.dedent(f"""
        import numpy as np, mindspore_lite as mslite
        model = mslite.TrainModel(); model.build_from_file({path!r})
        x = np.ones((8, 1, 8, 8), np.float32); y = np.zeros(8, np.int64)
        while True:
            model.run_step([x, y]); model.save_checkpoint({str(tmp_path / "state.ckpt")!r}); print(model.steps, flush=True)
    """)
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    for line in process.stdout:
        if int(line) >= 5:
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    model = loaded(path)
    model.load_checkpoint(str(tmp_path / "state.ckpt"))
    assert model.steps >= 5


def test_wrong_labels_and_shapes_are_refused_and_change_nothing(tmp_path):
    model = loaded(converted(tmp_path))
    x, labels = batch()
    with pytest.raises(ValueError, match="must have the shape"):
        model.run_step([x[:4], labels[:4]])
    with pytest.raises(ValueError, match="2 inputs"):
        model.run_step([x])
    with pytest.raises(KeyError, match="nobody"):
        model.update_weights({"nobody": x})
    with pytest.raises(ValueError, match="at least 0"):
        model.learning_rate = -1
    for name, array in weights().items():
        assert np.array_equal(model.weights[name], array)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"optimizer": "Magic"}, "optimizer must be"),
        ({"trainable": "nobody"}, "no weight has such a name"),
        ({"trainable": "("}, "regular expression"),
        ({"speed": "1"}, "has no setting 'speed'"),
        ({"loss": "logit"}, "loss names 'logit'"),
        ({"memory_limit": "much"}, "must look like 64M"),
        ({"learning_rate": "-1"}, "at least 0"),
    ],
)
def test_settings_of_training_are_checked(tmp_path, settings, words):
    with pytest.raises(RuntimeError, match=words):
        converted(tmp_path, **settings)
    assert not (tmp_path / "net.ms").exists()


def test_models_for_inference_do_not_train(tmp_path):
    converted(tmp_path)
    mslite.Converter().convert(mslite.FmkType.ONNX, str(tmp_path / "net.onnx"), str(tmp_path / "plain"))
    with pytest.raises(RuntimeError, match="not converted for training"):
        loaded(str(tmp_path / "plain.ms"))


def test_benchmark_train(tmp_path, capsys):
    path = converted(tmp_path)
    assert benchmark_train.main([f"--modelFile={path}", "--epochs=2", f"--exportFile={tmp_path / 'out'}"]) == 0
    assert "AvgRunTime" in capsys.readouterr().out and (tmp_path / "out.ms").exists()
    assert benchmark_train.main([f"--modelFile={tmp_path / 'none.ms'}"]) == 1
    assert "does not exist" in capsys.readouterr().err
