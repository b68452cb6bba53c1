"""Secrets: credentials for catalogs and stores, which can be wiped and are never shown.

A `Secret` has a type, which defines its keys (`KINDS`), and an owner. Its confidential values are in buffers that are
overwritten when the secret is dropped; neither `repr`, nor pickling, nor an error of this module shows one. Catalog
types receive secrets in an `Access`, and read a value when they need it.

A secret has two restrictions: the users and roles that may use it (`serves`), and the destinations that it may be sent
to (`SCOPE`: scheme, host, port and path prefix), which is checked before anything is sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import unquote

from pinakes.core.errors import InvalidArgument, OptionNotFound, PermissionDenied, SecretNotFound, listing
from pinakes.core.suggestions import did_you_mean

if TYPE_CHECKING:
    from pinakes.core.access.outbound import Outbound
    from pinakes.core.identity import Identity


@dataclass(frozen=True, slots=True)
class Kind:
    """The keys of a secret type: required, optional, and their purpose."""

    doc: str
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        return (*self.required, *self.optional)


KINDS: dict[str, Kind] = {
    "bearer": Kind("a token that is sent as it is", ("TOKEN",)),
    "basic": Kind("a user and a password", ("USERNAME", "PASSWORD")),
    "oauth2": Kind(
        "client credentials, for which tokens are fetched",
        ("CLIENT_ID", "CLIENT_SECRET"),
        ("TOKEN_URI", "OAUTH_SCOPE", "AUDIENCE", "RESOURCE"),
    ),
    "aws": Kind(
        "keys for AWS, a profile, or PROVIDER credential_chain for what the environment offers",
        (),
        ("KEY_ID", "SECRET", "SESSION_TOKEN", "REGION", "PROFILE", "PROVIDER"),
    ),
    "s3": Kind(
        "access to an object store",
        (),
        ("KEY_ID", "SECRET", "SESSION_TOKEN", "REGION", "ENDPOINT", "URL_STYLE", "PROVIDER", "PROFILE"),
    ),
}
"""The types of secrets. Each may also have a SCOPE: the prefix of the addresses or paths that it applies to."""

STORAGE = ("s3", "aws")
"""Types for object stores: they sign requests, and the key is never sent."""
EVERYONE = "*"
"""Matches every user in the users of a secret."""

PLAIN = frozenset({"REGION", "ENDPOINT", "URL_STYLE", "PROVIDER", "PROFILE", "TOKEN_URI", "OAUTH_SCOPE", "AUDIENCE",
                   "RESOURCE"})  # fmt: skip
"""Keys whose values are not confidential."""

CHOICES = {"URL_STYLE": ("path", "vhost"), "PROVIDER": ("config", "credential_chain")}

_REGION = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")
_PORTS = {"http": "80", "https": "443", "postgresql": "5432", "mysql": "3306", "thrift": "9083"}


class Secret:
    """A secret. After `wipe` its values are erased, and reading one is an error."""

    __slots__ = ("_values", "name", "owner", "persistent", "roles", "scope", "shared", "type", "users")

    def __init__(
        self,
        name: str,
        type: str,
        owner: str,
        values: Mapping[str, str],
        *,
        scope: str = "",
        shared: bool = False,
        users: Iterable[str] = (),
        roles: Iterable[str] = (),
        persistent: bool = False,
    ) -> None:
        self.persistent = persistent
        self.name = name
        self.type = type
        self.owner = owner
        self.scope = scope
        self.shared = shared
        self.users, self.roles = frozenset(users), frozenset(roles)
        self._values: dict[str, bytearray] | None = {key: bytearray(value.encode()) for key, value in values.items()}

    def get(self, key: str) -> str | None:
        """Returns the value of a key, or None if it was not given."""
        values = self._values
        value = None if values is None else values.get(key)
        text = None if value is None else value.decode(errors="replace")
        if self._values is None:  # checked last: the value may be overwritten while it is read
            raise SecretNotFound(f"secret '{self.name}' was dropped")
        return text

    def __getitem__(self, key: str) -> str:
        value = self.get(key)
        if value is None:
            raise InvalidArgument(f"secret '{self.name}' (type {self.type}) has no {key}")
        return value

    def serves(self, identity: Identity) -> bool:
        """Returns whether a user may use it: its owner if it is not shared; otherwise the users and roles that it
        names, and administrators.
        """
        if not self.shared:
            return self.owner == identity.user
        named = EVERYONE in self.users or identity.user in self.users or bool(self.roles & identity.roles)
        return identity.is_admin or named

    def check_scope(self, *places: str) -> None:
        """Raises PermissionDenied unless every address that it would be sent to is within its scope."""
        if self.type in STORAGE and _split(self.scope)[0] == "s3":
            return  # the scope limits the objects, not the services
        outside = [place for place in places if not covers(self.scope, place)]
        if outside:
            raise PermissionDenied(
                f"secret '{self.name}' is for {self.scope} and is not sent to {_shown(outside[0])}. Use an address "
                f"within its SCOPE, or a secret for this one: CREATE SECRET s (TYPE {self.type}, …, SCOPE '…')"
            )

    @property
    def has_keys(self) -> bool:
        """Whether it has credentials for signing; without them, requests to an object store are anonymous."""
        return self.get("KEY_ID") is not None or self.get("PROFILE") is not None or self.uses_chain

    @property
    def uses_chain(self) -> bool:
        """Whether the credentials are those of the environment (variables, profiles, the machine's role)."""
        return self.get("PROVIDER") == "credential_chain"

    def options(self) -> dict[str, str]:
        """Returns all options as in CREATE SECRET, to be stored encrypted."""
        values = {key: self[key] for key in tuple(self._values or ())}
        return {"TYPE": self.type, **({"SCOPE": self.scope} if self.scope else {}), **values}

    def wipe(self) -> None:
        """Overwrites every value."""
        values, self._values = self._values, None
        for value in (values or {}).values():
            value[:] = bytes(len(value))

    def __repr__(self) -> str:
        return f"Secret({self.name!r}, type={self.type!r}, owner={self.owner!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret can't be copied or pickled")


@dataclass(frozen=True, slots=True)
class Access:
    """The credentials that a catalog is opened with: the secrets that ATTACH names for it and for its storage, or the
    user's token.

    `outbound` limits the destinations; None is any. A catalog type resolves names through it. `ambient` is whether the
    credentials of this process may be used where no others are given.
    """

    secret: Secret | None = None
    storage: Secret | None = None
    token: str | None = field(default=None, repr=False)
    outbound: Outbound | None = None
    ambient: bool = True

    @property
    def stores(self) -> str:
        """The scope that files in object stores must be in: that of the storage secret. Where the credentials of this
        process may not be used, only S3 is allowed, since the libraries for other stores would use them.
        """
        used = self.storage or (self.secret if self.secret is not None and self.secret.type in STORAGE else None)
        if used is not None and _split(used.scope)[0] == "s3":
            return used.scope
        return "" if self.ambient and self.outbound is None else "s3://"

    def of_type(self, *types: str) -> Secret | None:
        """Returns the catalog's secret, which must be of one of these types."""
        if self.secret is not None and self.secret.type not in types:
            raise InvalidArgument(
                f"secret '{self.secret.name}' is of type {self.secret.type}; this catalog takes: {listing(types)}"
            )
        return self.secret


ANONYMOUS = Access()


def parse_secret(
    name: str,
    owner: str,
    given: Mapping[str, Any],
    *,
    shared: bool = False,
    users: Iterable[str] = (),
    roles: Iterable[str] = (),
    persistent: bool = False,
) -> Secret:
    """Parses the options of CREATE SECRET: the type, its keys and no others, each of them a text."""
    options = {key.upper(): value for key, value in given.items()}
    type = options.pop("TYPE", None)
    if not isinstance(type, str) or type.lower() not in KINDS:
        problem = f"has no type {type!r}" if isinstance(type, str) else "needs a TYPE"
        hint = did_you_mean(type, KINDS) if isinstance(type, str) else ""
        raise InvalidArgument(f"CREATE SECRET {name} {problem}.{hint} Types: {_kinds()}")
    type = type.lower()
    scope = options.pop("SCOPE", "")
    _check_scope(name, type, scope)
    values = _checked(name, type, options)
    return Secret(
        name, type, owner, values, scope=scope, shared=shared, users=users, roles=roles, persistent=persistent
    )


def covers(scope: str, place: str) -> bool:
    """Returns whether an address or path is within a scope, compared by scheme, host, port and complete path segments:
    's3://a' covers 's3://a/b' and not 's3://ab'. A path with segments such as .. is within no scope.
    """
    if not scope:
        return True
    wanted, found = _split(scope), _split(place)
    if any({".", ".."} & set(re.split(r"[/\\]", unquote(step))) for step in found[2]):
        return False
    if wanted[:2] == ("s3", ""):  # all buckets
        return found[0] == "s3"
    return wanted[:2] == found[:2] and found[2][: len(wanted[2])] == wanted[2]


def _split(address: str) -> tuple[str, str, list[str]]:
    """Returns the scheme, the host with its port, and the segments of the path; s3a and s3n are s3."""
    scheme, _, rest = address.strip().partition("://")
    scheme = scheme.lower()
    if scheme in ("s3a", "s3n"):
        scheme = "s3"
    if scheme != "s3":  # the keys of objects may have these in them
        rest = re.split(r"[?#]", rest)[0]
    host, _, path = rest.partition("/")
    if scheme != "s3":
        name, colon, port = host.lower().rpartition(":")
        if not colon or not port.isdigit():
            name, port = host.lower(), _PORTS.get(scheme, "")
        host = f"{name.removesuffix('.')}:{port}"
    return scheme, host, path.rstrip("/").split("/") if path.rstrip("/") else []


def _shown(place: str) -> str:
    """Returns scheme and host; other parts of an address may be confidential."""
    scheme, host, _ = _split(place)
    return f"{scheme}://{host.rpartition('@')[2]}"


def _check_scope(name: str, type: str, scope: object) -> None:
    example = "'s3://bucket/path'" if type in STORAGE else "'https://catalog.example.com/path'"
    if not isinstance(scope, str):
        raise InvalidArgument(f"SCOPE of secret {name} must be a text: the beginning of addresses, such as {example}")
    if not scope:
        return
    scheme, host, steps = _split(scope)
    is_storage = scheme == "s3"
    if (
        "://" not in scope
        or not _SCHEME.fullmatch(scheme)
        or (is_storage and type not in STORAGE)
        or (not is_storage and (not host.partition(":")[0] or "@" in host or re.search(r"[?#]", scope)))
        or {".", ".."} & set(steps)
    ):
        raise InvalidArgument(
            f"SCOPE of secret {name} must be a scheme, a host and if need be a port and the beginning of a path, such "
            f"as {example}"
        )


def _checked(name: str, type: str, given: Mapping[str, Any]) -> dict[str, str]:
    kind = KINDS[type]
    unknown = [key for key in given if key not in kind.keys]
    if unknown:
        raise OptionNotFound(
            f"a secret of type {type} has no option {unknown[0]}; it has: {', '.join((*kind.keys, 'SCOPE'))}"
        )
    missing = [key for key in kind.required if not given.get(key)]
    if missing:
        raise InvalidArgument(f"secret {name} of type {type} needs {', '.join(missing)}")
    wrong = [key for key, value in given.items() if not isinstance(value, str)]
    if wrong:  # the value is not shown
        raise InvalidArgument(f"{wrong[0]} of secret {name} must be a text in single quotes")
    values = {key: value.lower() if key in CHOICES else value for key, value in given.items()}
    for key, choices in CHOICES.items():
        if key in values and values[key] not in choices:
            raise InvalidArgument(f"{key} of secret {name} must be one of {', '.join(choices)}")
    _check_keys(name, values)
    return values


def check_region(region: str, what: str) -> None:
    """Checks a region, since regions become part of host names."""
    if not _REGION.fullmatch(region.lower()) or len(region) > 63:
        raise InvalidArgument(f"{what} must be the name of a region, such as eu-central-1")


def _check_keys(name: str, values: Mapping[str, str]) -> None:
    if "REGION" in values:
        check_region(values["REGION"], f"REGION of secret {name}")
    if ("KEY_ID" in values) != ("SECRET" in values):
        raise InvalidArgument(f"secret {name} needs both KEY_ID and SECRET, or neither")


def _kinds() -> str:
    return "; ".join(f"{type} ({kind.doc}: {', '.join(kind.keys)})" for type, kind in KINDS.items())
