"""Storage of Iceberg catalogs: a secret of type `s3` (or `aws`) as what pyiceberg's file access takes; warehouses."""

from __future__ import annotations

from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.core.secrets import Secret
from pinakes.providers.locations import written_location

_PROPERTIES = {
    "KEY_ID": "s3.access-key-id",
    "SECRET": "s3.secret-access-key",
    "SESSION_TOKEN": "s3.session-token",
    "REGION": "s3.region",
    "ENDPOINT": "s3.endpoint",
}


def storage_properties(secret: Secret | None) -> dict[str, str]:
    """pyiceberg's FileIO properties for a secret; none for none, nor for what the environment itself offers."""
    if secret is None:
        return {}
    if secret.type not in ("s3", "aws"):
        raise InvalidArgument(f"secret '{secret.name}' is of type {secret.type}; storage takes: s3, aws")
    found = {name: value for key, name in _PROPERTIES.items() if (value := secret.get(key)) is not None}
    if secret.get("URL_STYLE") == "vhost":
        found["s3.force-virtual-addressing"] = "true"
    if (profile := secret.get("PROFILE")) is not None:
        found = {**_of_profile(profile), **found}
    return found


def absolute_warehouse(warehouse: str) -> str:
    """A URI as it is, a path made absolute: as a file:// URI, readers would cut it short at a '#' or '?' in it."""
    return written_location(warehouse).text


def _of_profile(profile: str) -> dict[str, str]:
    """The credentials of an AWS profile as they are now: pyarrow knows profiles by an environment variable only."""
    try:
        import boto3
        from botocore.exceptions import BotoCoreError
    except ImportError as error:
        raise NotSupportedError("a secret with a PROFILE needs boto3: pip install 'pinakes[aws]'") from error
    try:
        session = boto3.Session(profile_name=profile)
        credentials = session.get_credentials()
    except BotoCoreError as error:
        raise InvalidArgument(f"the AWS profile {profile!r} can't be used: {error}") from error
    if credentials is None:
        raise InvalidArgument(f"the AWS profile {profile!r} has no credentials")
    frozen = credentials.get_frozen_credentials()
    values = {
        "s3.access-key-id": frozen.access_key,
        "s3.secret-access-key": frozen.secret_key,
        "s3.session-token": frozen.token,
        "s3.region": session.region_name,
    }
    return {key: value for key, value in values.items() if value}
