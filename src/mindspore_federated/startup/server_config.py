"""Name and address of a party of vertical training."""
from __future__ import annotations

from mindspore_federated.common.check_type import check_str


class ServerConfig:
    """A party, such as `ServerConfig("leader_server", "127.0.0.1:1086")`."""

    def __init__(self, server_name: str, server_address: str) -> None:
        self.server_name = check_str("server_name", server_name)
        self.server_address = check_str("server_address", server_address)
