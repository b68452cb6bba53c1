"""Registers object stores with DataFusion for native scans, each under a unique name.

DataFusion identifies stores by the host of a URL, and all sessions of an engine share the registry. Two catalogs may
use one bucket with different keys, or buckets of the same name at different endpoints. A store is therefore registered
under a random host, one for each bucket, endpoint and set of credentials, and a table is only read through the store of
its own credentials.

Files are read natively only if DataFusion reaches them exactly as pyiceberg does: with keys of a secret or vended
credentials, and without environment variables that DataFusion would use instead. Other files are read by pyiceberg, and
so are those of catalogs that limited users attached: DataFusion trusts the number of values in the header of a
dictionary page, and a file with a wrong one takes 16 GB, or ends the process.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import weakref
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from datafusion import RuntimeEnvBuilder, SessionConfig, SessionContext
from datafusion.object_store import AmazonS3

from pinakes.config.model import aws_variables, proxy_of
from pinakes.core.location import Location
from pinakes.engine.iceberg.scan.claims import Claims
from pinakes.engine.iceberg.scan.file_integrity import Remote
from pinakes.engine.iceberg.scan.locations import s3_address, s3_place
from pinakes.providers.iceberg.table_io import TableIO

if TYPE_CHECKING:
    from pyarrow.fs import S3FileSystem
    from pyiceberg.io import FileIO

KEPT = 64
"""The number of recently used stores that stay registered. Vended credentials change hourly."""

_KNOWN = {
    "s3.access-key-id",
    "s3.secret-access-key",
    "s3.session-token",
    "s3.session-token-expires-at-ms",
    "s3.endpoint",
    "s3.region",
    "s3.resolve-region",
    "s3.path-style-access",
    "s3.connect-timeout",
    "s3.request-timeout",
    "client.region",
    "client.access-key-id",
    "client.secret-access-key",
    "client.session-token",
}
"""Properties that a native scan supports. DataFusion does not support others (roles, signers, proxies)."""
_HARMLESS = {"s3.remote-signing-enabled": "false", "s3.force-virtual-addressing": "false", "s3.anonymous": "false"}
_WIN_OVER_KEYS = {
    *("AWS_ENDPOINT_URL_S3", "AWS_VIRTUAL_HOSTED_STYLE_REQUEST", "AWS_S3_EXPRESS", "AWS_SKIP_SIGNATURE"),
    *("AWS_CHECKSUM_ALGORITHM", "AWS_CONDITIONAL_PUT", "AWS_COPY_IF_NOT_EXISTS", "AWS_UNSIGNED_PAYLOAD"),
    *("AWS_PROXY_URL", "AWS_PROXY_CA_CERTIFICATE", "AWS_PROXY_EXCLUDES", "AWS_ALLOW_INVALID_CERTIFICATES"),
}
"""Environment variables that DataFusion's store follows regardless of its arguments."""
_WITHOUT_TOKEN = {"AWS_SESSION_TOKEN", "AWS_TOKEN"}
_WITHOUT_ENDPOINT = {"AWS_ENDPOINT", "AWS_ENDPOINT_URL"}


@dataclass(frozen=True, slots=True)
class Keys:
    """The address and credentials of a bucket."""

    bucket: str
    region: str
    endpoint: str | None
    key_id: str = field(repr=False)
    secret: str = field(repr=False)
    token: str | None = field(repr=False)

    @property
    def place(self) -> str:
        """Identifies the bucket, independent of credentials."""
        return f"{self.endpoint or self.region} {self.bucket}"

    @property
    def fingerprint(self) -> bytes:
        parts = (self.place, self.region, self.key_id, self.secret, self.token or "")
        return hashlib.sha256("\0".join(parts).encode()).digest()


class Registered:
    """A store that is registered with DataFusion while this object is referenced."""

    def __init__(self, context: SessionContext, keys: Keys) -> None:
        self.host = f"pinakes-{secrets.token_hex(16)}"
        context.register_object_store("s3://", _store(keys), self.host)
        weakref.finalize(self, context.deregister_object_store, "s3://", self.host)


class ObjectStores:
    """The object stores of one engine."""

    def __init__(self, runtime: RuntimeEnvBuilder) -> None:
        self._runtime = runtime
        self._context: SessionContext | None = None
        self._lock = threading.Lock()
        self._known: weakref.WeakValueDictionary[bytes, Registered] = weakref.WeakValueDictionary()
        self._recent: OrderedDict[bytes, Registered] = OrderedDict()

    def open(self, keys: Keys) -> Registered:
        """Returns the store for these credentials; registers it on first use."""
        name = keys.fingerprint
        with self._lock:
            found = self._known.get(name)
            if found is None:
                self._context = self._context or SessionContext(SessionConfig(), self._runtime)
                self._known[name] = found = Registered(self._context, keys)
            self._recent[name] = found
            self._recent.move_to_end(name)
            if len(self._recent) > KEPT:
                self._recent.popitem(last=False)
            return found


class TableStores:
    """The object stores of one table in one statement."""

    def __init__(self, stores: ObjectStores, claims: Claims, io: FileIO, location: str) -> None:
        self._stores, self._claims, self._io = stores, claims, io
        self._buckets: dict[str, tuple[Keys, Registered, S3FileSystem] | None] = {}
        home = s3_place(Location.parse(f"{location.rstrip('/')}/-"))
        self._home = home[1][:-1] if home is not None else None

    def file(self, table: str, location: Location, size: int) -> Remote | None:
        """Returns a file in DataFusion's form; None if DataFusion cannot reach it."""
        place = s3_place(location)
        opened = self._opened(place[0]) if place is not None else None
        if place is None or opened is None:
            return None
        (bucket, key), (keys, store, system) = place, opened
        if not self._claims.claim(self._prefix(key), keys.place):
            return None
        return Remote(
            table, location.text, size, store.host, f"{bucket}/{key}", s3_address(store.host, key), system, store
        )

    def _prefix(self, key: str) -> str:
        return self._home if self._home and key.startswith(self._home) else f"{key.rpartition('/')[0]}/"

    def _opened(self, bucket: str) -> tuple[Keys, Registered, S3FileSystem] | None:
        if bucket not in self._buckets:
            self._buckets[bucket] = self._open(bucket)
        return self._buckets[bucket]

    def _open(self, bucket: str) -> tuple[Keys, Registered, S3FileSystem] | None:
        if not isinstance(self._io, TableIO) or self._io.roots.reader or not _is_known(self._io.properties):
            return None
        system: Any = self._io.fs_by_scheme("s3", bucket)  # it has resolved the region
        keys = keys_of(bucket, self._io.properties, system.region)
        if keys is None or not _is_undisturbed(keys):
            return None
        return keys, self._stores.open(keys), system


def keys_of(bucket: str, properties: Mapping[str, str], region: str) -> Keys | None:
    """Returns the address and credentials of a bucket; None without keys, or if DataFusion would parse the endpoint
    differently.
    """
    key_id, secret, token = (
        properties.get(f"s3.{name}") or properties.get(f"client.{name}")
        for name in ("access-key-id", "secret-access-key", "session-token")
    )
    endpoint = properties.get("s3.endpoint") or None
    if not key_id or not secret or (endpoint is not None and not _is_address(endpoint)):
        return None
    return Keys(bucket, region, endpoint, key_id, secret, token or None)


def _is_known(properties: Mapping[str, str]) -> bool:
    said = {k: v for k, v in properties.items() if k.startswith(("s3.", "client.")) and k not in _KNOWN}
    return all(_HARMLESS.get(key) == str(value).lower() for key, value in said.items())


def _is_address(endpoint: str) -> bool:
    parts = urlsplit(endpoint)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.path in ("", "/") and not parts.query


def _is_undisturbed(keys: Keys) -> bool:
    disturbing = set(_WIN_OVER_KEYS)
    if keys.token is None:
        disturbing |= _WITHOUT_TOKEN
    if keys.endpoint is None:
        disturbing |= _WITHOUT_ENDPOINT
    address = keys.endpoint or f"https://s3.{keys.region}.amazonaws.com"
    return not (disturbing & aws_variables()) and proxy_of(address) is None


def _store(keys: Keys) -> AmazonS3:
    return AmazonS3(
        keys.bucket,
        region=keys.region,
        access_key_id=keys.key_id,
        secret_access_key=keys.secret,
        session_token=keys.token,
        endpoint=keys.endpoint,
        allow_http=(keys.endpoint or "").startswith("http://"),
    )
