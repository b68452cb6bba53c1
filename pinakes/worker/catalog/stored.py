"""Catalogs that SQL may change: their content is one dict in a storage, which is replaced as a unit and in
transactions.

A transaction has a copy of the content and its version. COMMIT stores the copy if that is still the current version; so
if two transactions began at the same version, the second one fails. All state is in the storage, so that any process
can handle the next request.
"""

from __future__ import annotations

import json
from typing import Any

from pinakes.worker.catalog.names import AttachOpaqueData, TransactionOpaqueData
from pinakes.worker.catalog.storage import CatalogStorageSqlite

_CONTENT = AttachOpaqueData(b"content")
"""The entry of a storage that has the committed content."""
_EMPTY: dict[str, Any] = {"version": 0, "content": {}}


class StoredContent:
    """A mix-in for a catalog: implement `storage`, read with `content` and write with `change`."""

    def storage(self, attach_opaque_data: AttachOpaqueData) -> CatalogStorageSqlite:
        """Returns the storage of an attachment."""
        raise NotImplementedError(f"{type(self).__name__} must say where its storage is")

    def content(
        self,
        attach_opaque_data: AttachOpaqueData,
        transaction_opaque_data: TransactionOpaqueData | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """Returns the content of the transaction, or the last committed content."""
        found: dict[str, Any] = self._state(attach_opaque_data, transaction_opaque_data)["content"]
        return found

    def change(
        self,
        content: dict[str, Any],
        attach_opaque_data: AttachOpaqueData,
        transaction_opaque_data: TransactionOpaqueData | None = None,
        **_: Any,
    ) -> None:
        """Replaces the content: of the transaction, or, without one, the committed content."""
        storage, before = self.storage(attach_opaque_data), self._state(attach_opaque_data, transaction_opaque_data)
        if transaction_opaque_data is None:
            self._put(storage, before, content)
        else:
            state = json.dumps({**before, "content": content}).encode()
            storage.transaction_put(transaction_opaque_data, _CONTENT, state)

    # --- methods of the catalog interface ------------------------------------------------------------------------

    def catalog_version(
        self, *, attach_opaque_data: AttachOpaqueData, transaction_opaque_data: TransactionOpaqueData | None
    ) -> int:
        return int(self._state(attach_opaque_data, None)["version"])

    def catalog_transaction_begin(self, *, attach_opaque_data: AttachOpaqueData) -> TransactionOpaqueData:
        storage, state = self.storage(attach_opaque_data), self._state(attach_opaque_data, None)
        storage.attach_add(_CONTENT, "", _EMPTY)
        begun = storage.generate_transaction_opaque_data()
        storage.transaction_put(begun, _CONTENT, json.dumps({**state, "begun": state["version"]}).encode())
        return begun

    def catalog_transaction_commit(
        self, *, attach_opaque_data: AttachOpaqueData, transaction_opaque_data: TransactionOpaqueData
    ) -> None:
        """Commits; does nothing if the transaction has ended already."""
        storage = self.storage(attach_opaque_data)
        found = storage.transaction_get(transaction_opaque_data)
        if found is None:
            return
        state, before = json.loads(found[1]), self._state(attach_opaque_data, None)
        storage.transaction_delete(transaction_opaque_data)
        if state["begun"] != before["version"]:
            raise ValueError("the catalog was changed by another writer since the transaction began: run it again")
        if state["content"] != before["content"]:
            self._put(storage, before, state["content"])

    def catalog_transaction_rollback(
        self, *, attach_opaque_data: AttachOpaqueData, transaction_opaque_data: TransactionOpaqueData
    ) -> None:
        self.storage(attach_opaque_data).transaction_delete(transaction_opaque_data)

    # --- internals -----------------------------------------------------------------------------------------------

    def _state(self, attach: AttachOpaqueData, transaction: TransactionOpaqueData | None) -> dict[str, Any]:
        storage = self.storage(attach)
        begun = storage.transaction_get(transaction) if transaction is not None else None
        if transaction is not None and begun is None:
            raise ValueError("this transaction is over")
        if begun is not None:
            found: dict[str, Any] = json.loads(begun[1])
            return found
        committed = storage.attach_get(_CONTENT)
        return _EMPTY if committed is None else committed[1]

    def _put(self, storage: CatalogStorageSqlite, before: dict[str, Any], content: dict[str, Any]) -> None:
        storage.attach_add(_CONTENT, "", _EMPTY)
        after = {"version": before["version"] + 1, "content": content}
        if not storage.attach_replace(_CONTENT, before, after):
            raise ValueError("the catalog was changed by another writer at the same moment: run it again")
