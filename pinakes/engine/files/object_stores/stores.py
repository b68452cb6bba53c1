"""Object stores by path: selects the secret of a path, and opens a file system with it.

Of the secrets that the session's user may use, the one with the longest matching scope is selected. Environment
variables are used only if that secret says so. A file system lives as long as its statement: the next statement uses
the current secrets. `paths.py` finds files, and `errors.py` translates errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from pinakes.core.errors import InvalidArgument, SecretNotFound, listing
from pinakes.core.secrets import Secret
from pinakes.engine.files.object_stores.errors import store_error
from pinakes.engine.files.stamps import Stamp

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.fs import FileInfo, S3FileSystem

    from pinakes.engine.catalogs.authorization.guard import Guard
    from pinakes.engine.catalogs.secrets import SecretStore

A = TypeVar("A")
B = TypeVar("B")
SCHEME = "s3://"
CONNECT_SECONDS, SILENT_SECONDS, ATTEMPTS = 5, 10, 3
"""The connect timeout, the response timeout, and the number of attempts."""
_POLL_SECONDS = 0.2
_AT_ONCE = 16
_BUFFER_BYTES = 4 * 1024 * 1024
"""The bytes per request for sequential reads."""


@dataclass(frozen=True, slots=True)
class Store:
    """The object store of a secret. Paths begin with the bucket."""

    secret: str
    """The name of the secret."""
    system: S3FileSystem = field(repr=False, compare=False)

    def info(self, key: str) -> FileInfo:
        with self.naming_path(key):
            return call_interruptibly(lambda: self.system.get_file_info(key))

    def entries(self, key: str, *, recursive: bool = False) -> list[FileInfo]:
        """Returns the entries below a prefix; none if the prefix does not exist."""
        from pyarrow.fs import FileSelector

        below = FileSelector(key, allow_not_found=True, recursive=recursive)
        with self.naming_path(key):
            found = call_interruptibly(lambda: self.system.get_file_info(below))
        return sorted(found, key=lambda entry: entry.path)

    @contextmanager
    def naming_path(self, key: str) -> Iterator[None]:
        """Translates errors of the store into errors that name the path and the secret."""
        try:
            yield
        except OSError as error:
            ours = store_error(error, SCHEME + key, self.secret)
            if ours is None:
                raise
            raise ours from error


@dataclass(frozen=True, slots=True)
class Remote:
    """A file in an object store."""

    store: Store
    key: str

    def __str__(self) -> str:
        return self.key

    @property
    def path(self) -> str:
        return SCHEME + self.key

    @property
    def below(self) -> tuple[str, ...]:
        """The directories of the key, without the bucket."""
        return tuple(self.key.split("/")[1:-1])

    def open(self) -> pa.NativeFile:
        """Opens the file for random access."""
        with self.store.naming_path(self.key):
            return self.store.system.open_input_file(self.key)

    def stream(self) -> pa.NativeFile:
        """Opens the file for sequential reading."""
        with self.store.naming_path(self.key):
            return self.store.system.open_input_stream(self.key, compression=None, buffer_size=_BUFFER_BYTES)

    def stamp(self) -> Stamp:
        """Returns the stamp; raises FileNotFoundError if the file no longer exists. Modification times have a
        resolution of seconds, so the ETag is included.
        """
        with self.open() as opened:
            said = opened.metadata()
            return Stamp(opened.size(), _text(said.get("Last-Modified")), _text(said.get("ETag")))


class Stores:
    """The object stores of one statement."""

    def __init__(self, secrets: SecretStore, guard: Guard) -> None:
        self._secrets, self._guard, self._identity = secrets, guard, guard.identity
        self._opened: dict[Secret, Store] = {}

    def remote(self, key: str) -> Remote:
        return Remote(self.of(key), key)

    def of(self, key: str) -> Store:
        """Returns the store for a path, of a file or a directory."""
        found = self.find(key)
        if found is None:
            raise self._not_served(key)
        return found

    def find(self, key: str) -> Store | None:
        secret = self._secrets.for_path(f"{SCHEME}{key}/", self._identity)
        if secret is None:
            return None
        if secret not in self._opened:
            self._guard.store(secret)
            self._opened[secret] = Store(secret.name, _open_file_system(secret))
        return self._opened[secret]

    def _not_served(self, key: str) -> SecretNotFound:
        scoped = {s.name: s.scope or "every path" for s in self._secrets.visible(self._identity)
                  if s.type in ("s3", "aws")}  # fmt: skip
        bucket = key.partition("/")[0]
        return SecretNotFound(
            f"no secret serves '{SCHEME}{key}'; available: {listing(f'{n} (for {s})' for n, s in scoped.items())}. "
            f"CREATE SECRET my_store (TYPE s3, KEY_ID '…', SECRET '…', REGION '…', SCOPE '{SCHEME}{bucket}') makes "
            f"one; with PROVIDER credential_chain in place of the keys it takes what the environment offers."
        )


def _open_file_system(secret: Secret) -> S3FileSystem:
    """Opens the file system. A secret without keys is for anonymous access; it does not use the environment."""
    from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem

    from pinakes.providers.iceberg.storage import storage_properties

    given = storage_properties(secret)
    options: dict[str, Any] = {
        "access_key": given.get("s3.access-key-id"),
        "secret_key": given.get("s3.secret-access-key"),
        "session_token": given.get("s3.session-token"),
        "region": given.get("s3.region"),
        "endpoint_override": given.get("s3.endpoint"),
        "force_virtual_addressing": given.get("s3.force-virtual-addressing") == "true",
        "anonymous": "s3.access-key-id" not in given and not secret.uses_chain,
    }
    try:
        return S3FileSystem(
            **{name: value for name, value in options.items() if value},
            connect_timeout=CONNECT_SECONDS,
            request_timeout=SILENT_SECONDS,
            retry_strategy=AwsStandardS3RetryStrategy(max_attempts=ATTEMPTS),
        )
    except (OSError, ValueError):
        raise InvalidArgument(
            f"secret '{secret.name}' can't be used for an object store: check that its ENDPOINT is an address, such as "
            f"'https://store.example.com', and its REGION the name of one"
        ) from None


def call_interruptibly(call: Callable[[], B]) -> B:
    """Runs a call to a store in a thread, and waits in Python, where an interrupt can surface
    (`engine/execution/interrupts.py`): an unresponsive store does not block cancellation."""
    pool = ThreadPoolExecutor(1, thread_name_prefix="pinakes-store")
    try:
        answer = pool.submit(call)
        while not wait([answer], timeout=_POLL_SECONDS).done:
            pass
        return answer.result()
    finally:
        pool.shutdown(wait=False)


def call_parallel(call: Callable[[A], B], items: Iterable[A]) -> list[B]:
    """Calls a function for all items in parallel, and returns the results in order."""
    given = list(items)
    if len(given) < 2:
        return [call(item) for item in given]
    with ThreadPoolExecutor(min(_AT_ONCE, len(given)), thread_name_prefix="pinakes-store") as pool:
        return list(pool.map(call, given))


def _text(value: bytes | None) -> str:
    return "" if value is None else value.decode("utf-8", "replace")
