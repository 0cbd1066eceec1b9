"""TLS contexts from PKCS#12 files. Private keys touch the disk only as a file of this user that is removed at once."""
from __future__ import annotations

import datetime
import os
import ssl
import tempfile
from dataclasses import dataclass

from mindspore_federated import log
from mindspore_federated.common.settings import DEFAULT_CIPHERS, Settings
from mindspore_federated.startup.ssl_config import SSLConfig


@dataclass(frozen=True)
class TlsFiles:
    """What a TLS endpoint is made from. A client without a certificate of its own names the authority alone."""
    server_cert: str = ""
    client_cert: str = ""
    ca_cert: str = ""
    crl: str = ""
    ciphers: str = DEFAULT_CIPHERS
    server_password: str = ""
    client_password: str = ""
    warn_days: int = 90


def files_from_settings(settings: Settings, ssl_config: SSLConfig | None) -> TlsFiles | None:
    """The files a horizontal job names, or None where TLS is off."""
    if not settings.flag("enable_ssl"):
        return None
    if ssl_config is None or not ssl_config.client_password:
        raise RuntimeError("The client password's value is empty: enable_ssl is true, pass ssl_config=SSLConfig(...)")
    if not ssl_config.server_password:
        raise RuntimeError("The server password's value is empty: enable_ssl is true, pass ssl_config=SSLConfig(...)")
    return TlsFiles(settings.word("ssl.server_cert_path"), settings.word("ssl.client_cert_path"),
                    settings.word("ssl.ca_cert_path"), settings.word("ssl.crl_path"), settings.word("ssl.cipher_list"),
                    ssl_config.server_password, ssl_config.client_password,
                    settings.whole("ssl.cert_expire_warning_time_in_day"))


def files_from_config(config: SSLConfig) -> TlsFiles:
    """The files a vertical job names."""
    return TlsFiles(config.server_cert_path, config.client_cert_path, config.ca_cert_path, config.crl_path,
                    config.cipher_list, config.server_password, config.client_password,
                    config.cert_expire_warning_time_in_day)


def server_context(files: TlsFiles, *, mutual: bool = False) -> ssl.SSLContext:
    """For a server; with `mutual` clients must show a certificate of the same authority."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    _limit(context, files)
    _show(context, files, files.server_cert, files.server_password)
    _check(files, files.client_cert, files.client_password)
    if mutual:
        _trust(context, files)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def client_context(files: TlsFiles, *, check_hostname: bool = False) -> ssl.SSLContext:
    """For a client that trusts the authority's servers and shows its certificate, if it has one."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = check_hostname
    _limit(context, files)
    if files.client_cert:
        _show(context, files, files.client_cert, files.client_password)
    _trust(context, files)
    return context


def _limit(context: ssl.SSLContext, files: TlsFiles) -> None:
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(files.ciphers)


def _show(context: ssl.SSLContext, files: TlsFiles, path: str, password: str) -> None:
    """Make a certificate the one that this side shows."""
    pem = _check(files, path, password)
    handle, name = tempfile.mkstemp(suffix=".pem")        # readable by this user only
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(pem)
        context.load_cert_chain(name)
    finally:
        os.unlink(name)


def _trust(context: ssl.SSLContext, files: TlsFiles) -> None:
    context.load_verify_locations(files.ca_cert)
    if files.crl:
        context.load_verify_locations(files.crl)
        context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF


def _check(files: TlsFiles, path: str, password: str) -> bytes:
    """Certificate and key of a .p12 file as PEM."""
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, pkcs12

    if not os.path.isfile(path):
        raise RuntimeError(f"The certificate file '{path}' does not exist")
    with open(path, "rb") as source:
        data = source.read(1 << 20)
    try:
        key, certificate, others = pkcs12.load_key_and_certificates(data, password.encode())
    except ValueError as error:
        raise RuntimeError(f"PKCS12_parse failed for '{path}', is the password right? {error}") from None
    if key is None or certificate is None:
        raise RuntimeError(f"PKCS12_parse failed for '{path}': it has no key or no certificate")
    left = certificate.not_valid_after_utc - datetime.datetime.now(datetime.UTC)
    if left.days < files.warn_days:
        log.warning("the certificate %s expires in %d days", path, left.days)
    return b"".join([key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
                     *(one.public_bytes(Encoding.PEM) for one in (certificate, *others))])
