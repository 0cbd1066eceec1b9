"""Certificates and passwords for TLS."""
from __future__ import annotations

from mindspore_federated.common.check_type import check_int, check_str
from mindspore_federated.common.settings import DEFAULT_CIPHERS


class SSLConfig:
    """Passwords of the `.p12` files; for vertical jobs also the files themselves (others name them in the YAML)."""

    def __init__(self, server_password: str, client_password: str, server_cert_path: str | None = None,
                 client_cert_path: str | None = None, ca_cert_path: str | None = None, crl_path: str | None = None,
                 cipher_list: str = DEFAULT_CIPHERS, cert_expire_warning_time_in_day: int = 90) -> None:
        self.server_password = check_str("server_password", server_password)
        self.client_password = check_str("client_password", client_password)
        self.server_cert_path = _path("server_cert_path", server_cert_path)
        self.client_cert_path = _path("client_cert_path", client_cert_path)
        self.ca_cert_path = _path("ca_cert_path", ca_cert_path)
        self.crl_path = _path("crl_path", crl_path)
        self.cipher_list = check_str("cipher_list", cipher_list)
        self.cert_expire_warning_time_in_day = check_int("cert_expire_warning_time_in_day",
                                                         cert_expire_warning_time_in_day)

    def __repr__(self) -> str:
        return f"SSLConfig(server_cert_path={self.server_cert_path!r}, ca_cert_path={self.ca_cert_path!r})"


def _path(name: str, value: str | None) -> str:
    return check_str(name, value) if value else ""


def check_ssl_config(value: object) -> SSLConfig | None:
    """`value` if it can be an `ssl_config` argument."""
    if value is not None and not isinstance(value, SSLConfig):
        raise RuntimeError(f"Parameter 'ssl_config' should be None or instance of SSLConfig, but got {type(value)}")
    return value
