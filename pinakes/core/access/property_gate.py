"""Checks of properties: keys that may be stored in a table, and keys that may reach the libraries that read its files.

pyiceberg, Java's Iceberg and Spark interpret some properties as names of classes, which they import and call; others
name files, commands, proxies or roles. Properties from data never reach them: `providers/iceberg/table_io.py` creates
FileIO and location providers, and takes only the keys listed here."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

from pinakes.core.errors import InvalidArgument

WRITE_PATHS = (
    "write.data.path",
    "write.metadata.path",
    "write.object-storage.path",
    "write.folder-storage.path",
)
"""Table properties that are locations."""
PATHS = ("location", *WRITE_PATHS)
"""The same, with those of namespaces."""


def names_code(key: str) -> bool:
    """Returns whether a reader of Iceberg interprets a property as the name of a class, or as a rule for resolving
    names.
    """
    lower = key.strip().lower()
    return (
        lower.startswith(("py-", "default_"))
        or ".py-" in lower
        or lower.endswith(("-impl", ".impl", "_impl", ".factory", "-factory"))
        or lower in ("impl", "factory", "storage_handler")
    )


def check_properties(keys: Iterable[str]) -> None:
    """Raises InvalidArgument for a property that a statement may not store in a table, view or namespace."""
    for key in keys:
        if names_code(key):
            raise InvalidArgument(
                f"the property {key!r} can't be set: it names a class that readers of the table would load. "
                f"Remove it from the statement."
            )


def harmless(properties: Mapping[str, str]) -> dict[str, str]:
    """Returns the existing properties that a statement may store."""
    return {key: value for key, value in properties.items() if not names_code(key)}


# --- access to files -------------------------------------------------------------------------------------------------

Check = Callable[[str], bool]


def _text(value: str) -> bool:
    return value.isprintable()


def _seconds(value: str) -> bool:
    try:
        return 0 < float(value) < 86_400 and math.isfinite(float(value))
    except ValueError:
        return False


def _time(value: str) -> bool:
    """Returns whether the value is milliseconds since 1970."""
    return value.isascii() and value.isdecimal() and len(value) <= 14


def _flag(value: str) -> bool:
    return value.lower() in ("true", "false")


FROM_SERVERS: Mapping[str, Check] = {
    **dict.fromkeys(
        ("s3.access-key-id", "s3.secret-access-key", "s3.session-token", "s3.endpoint", "s3.region"), _text
    ),
    **dict.fromkeys(("client.access-key-id", "client.secret-access-key", "client.session-token"), _text),
    **dict.fromkeys(("s3.connect-timeout", "s3.request-timeout"), _seconds),
    **dict.fromkeys(
        ("s3.resolve-region", "s3.path-style-access", "s3.force-virtual-addressing", "s3.anonymous"), _flag
    ),
    "s3.remote-signing-enabled": _flag,
    "s3.session-token-expires-at-ms": _time,
    "client.region": _text,
    **dict.fromkeys(("gcs.oauth2.token", "gcs.project-id", "gcs.service.host", "gcs.default-bucket-location"), _text),
    "gcs.oauth2.token-expires-at": _time,
    **dict.fromkeys(("adls.account-name", "adls.account-key", "adls.sas-token", "adls.account-host"), _text),
    **dict.fromkeys(("adls.tenant-id", "adls.client-id", "adls.client-secret", "adls.token"), _text),
    **dict.fromkeys(("adls.blob-storage-authority", "adls.dfs-storage-authority"), _text),
    **dict.fromkeys(("adls.blob-storage-scheme", "adls.dfs-storage-scheme"), _text),
}
"""Properties for file access that are accepted from a REST catalog, with checks of their values. Excluded are classes,
signers, proxies, profiles and roles of this process, and every key that is not listed.
"""

OF_REST_CATALOGS: Mapping[str, Check] = {
    **dict.fromkeys(("warehouse", "prefix", "uri", "namespace-separator", "default-base-location"), _text),
    "view-endpoints-supported": _flag,
}
"""Properties about itself that are accepted from a REST catalog's configuration, in addition to `FROM_SERVERS`."""


_TO_HOSTS: tuple[tuple[tuple[str, ...], tuple[set[str], ...]], ...] = (
    (("gcs.service.host",), ({"gcs.oauth2.token"},)),
    (
        (
            "adls.account-host",
            "adls.blob-storage-authority",
            "adls.dfs-storage-authority",
            "adls.blob-storage-scheme",
            "adls.dfs-storage-scheme",
        ),
        ({"adls.account-key"}, {"adls.sas-token"}, {"adls.tenant-id", "adls.client-id", "adls.client-secret"}),
    ),
)
"""For stores whose clients send a token of this machine when they have no other credentials: the keys that set the
host, and the credentials.
"""


def without_strange_hosts(properties: Mapping[str, str]) -> dict[str, str]:
    """Removes hosts that would receive a token of this machine. S3 receives signatures only."""
    given = {key for key, value in properties.items() if value}
    strange = [key for hosts, ways in _TO_HOSTS if not any(way <= given for way in ways) for key in hosts]
    return {key: value for key, value in properties.items() if key not in strange}


def allowed(properties: Mapping[str, object] | None, *lists: Mapping[str, Check]) -> dict[str, str]:
    """Returns the properties that are on one of the lists and have a valid value."""
    found = {}
    for key, value in (properties or {}).items():
        check = next((known[key] for known in lists if key in known), None)
        if check is not None and isinstance(value, str) and check(value):
            found[key] = value
    return found
