"""MindRecord: MindSpore's own file format for datasets.

`FileWriter` writes rows to one or more files with an SQLite index each; `FileReader`, `MindPage` and
`mindspore.dataset.MindDataset` read them; the `...ToMR` classes convert well-known datasets. The files are those of the
official MindSpore, in both directions (`layout`, `schema`, `index` and `crypto` describe them).
"""

from .common.exceptions import *  # noqa: F403
from .config import set_dec_mode, set_enc_key, set_enc_mode
from .filereader import FileReader
from .filewriter import FileWriter
from .mindpage import MindPage
from .status import FAILED, SUCCESS
from .tools.cifar10_to_mr import Cifar10ToMR
from .tools.cifar100_to_mr import Cifar100ToMR
from .tools.csv_to_mr import CsvToMR
from .tools.imagenet_to_mr import ImageNetToMR
from .tools.mnist_to_mr import MnistToMR
from .tools.tfrecord_to_mr import TFRecordToMR

__all__ = [
    "FileWriter",
    "FileReader",
    "MindPage",
    "Cifar10ToMR",
    "Cifar100ToMR",
    "CsvToMR",
    "ImageNetToMR",
    "MnistToMR",
    "TFRecordToMR",
    "set_enc_key",
    "set_enc_mode",
    "set_dec_mode",
    "SUCCESS",
    "FAILED",
]
