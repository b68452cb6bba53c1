"""Signs requests for AWS (Signature Version 4), as required by the REST endpoints of Glue and S3 Tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from requests import PreparedRequest

from pinakes.core.errors import InvalidArgument, PermissionDenied
from pinakes.core.secrets import Secret
from pinakes.providers.metastores.aws import boto_session
from pinakes.providers.rest.login import Login

if TYPE_CHECKING:
    import boto3

_EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
"""The SHA-256 of empty content."""


class Signature(Login):
    """Signs each request with the current keys."""

    def __init__(self, secret: Secret, uri: str, region: str | None, service: str | None) -> None:
        self.hint = f"CREATE OR REPLACE SECRET {secret.name} (…) with valid keys"
        self._session: boto3.Session = boto_session(secret, region)
        self._region = region or self._session.region_name
        self._service = service or service_of(uri)
        if self._region is None:
            raise InvalidArgument("requests are signed for a region: give one, ATTACH … (REGION 'eu-central-1')")

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest

        credentials = self._session.get_credentials()
        if credentials is None:
            raise PermissionDenied(f"no credentials for AWS were found. {self.hint}")
        if not request.body:
            request.headers["x-amz-content-sha256"] = _EMPTY
        address = urlsplit(str(request.url))
        signed = AWSRequest(
            method=request.method,
            url=address._replace(query="").geturl(),
            params=dict(parse_qsl(address.query)),
            data=request.body,
            headers={k: v for k, v in request.headers.items() if k.lower() not in ("connection", "authorization")},
        )
        SigV4Auth(credentials.get_frozen_credentials(), self._service, self._region).add_auth(signed)
        request.headers.update(dict(signed.headers.items()))
        return request

    def confidential(self) -> Iterable[str]:
        credentials = self._session.get_credentials()
        if credentials is None:
            return ()
        frozen = credentials.get_frozen_credentials()
        return [value for value in (frozen.access_key, frozen.secret_key, frozen.token) if value]


def service_of(uri: str) -> str:
    """Returns the service to sign for. AWS's own endpoints are named after the service; others are behind an API
    gateway.
    """
    host = urlsplit(uri).hostname or ""
    first = host.partition(".")[0]
    return first if host.endswith((".amazonaws.com", ".api.aws", ".amazonaws.com.cn")) else "execute-api"
