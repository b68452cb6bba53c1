"""The catalog of a worker within a transaction that the worker runs."""

from __future__ import annotations

from pinakes.providers.vgi.catalog import VgiCatalog


class VgiTransaction(VgiCatalog):
    """A catalog whose requests all carry the transaction's data."""

    def commit(self) -> None:
        self._end("commit")

    def rollback(self) -> None:
        self._end("rollback")

    def _end(self, how: str) -> None:
        data, self.transaction = self.transaction, None
        if data is not None:
            end = getattr(self.attachment, f"catalog_transaction_{how}")
            end(attach_opaque_data=self.attachment.data, transaction_opaque_data=data)

    def close(self) -> None:
        """Does nothing: the attachment belongs to the catalog."""
