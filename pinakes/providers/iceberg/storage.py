"""Storage of Iceberg catalogs: converts a secret of type `s3` (or `aws`) to pyiceberg's FileIO properties;
warehouses.
"""

from __future__ import annotations

from collections.abc import Mapping

from pinakes.core.access.outbound import destination_of
from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.core.secrets import Access, Secret, check_region
from pinakes.providers.locations import written_location

_ELSEWHERE = ("s3.proxy-uri", "gcs.", "adls.", "hdfs.", "hf.")
"""Properties that lead pyarrow to proxies and to stores other than S3: removed for users with an outbound policy."""
_OF_THE_SERVER = (".role-arn", ".role-session-name", ".profile-name")
"""Suffixes of properties with which pyarrow and boto3 use the credentials of this process."""
_PROPERTIES = {
    "KEY_ID": "s3.access-key-id",
    "SECRET": "s3.secret-access-key",
    "SESSION_TOKEN": "s3.session-token",
    "REGION": "s3.region",
    "ENDPOINT": "s3.endpoint",
}


def storage_properties(secret: Secret | None) -> dict[str, str]:
    """Returns pyiceberg's FileIO properties for a secret; empty without one, and without keys for the environment's
    credentials.
    """
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
    """Returns the storage properties that a user who is not an administrator may use.

    pyarrow and DataFusion open connections to object stores themselves, so an endpoint must be listed in the outbound
    policy, whether a secret, an option or the catalog's server names it. Without keys a store is accessed anonymously,
    and not with the credentials of this process.
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
    """Returns a URI unchanged, and a path as an absolute path: readers would truncate a file:// URI at a '#' or '?'."""
    return written_location(warehouse).text


def _of_profile(profile: str) -> dict[str, str]:
    """Returns the current credentials of an AWS profile: pyarrow supports profiles through an environment variable
    only.
    """
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
