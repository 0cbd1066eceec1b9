"""What goes wrong around a training: full disks, wrong places; no checkpoint is lost, and the error says what to do."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import mindspore as ms
from mindspore import dataset as ds
from mindspore import nn
from mindspore.train import CheckpointConfig, Model, ModelCheckpoint


def test_a_full_disk_costs_no_checkpoint(tmp_path):
    """The only checkpoint is removed when the next one is there; the error names the file; training can go on."""
    script = f"""
        import os, resource, signal
        import numpy as np
        import mindspore as ms
        from mindspore import nn
        from mindspore import dataset as ds
        from mindspore.train import Callback, CheckpointConfig, Model, ModelCheckpoint

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        limit = lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

        class Full(Callback):
            def on_train_step_begin(self, run_context):
                if run_context.original_args().cur_step_num == 3:
                    limit(100)

        net = nn.Dense(2, 1)
        data = ds.NumpySlicesDataset({{"x": np.ones((8, 2), np.float32), "y": np.ones((8, 1), np.float32)}}).batch(2)
        model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
        saver = ModelCheckpoint("net", {str(tmp_path)!r}, CheckpointConfig(keep_checkpoint_max=1))
        try:
            model.train(1, data, [Full(), saver])
        except OSError as error:
            print(error)
        limit(resource.RLIM_INFINITY)
        print(sorted(n for n in os.listdir({str(tmp_path)!r}) if n.endswith(("ckpt", "part"))))
        model.train(1, data)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    message, files = done.stdout.splitlines()
    assert "net-1_3.ckpt" in message and files == "['net-1_2.ckpt']"


def test_a_directory_that_is_a_file(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        ModelCheckpoint("net", str(tmp_path / "file"))
    with pytest.raises(ValueError, match="directory"):
        ms.export(nn.ReLU(), ms.Tensor([1.0]), file_name=f"{tmp_path}/", file_format="MINDIR")


def test_checkpoints_written_in_the_background_are_as_many_as_wanted(tmp_path):
    net = nn.Dense(2, 1)
    data = ds.NumpySlicesDataset({"x": np.ones((12, 2), np.float32), "y": np.ones((12, 1), np.float32)}).batch(2)
    config = CheckpointConfig(keep_checkpoint_max=2, async_save=True)
    model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
    model.train(1, data, [ModelCheckpoint("net", str(tmp_path), config)])
    assert sorted(p.name for p in tmp_path.glob("*.ckpt")) == ["net-1_5.ckpt", "net-1_6.ckpt"]
