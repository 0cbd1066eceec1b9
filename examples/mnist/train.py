"""The twelve steps of a first MindSpore program, on the real MNIST data.

    python examples/mnist/train.py [--epochs 2] [--batch 64] [--mode graph|pynative] [--out demo_output]

Load, augment, define the network, initialise weights, run it, loss, optimizer, train, evaluate, save, load and predict,
fine-tune. Leaves a checkpoint, a MindIR file and a picture of some digits with their predicted labels.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn, train
from mindspore.common.initializer import Normal
from mindspore.dataset import transforms, vision

DATA = Path(__file__).resolve().parent.parent / "data" / "mnist"


class LeNet5(nn.Cell):
    """Two convolutions and three dense layers (LeCun et al. 1998)."""

    def __init__(self, num_class=10, num_channel=1):
        super().__init__()
        self.conv1 = nn.Conv2d(num_channel, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.relu = nn.ReLU()
        self.max_pool2d = nn.MaxPool2d(kernel_size=2, stride=2)
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(16 * 5 * 5, 120, weight_init=Normal(0.02))
        self.fc2 = nn.Dense(120, 84, weight_init=Normal(0.02))
        self.fc3 = nn.Dense(84, num_class, weight_init=Normal(0.02))

    def construct(self, x):
        x = self.max_pool2d(self.relu(self.conv1(x)))
        x = self.max_pool2d(self.relu(self.conv2(x)))
        x = self.flatten(x)
        x = self.relu(self.fc1(x))
        x = self.relu(self.fc2(x))
        return self.fc3(x)


def step(number, title):
    print(f"\n[{number:2d}/12] {title}", flush=True)


def pipeline(usage, batch):
    """Decode-free MNIST pipeline: resize to 32x32, scale, normalise, channels first."""
    data = ds.MnistDataset(str(DATA), usage=usage, shuffle=usage == "train")
    image = [
        vision.Resize((32, 32)),
        vision.Rescale(1.0 / 255.0, 0.0),
        vision.Normalize((0.1307,), (0.3081,)),
        vision.HWC2CHW(),
    ]
    data = data.map(image, input_columns="image")
    data = data.map(transforms.TypeCast(ms.int32), input_columns="label")
    return data.batch(batch, drop_remainder=usage == "train")


def draw(images, labels, predicted, path):
    """A grid of digits with the labels the network gives them; wrong ones in red."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(3, 8, figsize=(10, 4.6))
    for axis, image, label, guess in zip(axes.ravel(), images, labels, predicted):
        axis.imshow(image, cmap="gray_r")
        axis.set_title(str(guess), color="black" if guess == label else "red")
        axis.axis("off")
    figure.suptitle("MNIST test digits and what LeNet-5 reads (red: wrong)")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--mode", choices=["graph", "pynative"], default="graph")
    parser.add_argument("--out", default="demo_output")
    options = parser.parse_args()
    started = time.perf_counter()
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    ms.set_seed(1)
    ms.set_context(mode=ms.GRAPH_MODE if options.mode == "graph" else ms.PYNATIVE_MODE)

    step(1, "Load the data")
    raw = ds.MnistDataset(str(DATA), usage="train")
    print(f"        {raw.get_dataset_size()} training images, columns {raw.get_col_names()}")

    step(2, "Augment and batch it")
    training, testing = pipeline("train", options.batch), pipeline("test", 250)
    images, labels = next(training.create_tuple_iterator(num_epochs=1))
    print(f"        batches of {tuple(images.shape)} {images.dtype}, labels {tuple(labels.shape)} {labels.dtype}")

    step(3, "Define the network")
    net = LeNet5()
    print("        " + repr(net).replace("\n", "\n        "))

    step(4, "Initialise its weights")
    count = sum(p.size for p in net.trainable_params())
    print(f"        {count} weights in {len(net.trainable_params())} parameters")

    step(5, "Run it")
    print(f"        output {tuple(net(images).shape)}")

    step(6, "Choose a loss")
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    print(f"        untrained loss {float(loss(net(images), labels).asnumpy()):.4f} (ln 10 = {np.log(10):.4f})")

    step(7, "Choose an optimizer")
    steps = training.get_dataset_size() * options.epochs
    rate = [0.04 * (1 + np.cos(np.pi * i / steps)) / 2 for i in range(steps)]
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=rate, momentum=0.9)
    print(f"        Momentum 0.9, learning rate 0.04 falling to 0 like a cosine over {steps} steps")

    step(8, f"Train for {options.epochs} epochs in {options.mode} mode")
    model = ms.Model(net, loss, optimizer, metrics={"accuracy"})
    monitor = train.LossMonitor(training.get_dataset_size())
    begun = time.perf_counter()
    model.train(options.epochs, training, callbacks=[monitor], dataset_sink_mode=False)
    print(f"        {time.perf_counter() - begun:.1f} s")

    step(9, "Evaluate")
    accuracy = model.eval(testing, dataset_sink_mode=False)["accuracy"]
    print(f"        test accuracy {accuracy:.4f}")

    step(10, "Save a checkpoint and a MindIR file")
    ms.save_checkpoint(net, str(out / "lenet.ckpt"))
    ms.export(net, ms.Tensor(np.zeros((1, 1, 32, 32), np.float32)), file_name=str(out / "lenet"), file_format="MINDIR")
    print(f"        {out / 'lenet.ckpt'}, {out / 'lenet.mindir'}")

    step(11, "Load it again and predict")
    again = LeNet5()
    not_loaded, _ = ms.load_param_into_net(again, ms.load_checkpoint(str(out / "lenet.ckpt")))
    assert not not_loaded, not_loaded
    images, labels = next(testing.create_tuple_iterator(num_epochs=1))
    predicted = again(images).asnumpy().argmax(1)
    draw(images.asnumpy()[:24, 0], labels.asnumpy(), predicted, out / "digits.png")
    print(
        f"        first ten: predicted {predicted[:10].tolist()}, true {labels.asnumpy()[:10].tolist()}; picture in {out / 'digits.png'}"
    )

    step(12, "Fine-tune: a new last layer, the rest frozen")
    for parameter in again.trainable_params():
        parameter.requires_grad = parameter.name.startswith("fc3")
    again.fc3 = nn.Dense(84, 10)
    tuned = ms.Model(again, loss, nn.Momentum(again.trainable_params(), 0.02, 0.9), metrics={"accuracy"})
    tuned.train(1, training.take(100), dataset_sink_mode=False)
    print(
        f"        after 100 steps of the new layer alone: {tuned.eval(testing, dataset_sink_mode=False)['accuracy']:.4f}"
    )

    print(f"\nDone in {time.perf_counter() - started:.1f} s. Test accuracy {accuracy:.4f}.")
    if options.epochs >= 2:
        assert accuracy >= 0.985, "the network did not learn as well as it should"


if __name__ == "__main__":
    main()
