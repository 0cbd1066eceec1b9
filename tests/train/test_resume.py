"""A run that is killed at any step and resumed gives the same losses to the bit."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import pytest

SCRIPT = """
    import json, os, sys
    import numpy as np
    import mindspore as ms
    from mindspore import Tensor, amp, nn
    from mindspore import dataset as ds
    from mindspore.train import ExactResume, LambdaCallback, Model

    folder, log, kill_at, mode = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    sink = mode == 2  # graph mode with sinking
    ms.set_context(mode=mode % 2, device_target="Ascend" if sink else "CPU")
    ms.set_seed(3)
    x = np.random.default_rng(0).random((20, 3)).astype(np.float32)
    data = ds.NumpySlicesDataset({"x": x, "y": x.sum(1, keepdims=True)}, shuffle=True).batch(4)
    start = Tensor(np.random.default_rng(1).random((6, 3)).astype(np.float32))
    net = nn.SequentialCell([nn.Dense(3, 6, weight_init=start), nn.Dropout(p=0.3), nn.Dense(6, 1, weight_init="ones")])
    optimizer = nn.Adam(net.trainable_params(), 0.05)
    model = Model(net, nn.MSELoss(), optimizer, loss_scale_manager=amp.DynamicLossScaleManager(64, 2, 3))

    def note(run_context):
        params = run_context.original_args()
        with open(log, "a") as stream:
            bits = params.net_outputs[0].asnumpy().tobytes().hex()
            stream.write(json.dumps([params.cur_epoch_num, params.cur_step_num, bits]) + "\\n")
        if params.cur_step_num == kill_at:
            os.kill(os.getpid(), 9)

    model.train(3, data, callbacks=[ExactResume(folder), LambdaCallback(on_train_step_end=note)], dataset_sink_mode=sink)
"""


def run(tmp_path, name, kill_at, mode):
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT), str(tmp_path / name), str(tmp_path / f"{name}.log")]
    return subprocess.run([*command, str(kill_at), str(mode)], capture_output=True, timeout=100, text=True)


def losses(tmp_path, name):
    return [json.loads(line) for line in (tmp_path / f"{name}.log").read_text().splitlines()]


@pytest.mark.parametrize("mode", [1, 0, 2], ids=["pynative", "graph", "sink"])
def test_killed_and_resumed(tmp_path, mode):
    whole = run(tmp_path, "whole", 0, mode)
    assert whole.returncode == 0, whole.stderr
    expected = losses(tmp_path, "whole")
    assert [s for _, s, _ in expected] == (list(range(1, 16)) if mode != 2 else [5, 10, 15])
    kills = {1: (3, 5, 12), 0: (7,), 2: (5,)}[mode]
    for kill in kills:
        first = run(tmp_path, f"cut{kill}", kill, mode)
        assert first.returncode == -9, first.stderr
        second = run(tmp_path, f"cut{kill}", 0, mode)
        assert second.returncode == 0, second.stderr
        assert losses(tmp_path, f"cut{kill}") == expected
        assert not (tmp_path / f"cut{kill}" / "resume.ckpt").exists()
