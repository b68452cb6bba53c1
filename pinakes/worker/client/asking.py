"""What all parts of a catalog client share: how a method is called, and how a table or a view is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from pinakes.worker.catalog.names import AttachOpaqueData, TransactionOpaqueData
from pinakes.worker.catalog.records import path_of
from pinakes.worker.wire.records import decode

Txn = TransactionOpaqueData | None
Path = str | Sequence[str]
"""The name of a schema; its levels, where there are several."""


class Named(TypedDict):
    """Which table or view."""

    attach_opaque_data: AttachOpaqueData
    transaction_opaque_data: NotRequired[Txn]
    schema_name: Path
    name: str


class Asking:
    """Mixed into a `Client`, or whatever else can call a worker."""

    if TYPE_CHECKING:  # the client's own: it comes after this class

        def call(self, method: str, values: Mapping[str, Any] | None = None) -> bytes | None: ...

    def _items(self, method: str, values: Mapping[str, Any]) -> list[bytes]:
        return decode(self.call(method, values), f"the answer of {method}").get("items") or []


def where_values(given: Named) -> dict[str, Any]:
    """The values that name a table or a view. Whoever's types nobody checks is told what is wrong."""
    unknown = set(given) - set(Named.__annotations__)
    if unknown:
        raise TypeError(f"unknown argument {min(unknown)!r}")
    return {
        **in_values(given["attach_opaque_data"], given.get("transaction_opaque_data")),
        **of_values(given["schema_name"], given["name"]),
    }


def in_values(attach: AttachOpaqueData, transaction: Txn) -> dict[str, Any]:
    return {"attach_opaque_data": attach, "transaction_opaque_data": transaction}


def of_values(schema: Path, name: str) -> dict[str, Any]:
    return {"schema_path": path_of(schema), "name": name}
