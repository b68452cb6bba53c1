"""Secrets: values that open catalogs and stores, kept so that they can be wiped, and shown nowhere.

A `Secret` has a type, which says what it holds (`KINDS`), and belongs to whoever made it. Its confidential values stand
in buffers that are overwritten when the secret goes; neither `repr`, nor pickling, nor an error of this module shows
one. Catalog types receive secrets in an `Access`, and read a value at the moment they need it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from pinakes.core.errors import InvalidArgument, OptionNotFound, SecretNotFound, listing
from pinakes.core.hints import meant


@dataclass(frozen=True, slots=True)
class Kind:
    """What a type of secret holds: which keys must and may be given, and what for."""

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
"""Each type of secret. Every one may also have a SCOPE: the prefix of the paths that it serves."""

PLAIN = frozenset({"REGION", "ENDPOINT", "URL_STYLE", "PROVIDER", "PROFILE", "TOKEN_URI", "OAUTH_SCOPE", "AUDIENCE",
                   "RESOURCE"})  # fmt: skip
"""Keys whose values are no secret."""

CHOICES = {"URL_STYLE": ("path", "vhost"), "PROVIDER": ("config", "credential_chain")}


class Secret:
    """One secret. Its values are gone after `wipe`, and reading one then is an error."""

    __slots__ = ("_values", "name", "owner", "scope", "shared", "type")

    def __init__(
        self, name: str, type: str, owner: str, values: Mapping[str, str], *, scope: str = "", shared: bool = False
    ) -> None:
        self.name = name
        self.type = type
        self.owner = owner
        self.scope = scope
        self.shared = shared
        self._values: dict[str, bytearray] | None = {key: bytearray(value.encode()) for key, value in values.items()}

    def get(self, key: str) -> str | None:
        """The value of a key, or None when it was not given."""
        values = self._values
        value = None if values is None else values.get(key)
        text = None if value is None else value.decode(errors="replace")
        if self._values is None:  # asked last: it may be overwritten while it is read
            raise SecretNotFound(f"secret '{self.name}' was dropped")
        return text

    def __getitem__(self, key: str) -> str:
        value = self.get(key)
        if value is None:
            raise InvalidArgument(f"secret '{self.name}' (type {self.type}) has no {key}")
        return value

    @property
    def uses_chain(self) -> bool:
        """The credentials are those that the environment offers (variables, profiles, the machine's role)."""
        return self.get("PROVIDER") == "credential_chain"

    def wipe(self) -> None:
        """Overwrite every value."""
        values, self._values = self._values, None
        for value in (values or {}).values():
            value[:] = bytes(len(value))

    def __repr__(self) -> str:
        return f"Secret({self.name!r}, type={self.type!r}, owner={self.owner!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret can't be copied or pickled")


@dataclass(frozen=True, slots=True)
class Access:
    """With what a catalog is opened: the secret that ATTACH names for it and for its storage, or a user's own token."""

    secret: Secret | None = None
    storage: Secret | None = None
    token: str | None = field(default=None, repr=False)

    def of_type(self, *types: str) -> Secret | None:
        """The catalog's secret, which must be of one of these types."""
        if self.secret is not None and self.secret.type not in types:
            raise InvalidArgument(
                f"secret '{self.secret.name}' is of type {self.secret.type}; this catalog takes: {listing(types)}"
            )
        return self.secret


ANONYMOUS = Access()


def parse_secret(name: str, owner: str, given: Mapping[str, Any], *, shared: bool = False) -> Secret:
    """The secret that CREATE SECRET describes: its type, its keys and no others, each of them a text."""
    options = {key.upper(): value for key, value in given.items()}
    type = options.pop("TYPE", None)
    if not isinstance(type, str) or type.lower() not in KINDS:
        asked = f"has no type {type!r}" if isinstance(type, str) else "needs a TYPE"
        hint = meant(type, KINDS) if isinstance(type, str) else ""
        raise InvalidArgument(f"CREATE SECRET {name} {asked}.{hint} Types: {_kinds()}")
    type = type.lower()
    scope = options.pop("SCOPE", "")
    if not isinstance(scope, str):
        raise InvalidArgument(f"SCOPE of secret {name} must be the beginning of a path, such as 's3://bucket'")
    values = _checked(name, type, options)
    return Secret(name, type, owner, values, scope=scope, shared=shared)


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
    if wrong:  # the value itself is not told
        raise InvalidArgument(f"{wrong[0]} of secret {name} must be a text in single quotes")
    values = {key: value.lower() if key in CHOICES else value for key, value in given.items()}
    for key, choices in CHOICES.items():
        if key in values and values[key] not in choices:
            raise InvalidArgument(f"{key} of secret {name} must be one of {', '.join(choices)}")
    _check_keys(name, values)
    return values


def _check_keys(name: str, values: Mapping[str, str]) -> None:
    if ("KEY_ID" in values) != ("SECRET" in values):
        raise InvalidArgument(f"secret {name} needs both KEY_ID and SECRET, or neither")


def _kinds() -> str:
    return "; ".join(f"{type} ({kind.doc}: {', '.join(kind.keys)})" for type, kind in KINDS.items())
