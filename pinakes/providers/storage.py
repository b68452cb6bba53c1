"""Storage of Iceberg catalogs: a secret of type `s3` (or `aws`) as what pyiceberg's file access takes; warehouses."""

from __future__ import annotations

from collections.abc import Mapping

from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.core.outbound import destination_of
from pinakes.core.secrets import Access, Secret, check_region
from pinakes.providers.locations import written_location

_ELSEWHERE = ("s3.proxy-uri", "gcs.", "adls.", "hdfs.", "hf.")
"""Properties that lead pyarrow to proxies and to stores other than S3: left out for users who are limited."""
_OF_THE_SERVER = (".role-arn", ".role-session-name", ".profile-name")
"""Endings of properties by which pyarrow and boto3 act with what this process is known by."""
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


def limited_storage(properties: Mapping[str, str], access: Access) -> dict[str, str]:
    """What pyiceberg's file access is given for a catalog of a user who is not an administrator.

    pyarrow and DataFusion open connections to object stores themselves, so that an endpoint must be one that the
    outbound policy lists, whether a secret, an option or the catalog's server names it. Without keys a store is asked
    anonymously, and not with the credentials of this process.
    """
    found = dict(properties)
    if access.outbound is not None:
        found = {key: value for key, value in found.items() if not key.startswith(_ELSEWHERE)}
        if found.get("s3.endpoint"):
            access.outbound.check(destination_of(str(found["s3.endpoint"]), library=True))
    for key in ("s3.region", "client.region"):
        if found.get(key):
            check_region(str(found[key]), f"the property {key}")
    if not access.ambient:
        found = {key: value for key, value in found.items() if not key.endswith(_OF_THE_SERVER)}
        found.pop("s3.anonymous", None)
        if not found.get("s3.access-key-id") and not found.get("client.access-key-id"):
            found["s3.anonymous"] = "true"
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
