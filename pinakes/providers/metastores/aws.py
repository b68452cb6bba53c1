"""Shared code of the catalog types on AWS: boto3 sessions from a secret, the error for the missing extra, and log
filters that keep credentials out of logs.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.core.secrets import Access, Secret, check_region
from pinakes.providers.answers import AnswerTooLarge, Meter, check_json
from pinakes.providers.iceberg.storage import limited_storage, storage_properties

if TYPE_CHECKING:
    import boto3
    from botocore.config import Config

_NOISY = (
    "args auth awsrequest client compress configprovider credentials discovery endpoint endpoint_provider handlers "
    "history hooks httpchecksum httpsession loaders monitoring paginate parsers plugin regions retries.adaptive "
    "retries.special retries.standard retryhandler session signers tokens useragent utils waiter"
).split()
"""The modules of botocore that log at DEBUG: requests with signatures and tokens, responses, arguments."""


def boto_session(secret: Secret | None, region: str | None = None, profile: str | None = None) -> boto3.Session:
    """Returns a session with the keys of a secret, its profile, or the environment's credentials (variables, files,
    roles).
    """
    try:
        import boto3
        from botocore.exceptions import BotoCoreError
    except ImportError as error:
        raise missing_extra() from error
    keep_quiet()
    given: dict[str, Any] = {"region_name": region, "profile_name": profile}
    if region is not None:
        check_region(region, "option REGION")
    if secret is not None:
        if not secret.has_keys and profile is None:  # boto3 would use the environment's credentials
            raise InvalidArgument(
                f"secret '{secret.name}' has no keys: give it KEY_ID and SECRET, PROFILE, or PROVIDER credential_chain"
            )
        given = {
            "aws_access_key_id": secret.get("KEY_ID"),
            "aws_secret_access_key": secret.get("SECRET"),
            "aws_session_token": secret.get("SESSION_TOKEN"),
            "region_name": region or secret.get("REGION"),
            "profile_name": profile or secret.get("PROFILE"),
        }
    try:
        return boto3.Session(**given)
    except BotoCoreError as error:
        raise InvalidArgument(f"AWS can't be reached like this: {error}") from error


def boto_config(timeout: float) -> Config:
    """Returns a configuration with timeouts and bounded retries; boto3's defaults are too lax."""
    from botocore.config import Config

    return Config(connect_timeout=timeout, read_timeout=timeout, retries={"total_max_attempts": 3, "mode": "standard"})


def bounded(client: Any, timeout: float) -> Any:
    """Returns the client, whose answers are bounded now: boto3 reads them whole, however long they are."""
    from botocore.exceptions import HTTPClientError

    def send(request: Any, **_: Any) -> Any:
        request.stream_output = True  # the answer is read here
        response = client._endpoint.http_session.send(request)
        meter, parts = Meter(4 * timeout), []
        try:
            for part in response.raw.stream():
                meter.take(len(part))
                parts.append(part)
            response._content = b"".join(parts)
            check_json(response._content)
        except AnswerTooLarge as error:
            response.raw.close()
            raise HTTPClientError(error=error, request=request, response=response) from error
        return response

    client.meta.events.register("before-send", send)
    return client


def missing_extra() -> NotSupportedError:
    return NotSupportedError("catalogs on AWS need boto3, which is not installed: pip install 'pinakes[aws]'")


def keep_quiet() -> None:
    """Drops botocore's DEBUG records, which contain complete requests with session tokens."""
    for module in _NOISY:
        logger = logging.getLogger(f"botocore.{module}")
        if _is_noise not in logger.filters:
            logger.addFilter(_is_noise)


def _is_noise(record: logging.LogRecord) -> bool:
    return record.levelno > logging.DEBUG


def storage_of(session: boto3.Session, access: Access, endpoint: str | None) -> dict[str, str]:
    """Returns the storage properties: from STORAGE_SECRET, else from the catalog's own keys.

    A service other than AWS's own is assumed to serve objects at the same address, unless specified otherwise.
    """
    if access.storage is not None:
        endpoints = {"s3.endpoint": endpoint} if endpoint else {}
        return limited_storage({**endpoints, **storage_properties(access.storage)}, access)
    credentials = session.get_credentials()
    found: dict[str, str | None] = {"s3.endpoint": endpoint, "s3.region": session.region_name}
    if credentials is not None and credentials.method in ("explicit", "shared-credentials-file"):
        frozen = credentials.get_frozen_credentials()  # others may expire; pyarrow finds and renews them
        found["s3.access-key-id"], found["s3.secret-access-key"] = frozen.access_key, frozen.secret_key
        found["s3.session-token"] = frozen.token
    return limited_storage({key: value for key, value in found.items() if value}, access)
