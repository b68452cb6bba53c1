"""The catalog of a worker, as the worker describes it; changes are in `changes.py`.

The location is a command, `unix:///path` of a socket, or an `http(s)://` address. Options that are not listed here are
passed to the worker.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from pinakes.core.access.outbound import Destination, Outbound, destination_of
from pinakes.core.catalog import ViewDefinition
from pinakes.core.errors import (
    InvalidArgument,
    NamespaceNotFound,
    NotSupportedError,
    TableNotFound,
    ViewNotFound,
)
from pinakes.core.names import Namespace, dotted, undotted
from pinakes.core.secrets import ANONYMOUS, Access
from pinakes.core.worker_tables import CatalogFunction, WorkerTable
from pinakes.providers.options import option, others_of, parse_options
from pinakes.providers.vgi.attachment import Attachment
from pinakes.providers.vgi.changes import Changes
from pinakes.providers.vgi.scans import FunctionHandle, TableHandle
from pinakes.worker.catalog.infos import FunctionInfo, SchemaInfo, TableInfo, ViewInfo
from pinakes.worker.catalog.names import FunctionType, SchemaObjectType, TransactionOpaqueData
from pinakes.worker.client.location import Location
from pinakes.worker.wire.records import schema_from

if TYPE_CHECKING:
    from pinakes.parser.statements import OptionValue

T = TypeVar("T")
_FUNCTIONS = (SchemaObjectType.SCALAR_FUNCTION, SchemaObjectType.TABLE_FUNCTION)


@dataclass(frozen=True, slots=True)
class VgiOptions:
    """The options of ATTACH … (TYPE vgi, …) that are not passed to the worker."""

    OPEN: ClassVar[bool] = True

    catalog: str | None = option("catalog of the worker; by default the one with the name of the mount", default=None)
    timeout: float = option("time-out for a response of the worker in seconds", default=60.0)
    workers: int = option("maximum number of connections or processes", default=16)
    default_namespace: str | None = option(
        "namespace for names without one; overrides that of the worker", default=None
    )


class VgiCatalog(Changes):
    TYPE: ClassVar[str] = "vgi"
    Options: ClassVar[type[VgiOptions]] = VgiOptions
    PASSES_TOKEN: ClassVar[bool] = True

    def __init__(
        self, attachment: Attachment, default: Namespace | None, transaction: TransactionOpaqueData | None = None
    ) -> None:
        self.attachment = attachment
        self.transaction = transaction
        self._default = default
        self._kept: dict[Any, Any] = {}
        """Responses of a catalog that never changes."""

    @staticmethod
    def RUNS_COMMANDS(location: str) -> bool:
        return Location(location).kind == "command"

    @classmethod
    def paths_within(cls, location: str, options: Mapping[str, OptionValue]) -> list[str]:
        return [Location(location).path] if Location(location).kind == "unix" else []

    @classmethod
    def destinations(cls, location: str, options: Mapping[str, OptionValue]) -> list[Destination]:
        where = Location(location)
        if where.kind == "unix":
            return [Destination(where.path or "/", 0)]
        return [destination_of(location)] if where.kind in ("http", "https") else []

    @classmethod
    def open(
        cls, alias: str, location: str, options: Mapping[str, OptionValue], access: Access = ANONYMOUS
    ) -> VgiCatalog:
        """Starts or calls the worker at `location`, and attaches to its catalog."""
        parsed = parse_options(VgiOptions, options, f"catalog type {cls.TYPE}")
        if not 0 < parsed.timeout < 1e6 or not 0 < parsed.workers <= 1000:
            raise InvalidArgument("options TIMEOUT and WORKERS of catalog type vgi must be numbers above 0")
        secret = access.of_type("bearer")
        where = Location(location)
        if secret is not None and where.kind not in ("http", "https"):
            raise InvalidArgument("a SECRET goes to workers over HTTP only: leave it out")
        if secret is not None:
            secret.check_scope(location)
        try:
            attachment = Attachment(
                alias,
                where,
                catalog=parsed.catalog,
                options=others_of(VgiOptions, options),
                timeout=parsed.timeout,
                workers=parsed.workers,
                token=secret["TOKEN"] if secret is not None else access.token,
                connect=None if access.outbound is None else partial(_connect, access.outbound),
            )
        except ValueError as error:
            raise InvalidArgument(f"catalog type {cls.TYPE}: {error}") from None
        made = cls(attachment, undotted(parsed.default_namespace) if parsed.default_namespace else None)
        try:
            made.check()
        except BaseException:
            made.close()
            raise
        return made

    @property
    def type(self) -> str:
        return self.TYPE

    def check(self) -> None:
        """Checks that the worker is available and has the catalog."""
        assert self.attachment.attached is not None

    def close(self) -> None:
        if self.transaction is None:
            self.attachment.close()

    @property
    def default_namespace(self) -> Namespace:
        return self._default if self._default is not None else (self.attachment.attached.default_schema,)

    def version(self) -> int | None:
        attached = self.attachment.attached
        if attached.catalog_version_frozen:
            return None
        return self.attachment.catalog_version(**self._context)

    # --- namespaces ----------------------------------------------------------------------------------------------

    def list_namespaces(self, parent: Namespace = ()) -> list[Namespace]:
        paths = self._schemas()
        if parent and parent not in paths and not any(path[: len(parent)] == parent for path in paths):
            raise NamespaceNotFound(f"namespace {dotted(parent)} does not exist")
        below = {path[: len(parent) + 1] for path in paths if path[: len(parent)] == parent and len(path) > len(parent)}
        return sorted(below)

    def namespace_exists(self, namespace: Namespace) -> bool:
        return namespace in self._schemas()

    def load_namespace(self, namespace: Namespace) -> dict[str, str]:
        found = self._schemas().get(namespace)
        if found is None:
            raise NamespaceNotFound(f"namespace {dotted(namespace)} does not exist")
        tags = {f"tag.{key}": value for key, value in found.tags.items()}
        return {**({"comment": found.comment} if found.comment else {}), **tags}

    def _schemas(self) -> dict[Namespace, SchemaInfo]:
        def load() -> dict[Namespace, SchemaInfo]:
            return {info.path: info for info in self.attachment.schemas(**self._context)}

        return self._once("schemas", load)

    # --- tables --------------------------------------------------------------------------------------------------

    def list_tables(self, namespace: Namespace) -> list[str]:
        return sorted(info.name for info in self._contents(namespace, SchemaObjectType.TABLE))

    def load_table(self, namespace: Namespace, name: str) -> WorkerTable:
        info = self._once(("table", namespace, name), lambda: self._table_info(namespace, name))
        schema = schema_from(info.columns, f"the schema of table {name}")
        names = schema.names
        handle = TableHandle(self.attachment, namespace, name, self._all_functions(), self.transaction)
        described = [(f.name, f.metadata or {}) for f in schema]
        return WorkerTable(
            namespace,
            name,
            schema,
            handle,
            required=_columns(names, info.not_null_constraints),
            key=_columns(names, next(iter(info.primary_key_constraints), ())),
            unique=tuple(_columns(names, group) for group in info.unique_constraints),
            checks=tuple(info.check_constraints),
            defaults={n: m[b"default"].decode() for n, m in described if b"default" in m},
            comments={n: m[b"comment"].decode() for n, m in described if b"comment" in m},
            comment=info.comment,
            tags=info.tags,
        )

    def _table_info(self, namespace: Namespace, name: str) -> TableInfo:
        info = self.attachment.table_get(schema_name=namespace, name=name, **self._context)
        if info is None:
            raise TableNotFound(f"table {dotted((*namespace, name))} does not exist")
        return info

    # --- views ---------------------------------------------------------------------------------------------------

    def list_views(self, namespace: Namespace) -> list[str]:
        return sorted(info.name for info in self._contents(namespace, SchemaObjectType.VIEW))

    def load_view(self, namespace: Namespace, name: str) -> ViewDefinition:
        def load() -> ViewInfo | None:
            return self.attachment.view_get(schema_name=namespace, name=name, **self._context)

        info = self._once(("view", namespace, name), load)
        if info is None:
            raise ViewNotFound(f"view {dotted((*namespace, name))} does not exist")
        tags = {f"tag.{key}": value for key, value in info.tags.items()}
        return ViewDefinition(info.definition, None, namespace, None, comment=info.comment, properties=tags)

    # --- functions -----------------------------------------------------------------------------------------------

    def list_functions(self, namespace: Namespace) -> list[CatalogFunction]:
        return [self._function(namespace, info) for info in self._functions(namespace)]

    def _functions(self, namespace: Namespace) -> list[FunctionInfo]:
        return [info for type in _FUNCTIONS for info in self._contents(namespace, type)]

    def _all_functions(self) -> dict[tuple[Namespace, str], FunctionInfo]:
        return {(ns, info.name): info for ns in self._schemas() for info in self._functions(ns)}

    def _function(self, namespace: Namespace, info: FunctionInfo) -> CatalogFunction:
        return CatalogFunction(
            namespace,
            info.name,
            "scalar" if info.function_type is FunctionType.SCALAR else "table",
            schema_from(info.arguments, f"the arguments of {info.name}"),
            schema_from(info.output_schema, f"the output of {info.name}"),
            FunctionHandle(self.attachment, namespace, info, self.transaction),
            optional=tuple(info.defaults),
            description=info.comment,
            tags=info.tags,
            deterministic=info.deterministic,
        )

    # --- internals -----------------------------------------------------------------------------------------------

    @property
    def _context(self) -> dict[str, Any]:
        return {"attach_opaque_data": self.attachment.data, "transaction_opaque_data": self.transaction}

    def _contents(self, namespace: Namespace, type: SchemaObjectType) -> list[Any]:
        if not self.namespace_exists(namespace):
            raise NamespaceNotFound(f"namespace {dotted(namespace)} does not exist")

        def load() -> list[Any]:
            try:
                return list(self.attachment.schema_contents(name=namespace, type=type, **self._context))
            except NotSupportedError:  # a catalog that does not list its contents may still have named objects
                return []

        return self._once((type, namespace), load)

    def _once(self, key: Any, load: Callable[[], T]) -> T:
        """Caches the response permanently if the catalog never changes."""
        if not self.attachment.attached.catalog_version_frozen or self.transaction is not None:
            return load()
        if key not in self._kept:
            self._kept[key] = load()
        found: T = self._kept[key]
        return found


def _connect(outbound: Outbound, address: tuple[str, int], timeout: float | None, *_: object) -> socket.socket:
    """Replaces `socket.create_connection`: connects to an address that the outbound policy allows."""
    return outbound.connect(Destination(*address), timeout)


def _columns(names: list[str], indices: Any) -> tuple[str, ...]:
    if any(not 0 <= i < len(names) for i in indices):
        raise InvalidArgument(f"the worker names columns by the numbers {list(indices)}, and there are {len(names)}")
    return tuple(names[i] for i in indices)
