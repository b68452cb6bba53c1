"""Shared code of the parts of a catalog client: how a method is called, and how a table or a view is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from pinakes.worker.catalog.names import AttachOpaqueData, TransactionOpaqueData
from pinakes.worker.catalog.records import path_of
from pinakes.worker.wire.records import decode

Txn = TransactionOpaqueData | None
Path = str | Sequence[str]
"""The name of a schema, or its levels if it is nested."""


class Named(TypedDict):
    """The arguments that name a table or view."""

    attach_opaque_data: AttachOpaqueData
    transaction_opaque_data: NotRequired[Txn]
    schema_name: Path
    name: str


class CallMixin:
    """A mix-in for a `Client`, or another class with a method `call`."""

    if TYPE_CHECKING:  # implemented by the client, which comes after this class

        def call(self, method: str, values: Mapping[str, Any] | None = None) -> bytes | None: ...

    def _items(self, method: str, values: Mapping[str, Any]) -> list[bytes]:
        return decode(self.call(method, values), f"the answer of {method}").get("items") or []


def where_values(given: Named) -> dict[str, Any]:
    """Returns the values that name a table or a view. Raises TypeError for unknown arguments, for callers without a
    type checker.
    """
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
