"""An authority of the tests' own, and the certificates that it signs."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


class Pair(NamedTuple):
    cert: Path
    key: Path


class Authority:
    def __init__(self, directory: Path, name: str = "an authority") -> None:
        self._directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        self.file = self._write(f"{name}.crt", self._made(self._name, self._key, [], is_authority=True))

    def signs(self, name: str, *also: str, days: int = 1) -> Pair:
        """A certificate for a common name, with subject alternative names."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        cert = self._write(f"{name}.crt", self._made(subject, key, also, days=days))
        key_file = self._directory / f"{name}.key"
        form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        key_file.write_bytes(key.private_bytes(serialization.Encoding.PEM, *form))
        return Pair(cert, key_file)

    def _made(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePrivateKey,
        also: object,
        *,
        is_authority: bool = False,
        days: int = 1,
    ) -> x509.Certificate:
        now = datetime.datetime.now(datetime.UTC)
        made = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=2))
            .not_valid_after(now + datetime.timedelta(days=days))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        )
        names = [x509.DNSName(name) for name in also]  # type: ignore[attr-defined]
        if names:
            made = made.add_extension(x509.SubjectAlternativeName(names), critical=False)
        return made.sign(self._key, hashes.SHA256())

    def _write(self, name: str, certificate: x509.Certificate) -> Path:
        file = self._directory / name
        file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        return file
