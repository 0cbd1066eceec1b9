"""Certificates for the tests: a root, an equipment CA, devices with attested keys, lists of revoked ones."""
from __future__ import annotations

import datetime

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding

from mindspore_federated.common.pki import Chain, Identity

NOW = datetime.datetime.now(datetime.UTC)
DAY = datetime.timedelta(days=1)


def new_key():
    return rsa.generate_private_key(65537, 2048)


def certificate(name, key, issuer, issuer_key, *, authority=False, begins=NOW - DAY, ends=NOW + DAY):
    builder = (x509.CertificateBuilder().subject_name(_name(name)).issuer_name(_name(issuer)).public_key(key.public_key())
               .serial_number(x509.random_serial_number()).not_valid_before(begins).not_valid_after(ends)
               .add_extension(x509.BasicConstraints(authority, None), True)
               .add_extension(x509.KeyUsage(True, *[False] * 4, authority, authority, False, False), True))
    return builder.sign(issuer_key, hashes.SHA256())


def _name(text):
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])


def pem(one):
    return one.public_bytes(Encoding.PEM).decode()


class Factory:
    """A maker of devices and its authority."""

    def __init__(self, folder, name="root"):
        self._folder, self._name = folder, name
        self._root_key, self._ca_key = new_key(), new_key()
        root = certificate(name, self._root_key, name, self._root_key, authority=True)
        self._ca = certificate(f"{name}-ca", self._ca_key, name, self._root_key, authority=True)
        self.root_file = folder / f"{name}.pem"
        self.root_file.write_text(pem(root))
        self._devices = {}

    def device(self, name, *, key=None, **more):
        """The identity of a new device."""
        key = key or new_key()
        device_key = new_key()
        made = certificate(name, device_key, f"{self._name}-ca", self._ca_key, **more)
        attested = certificate(f"{name}-key", key, name, device_key)
        identity = Identity(key, Chain(pem(attested), pem(made), pem(self._ca)))
        self._devices[identity.fl_id] = made.serial_number
        return identity

    def revoke(self, *identities):
        """A list of revoked devices as a file."""
        builder = (x509.CertificateRevocationListBuilder().issuer_name(_name(f"{self._name}-ca")).last_update(NOW - DAY)
                   .next_update(NOW + DAY))
        for identity in identities:
            builder = builder.add_revoked_certificate(x509.RevokedCertificateBuilder().serial_number(
                self._devices[identity.fl_id]).revocation_date(NOW - DAY).build())
        path = self._folder / "revoked.pem"
        path.write_text(pem(builder.sign(self._ca_key, hashes.SHA256())))
        return path
