"""Read-only catalogs. The simplest one is a name and some functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, NoReturn

from pinakes.worker.catalog.infos import CatalogAttachResult, SchemaInfo, TableInfo, ViewInfo
from pinakes.worker.catalog.interface import CatalogInterface, SchemaObject, Txn
from pinakes.worker.catalog.names import AttachOpaqueData, FunctionType, SchemaObjectType
from pinakes.worker.exceptions import CatalogReadOnlyError
from pinakes.worker.function import Function

MAIN = "main"

_CHANGES = (
    "catalog_create",
    "catalog_drop",
    "schema_create",
    "schema_drop",
    "table_create",
    "table_drop",
    "table_rename",
    "table_comment_set",
    "table_column_comment_set",
    "table_column_add",
    "table_column_drop",
    "table_column_rename",
    "table_column_type_change",
    "table_column_default_set",
    "table_column_default_drop",
    "table_not_null_set",
    "table_not_null_drop",
    "view_create",
    "view_drop",
    "view_rename",
    "view_comment_set",
)


class ReadOnlyCatalogInterface(CatalogInterface):
    """A catalog in which every change raises CatalogReadOnlyError. `functions` are those of its schema `main`."""

    catalog_name: ClassVar[str | None] = None
    functions: ClassVar[Sequence[type[Function]]] = ()

    def catalogs(self) -> Iterable[str]:
        return [self.catalog_name] if self.catalog_name else []

    def catalog_attach(self, *, name: str, options: dict[str, Any]) -> CatalogAttachResult:
        known = list(self.catalogs())
        if name not in known:
            raise ValueError(f"catalog '{name}' does not exist; available: {', '.join(known) or 'none'}")
        return CatalogAttachResult(
            attach_opaque_data=AttachOpaqueData(name.encode()), catalog_version_frozen=True, catalog_version=1
        )

    def catalog_version(self, *, attach_opaque_data: AttachOpaqueData, transaction_opaque_data: Txn) -> int:
        return 1

    def schema_get(
        self, *, attach_opaque_data: AttachOpaqueData, transaction_opaque_data: Txn, name: str
    ) -> SchemaInfo | None:
        return SchemaInfo(attach_opaque_data=attach_opaque_data, name=MAIN) if name == MAIN else None

    def table_get(
        self, *, attach_opaque_data: AttachOpaqueData, transaction_opaque_data: Txn, schema_name: str, name: str
    ) -> TableInfo | None:
        return None

    def view_get(
        self, *, attach_opaque_data: AttachOpaqueData, transaction_opaque_data: Txn, schema_name: str, name: str
    ) -> ViewInfo | None:
        return None

    def schema_contents(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        transaction_opaque_data: Txn,
        name: str,
        type: SchemaObjectType | None = None,
    ) -> Iterable[SchemaObject]:
        return [f.info(name) for f in self.functions if name == MAIN and is_wanted(f, type)]


def is_wanted(function: type[Function], type: SchemaObjectType | None) -> bool:
    """Whether a listing of this kind includes the function."""
    kinds = {
        SchemaObjectType.SCALAR_FUNCTION: FunctionType.SCALAR,
        SchemaObjectType.TABLE_FUNCTION: FunctionType.TABLE,
    }
    return type is None or kinds.get(type) is function.TYPE


def _refusing(method: str) -> Any:
    def refuse(self: ReadOnlyCatalogInterface, **_: Mapping[str, Any]) -> NoReturn:
        raise CatalogReadOnlyError(f"{method.replace('_', ' ')} is not possible: the catalog is read-only")

    refuse.__name__ = method
    return refuse


for _method in _CHANGES:
    setattr(ReadOnlyCatalogInterface, _method, _refusing(_method))
