"""Privacy: label and embedding DP, local and central DP with accounting, SignDS."""
from mindspore_federated.privacy.embedding_dp import EmbeddingDP
from mindspore_federated.privacy.label_dp import LabelDP

__all__ = ["EmbeddingDP", "LabelDP"]
