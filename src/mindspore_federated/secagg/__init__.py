"""Secure aggregation: the server learns the sum of the clients' vectors and nothing else about them."""
from mindspore_federated.secagg.graph import recommended
from mindspore_federated.secagg.protocol import ClientKeys, SecureAggregation, SecureClient, SecureSum, secure_sum
from mindspore_federated.secagg.ring import from_ring, to_ring

__all__ = ["ClientKeys", "SecureAggregation", "SecureClient", "SecureSum", "from_ring", "recommended",
           "secure_sum", "to_ring"]
