"""Names of any number of parts: quoting, comparison and resolution. Identifiers are compared only here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pinakes.core.errors import AmbiguousName, InvalidArgument

Namespace = tuple[str, ...]
"""The levels of a namespace, each non-empty; `()` is the empty namespace, whose meaning depends on the catalog."""

SYSTEM = "system"
INFORMATION_SCHEMA = "information_schema"
TEMP = "temp"
"""The catalog of temporary tables and views, one per session."""
RESERVED_CATALOGS = frozenset({SYSTEM, INFORMATION_SCHEMA, TEMP})

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*\Z")


@dataclass(frozen=True, slots=True)
class Part:
    """One identifier without its quotes. Quoted parts match exactly, others match regardless of case."""

    text: str
    quoted: bool = False

    @property
    def exact(self) -> str:
        """The name of a new object: unquoted identifiers fold to lower case."""
        return self.text if self.quoted else self.text.lower()

    def matches(self, name: str) -> bool:
        return name == self.text if self.quoted else name.casefold() == self.text.casefold()

    def __str__(self) -> str:
        return quote(self.text) if self.quoted else self.text


@dataclass(frozen=True, slots=True)
class Name:
    """A name of one or more parts, or (is_path) a path, optionally after the name of a catalog."""

    parts: tuple[Part, ...]
    is_path: bool = False
    branch: Part | None = None
    """The branch of the table: INSERT INTO t FOR BRANCH b."""

    @classmethod
    def of(cls, *parts: str) -> Name:
        """Returns a name with exact parts."""
        return cls(tuple(Part(p, quoted=True) for p in parts))

    @property
    def last(self) -> Part:
        return self.parts[-1]

    @property
    def called(self) -> str:
        """The qualifier of the table's columns without an alias: of a file, its name without extension."""
        return _stem(self.last.text) if self.is_path else self.last.exact

    def __str__(self) -> str:
        return ".".join(str(p) for p in self.parts)


@dataclass(frozen=True, slots=True)
class Resolved:
    """A resolved name: a catalog, the namespace parts as written, and the object's own part.

    `catalog_given` means that the user named the catalog: then an empty namespace is passed on unchanged, and the
    catalog may replace it with its default namespace.
    """

    catalog: str
    namespace: tuple[Part, ...]
    name: Part
    catalog_given: bool
    is_path: bool = False


def resolve(
    name: Name, mounted: Callable[[Part], str | None], current_catalog: str, current_namespace: Namespace
) -> Resolved:
    """Resolves a name: the last part is the object, a mounted first part the catalog, parts between the namespace;
    defaults apply to the rest.

    `mounted` returns the catalog's exact name, or None when no such catalog is mounted.
    """
    *before, last = name.parts
    catalog = mounted(before[0]) if before else None
    if catalog is not None:
        return Resolved(catalog, tuple(before[1:]), last, catalog_given=True, is_path=name.is_path)
    if not before and not name.is_path:
        before = [Part(level, quoted=True) for level in current_namespace]
    return Resolved(current_catalog, tuple(before), last, catalog_given=False, is_path=name.is_path)


def match(part: Part, names: Iterable[str], what: str) -> str | None:
    """Returns the one of `names` that `part` matches, or None; several matches are an error that lists them."""
    found = [n for n in names if part.matches(n)]
    if len(found) > 1:
        raise AmbiguousName(
            f"{what} {part} is ambiguous: {', '.join(quote(n) for n in sorted(found))} differ only in case. "
            f"Quote the one you mean."
        )
    return found[0] if found else None


_ENDING = re.compile(r"(?<=.)(\.[A-Za-z0-9]+)?(\.(gz|gzip|zst|zstd|bz2|xz))?\Z")


def may_be(name: Sequence[str]) -> Callable[[Sequence[str]], bool]:
    """Returns a predicate that matches exact names which a catalog may treat as equal: some catalogs ignore case, and
    none reports it.
    """
    folded = [part.casefold() for part in name]
    return lambda other: [part.casefold() for part in other] == folded


def _stem(path: str) -> str:
    name = path.rstrip("/").rsplit("/", 1)[-1]
    return _ENDING.sub("", name, count=1) or name or "files"


def quote(identifier: str) -> str:
    """Returns an identifier in double quotes."""
    return '"' + identifier.replace('"', '""') + '"'


def text_literal(value: str) -> str:
    """Returns a text as an SQL literal."""
    return "'" + value.replace("'", "''") + "'"


def spell(identifier: str) -> str:
    """Returns an identifier, quoted only if necessary."""
    return identifier if _PLAIN.match(identifier) else quote(identifier)


def dotted(namespace: Sequence[str]) -> str:
    """Returns a namespace for display: its levels joined by dots, a level with a dot quoted."""
    return ".".join(quote(level) if "." in level or '"' in level else level for level in namespace)


def undotted(text: str) -> Namespace:
    """Parses the output of `dotted`."""
    levels: list[str] = []
    at = 0
    while at <= len(text):
        if text.startswith('"', at):
            found = re.compile(r'"((?:[^"]|"")*)"(?=\.|\Z)').match(text, at)
            if found is None:
                raise InvalidArgument(f"namespace {text!r} has an unclosed quote")
            levels.append(found.group(1).replace('""', '"'))
            at = found.end() + 1
        else:
            end = text.find(".", at)
            end = len(text) if end < 0 else end
            levels.append(text[at:end])
            at = end + 1
    return tuple(levels)


def display(catalog: str, namespace: Sequence[str], name: str) -> str:
    """Returns a full name for messages, each part quoted only if necessary."""
    return ".".join(spell(p) for p in (catalog, *namespace, name))
