"""The works in MindSpore's API: runs on this package and on the official one."""

import sys

import numpy as np
from timing import growth, rate, show

import mindspore as ms
import mindspore.dataset as ds
from mindspore.dataset import transforms, vision

MEAN, STD = [0.485 * 255, 0.456 * 255, 0.406 * 255], [0.229 * 255, 0.224 * 255, 0.225 * 255]


def jpeg(folder, workers):
    data = ds.ImageFolderDataset(f"{folder}/jpeg", num_parallel_workers=workers, shuffle=True)
    operations = [vision.Decode(), vision.RandomResizedCrop(224), vision.RandomHorizontalFlip(),
                  vision.Normalize(MEAN, STD), vision.HWC2CHW()]  # fmt: skip
    data = data.map(operations, "image", num_parallel_workers=workers)
    return data.batch(64, drop_remainder=True, num_parallel_workers=workers)


def mnist(folder, workers):
    data = ds.MnistDataset(f"{folder}/mnist", "train", shuffle=True, num_parallel_workers=workers)
    data = data.map(transforms.TypeCast(ms.float32), "image", num_parallel_workers=workers)
    data = data.map(transforms.TypeCast(ms.int32), "label", num_parallel_workers=workers)
    return data.batch(64, num_parallel_workers=workers)


def mindrecord(folder, workers):
    data = ds.MindDataset(f"{folder}/rows.mindrecord", num_parallel_workers=workers, shuffle=True)
    return data.batch(256, num_parallel_workers=workers)


def tfrecord(folder, workers):
    schema = ds.Schema()
    schema.add_column("data", ms.uint8)
    schema.add_column("label", ms.int64)
    data = ds.TFRecordDataset(f"{folder}/rows.tfrecord", schema, num_parallel_workers=workers, shuffle=False)
    return data.batch(256, num_parallel_workers=workers)


class Rows:
    def __getitem__(self, index):
        return np.full((32, 32), index, dtype=np.float32)

    def __len__(self):
        return 4000


def python_work(x):
    """About a third of a millisecond of pure Python."""
    total = 0
    for i in range(5000):
        total += i & 7
    return x + total


def pyfunc(folder, workers):
    data = ds.GeneratorDataset(Rows(), ["x"], shuffle=False)
    data = data.map(python_work, "x", num_parallel_workers=workers, python_multiprocessing=True)
    return data.batch(32)


if __name__ == "__main__":
    work, folder, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])
    ds.config.set_prefetch_size(8)
    data = (jpeg if work == "memory" else globals()[work])(folder, workers)
    iterator = data.create_tuple_iterator(num_epochs=-1, output_numpy=True)

    def epoch():
        for _ in iterator:
            pass

    rows = data.get_dataset_size() * data.get_batch_size()
    show({"": growth(epoch) if work == "memory" else rate(epoch, rows)})
