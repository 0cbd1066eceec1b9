"""Devices that prove who they are: certificates, signatures and how fresh they are.

A device holds a chain  root -> equipment CA -> equipment certificate -> attested key  and the private part of that last
key, an RSA key. Its name (`fl_id`) is the SHA-256 of its equipment certificate, so nobody can take part under another
name. It signs (RSA-PSS, SHA-256)

    startFLJob            fl_id, a space, the time
    exchangeKeys          both public keys, the time, the iteration
    every other round     the time, the iteration

A signature counts while its time is within the replay window of the server's clock.
"""
from __future__ import annotations

import datetime
import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

_CLOCK_SKEW = datetime.timedelta(seconds=600)          # a certificate may be that much younger than this clock
_MAX_PEM = 1 << 16


class PkiError(Exception):
    """A certificate or signature that does not count."""


@dataclass(frozen=True)
class Chain:
    """The certificates a device shows, as PEM text."""
    key_attestation: str
    equip_cert: str
    equip_ca_cert: str


class Identity:
    """A device: its private key and its chain."""

    def __init__(self, key: rsa.RSAPrivateKey, chain: Chain) -> None:
        self._key = key
        self.chain = chain
        self.fl_id = name_of(chain.equip_cert)

    @classmethod
    def load(cls, key_file: str, key_attestation: str, equip_cert: str, equip_ca_cert: str,
             password: bytes | None = None) -> Identity:
        """The identity in PEM files."""
        key = serialization.load_pem_private_key(Path(key_file).read_bytes(), password)
        if not isinstance(key, rsa.RSAPrivateKey):
            raise ValueError(f"the key in '{key_file}' should be an RSA key")
        return cls(key, Chain(*(Path(name).read_text("ascii") for name in (key_attestation, equip_cert, equip_ca_cert))))

    def sign(self, data: bytes) -> bytes:
        """The signature of some bytes."""
        return self._key.sign(data, padding.PSS(padding.MGF1(hashes.SHA256()), padding.PSS.DIGEST_LENGTH),
                              hashes.SHA256())


def name_of(equip_cert: str) -> str:
    """The `fl_id` of the device with this equipment certificate."""
    return hashlib.sha256(equip_cert.encode()).hexdigest()


def stamp(timestamp: str, iteration: int) -> bytes:
    """What most rounds' signatures are of."""
    return f"{timestamp}{iteration}".encode()


def check_signature(key_attestation: str, data: bytes, signature: bytes) -> None:
    """Refuse a signature that the attested key did not make."""
    key = _certificate(key_attestation, "key attestation").public_key()
    if not isinstance(key, rsa.RSAPublicKey):
        raise PkiError("the attested key is no RSA key")
    try:
        key.verify(signature, data, padding.PSS(padding.MGF1(hashes.SHA256()), padding.PSS.AUTO), hashes.SHA256())
    except InvalidSignature:
        raise PkiError("the signature is not of this message, or not by the attested key") from None


def check_fresh(timestamp: str, window_ms: int) -> int:
    """The time of a message in milliseconds, if it is within the window of this clock."""
    if not timestamp.isascii() or not timestamp.isdigit() or len(timestamp) > 18:
        raise PkiError(f"the time '{timestamp[:20]}' should be in milliseconds")
    away = abs(int(time.time() * 1000) - int(timestamp))
    if away > window_ms:
        raise PkiError(f"the message's time is {away} ms from the server's, {window_ms} ms are allowed")
    return int(timestamp)


class Authority:
    """The roots a server trusts, and the list of revoked certificates."""

    def __init__(self, roots: Sequence[str], crl_path: str = "") -> None:
        self._roots = [_certificate(_read(path), path) for path in roots if path]
        if not self._roots:
            raise RuntimeError("client_verify.pki_verify needs client_verify.root_first_ca_path or root_second_ca_path")
        self._crl = _crl(crl_path) if crl_path else None

    def check(self, chain: Chain) -> None:
        """Refuse a chain that does not lead to a root, is out of date or is revoked."""
        attested = _certificate(chain.key_attestation, "key attestation")
        device = _certificate(chain.equip_cert, "equipment certificate")
        issuer = _certificate(chain.equip_ca_cert, "equipment CA")
        for what, one in (("key attestation", attested), ("equipment certificate", device), ("equipment CA", issuer)):
            _check_time(one, what)
        _check_may_issue(issuer)
        if not any(_issued(issuer, root) for root in self._roots):
            raise PkiError("the equipment CA is not issued by a trusted root")
        if not _issued(device, issuer):
            raise PkiError("the equipment certificate is not issued by the equipment CA")
        if not _issued(attested, device):
            raise PkiError("the key attestation is not issued by the equipment certificate")
        self._check_revoked(device, issuer)

    def _check_revoked(self, device: x509.Certificate, issuer: x509.Certificate) -> None:
        if self._crl is None:
            return
        for one, by in ((device, issuer), *((issuer, root) for root in self._roots)):
            if self._crl.issuer != by.subject:
                continue
            if not self._crl.is_signature_valid(by.public_key()):            # type: ignore[arg-type]
                raise PkiError("the list of revoked certificates is not signed by its issuer")
            if self._crl.get_revoked_certificate_by_serial_number(one.serial_number) is not None:
                raise PkiError("the certificate is revoked")


def _issued(certificate: x509.Certificate, issuer: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(issuer)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _check_time(certificate: x509.Certificate, what: str) -> None:
    now = datetime.datetime.now(datetime.UTC)
    if not certificate.not_valid_before_utc - _CLOCK_SKEW <= now <= certificate.not_valid_after_utc:
        raise PkiError(f"the {what} is valid from {certificate.not_valid_before_utc} to {certificate.not_valid_after_utc}")


def _check_may_issue(certificate: x509.Certificate) -> None:
    try:
        authority = certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
        signs = certificate.extensions.get_extension_for_class(x509.KeyUsage).value.key_cert_sign
    except (x509.ExtensionNotFound, ValueError):
        authority = signs = False
    if not authority or not signs:
        raise PkiError("the equipment CA may not issue certificates")


def _certificate(pem: str, what: str) -> x509.Certificate:
    if len(pem) > _MAX_PEM:
        raise PkiError(f"the {what} is too long")
    try:
        return x509.load_pem_x509_certificate(pem.encode())
    except ValueError:
        raise PkiError(f"the {what} is no PEM certificate") from None


def _read(path: str) -> str:
    try:
        return Path(path).read_text("ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise RuntimeError(f"The certificate '{path}' cannot be read: {error}") from None


def _crl(path: str) -> x509.CertificateRevocationList:
    try:
        return x509.load_pem_x509_crl(_read(path).encode())
    except ValueError:
        raise RuntimeError(f"The file '{path}' holds no list of revoked certificates") from None
