"""Data of two parties with common samples: private intersection of the keys, export in one order."""
from mindspore_federated.data_join.io import load_mindrecord
from mindspore_federated.data_join.worker import FLDataWorker

__all__ = ["FLDataWorker", "load_mindrecord"]
