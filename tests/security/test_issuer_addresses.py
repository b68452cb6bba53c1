"""Addresses in the discovery document of an issuer, and tokens whose header or expiry has an odd type.

urllib opens file: and ftp: addresses and follows redirects, so an issuer's document could send passwords and the client
secret unencrypted, or take keys from a file of the server.
"""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from pinakes.config.server import OidcConfig
from pinakes.server.logins.base import Unreachable
from pinakes.server.logins.http import get_json, post_form
from pinakes.server.logins.issuer import Issuer
from pinakes.server.logins.oidc import Oidc

KEY = ec.generate_private_key(ec.SECP256R1())
PUBLIC = {**json.loads(jwt.algorithms.ECAlgorithm.to_jwk(KEY.public_key())), "kid": "k", "use": "sig"}


class _Provider(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/elsewhere":
            self.send_response(302)
            self.send_header("Location", "http://192.0.2.1/keys")
            self.end_headers()
            return
        address = f"http://127.0.0.1:{self.server.server_address[1]}"
        body = json.dumps({"issuer": address, "jwks_uri": f"{address}/keys", "keys": [PUBLIC]}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def test_an_issuer_cannot_name_a_file_or_an_address_without_tls(tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    keys.write_text('{"keys": []}')
    for address in (keys.as_uri(), "http://192.0.2.1/token", "ftp://192.0.2.1/x", "data:application/json,{}", "//x"):
        with pytest.raises(Unreachable) as refused:
            get_json(address)
        assert "https" in str(refused.value.__cause__)
    with pytest.raises(Unreachable):
        post_form("http://192.0.2.1/token", {"password": "secret"})


def test_a_redirect_to_an_address_without_tls_is_not_followed(provider: str) -> None:
    with pytest.raises(Unreachable) as refused:
        get_json(f"{provider}/elsewhere")
    assert "https" in str(refused.value.__cause__)


def test_tokens_with_odd_types_are_refused_and_not_errors_of_the_server(provider: str) -> None:
    oidc = Oidc(OidcConfig(provider, ("pinakes",), user_claim="sub"), Issuer(provider, 300.0))
    claims = {"iss": provider, "aud": "pinakes", "exp": int(time.time()) + 600, "sub": "eve"}

    def signed(**changed: Any) -> str:
        return jwt.encode({**claims, **changed}, KEY, algorithm="ES256", headers={"kid": "k"})

    found = oidc.verified(signed())
    assert found is not None
    assert found[0].user == "eve"
    assert oidc.verified(signed(exp=10**400)) is None
    for algorithm in (["ES256"], {"ES256": 1}, 1, None, "none", "HS256"):
        header = base64.urlsafe_b64encode(json.dumps({"alg": algorithm, "kid": "k"}).encode()).rstrip(b"=").decode()
        assert oidc.verified(f"{header}.{signed().split('.', 1)[1]}") is None
