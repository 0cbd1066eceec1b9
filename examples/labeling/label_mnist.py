"""Label handwritten digits by keyboard: the network suggests, you accept or correct, and it asks for what teaches it most.

    python examples/labeling/label_mnist.py [--items 5000] [--store digits.db]

Opens a page on this machine. Press L once some digits of several classes are labelled: the network learns and suggests from
then on. Ctrl-C ends it and writes `digits.csv`; starting again goes on where you were.
"""

import argparse
from pathlib import Path

import numpy as np

import mindspore.dataset as ds
from mindspore import labeling
from mindspore.model_zoo import create

DATA = Path(__file__).resolve().parent.parent / "data" / "mnist"


def digits(count, store):
    """The first digits of the training set, to be labelled."""
    rows = ds.MnistDataset(str(DATA), usage="train", shuffle=False, num_samples=count)
    images = np.stack([image for image, _ in rows.create_tuple_iterator(output_numpy=True, num_epochs=1)])
    padded = np.pad(images[..., 0], ((0, 0), (2, 2), (2, 2)))  # LeNet wants 32 x 32
    items = (padded[:, None].astype(np.float32) / 255 - 0.13) / 0.31
    learner = labeling.Learner(create("lenet5"), augment=labeling.shifted_and_turned)
    kept = labeling.LabelStore(store, "MNIST digits")
    return labeling.Project(items, [str(d) for d in range(10)], learner, store=kept, show=images[..., 0])


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--items", type=int, default=5000)
    arguments.add_argument("--store", default="digits.db")
    arguments.add_argument("--port", type=int, default=8090)
    given = arguments.parse_args()
    project = digits(given.items, given.store)
    labeling.serve(project, given.port)
    print(f"{labeling.to_csv(project, 'digits.csv')} labels are in digits.csv")


if __name__ == "__main__":
    main()
