"""Federated algorithms, one small file each, over flat float32 vectors."""
from mindspore_federated.algorithms.base import FedAvg
from mindspore_federated.algorithms.byzantine import FedMedian, Krum, MultiKrum, TrimmedMean
from mindspore_federated.algorithms.clustered import Clustered
from mindspore_federated.algorithms.ditto import Ditto
from mindspore_federated.algorithms.fedcm import FedCM
from mindspore_federated.algorithms.fednova import FedNova
from mindspore_federated.algorithms.fedopt import FedAdam, FedYogi
from mindspore_federated.algorithms.fedprox import FedProx
from mindspore_federated.algorithms.per_fedavg import PerFedAvg
from mindspore_federated.algorithms.pfedme import PFedMe
from mindspore_federated.algorithms.scaffold import Scaffold

__all__ = ["Clustered", "Ditto", "FedAdam", "FedAvg", "FedCM", "FedMedian", "FedNova", "FedProx", "FedYogi", "Krum",
           "MultiKrum", "PFedMe", "PerFedAvg", "Scaffold", "TrimmedMean"]
