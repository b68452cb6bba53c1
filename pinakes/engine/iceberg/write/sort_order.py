"""The sort order of a table: as metadata updates, and with renumbered columns."""

from __future__ import annotations

from pyiceberg.schema import Schema
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER, SortOrder, assign_fresh_sort_order_ids
from pyiceberg.table.update import AddSortOrderUpdate, SetDefaultSortOrderUpdate, TableUpdate


def order_of(metadata: TableMetadata) -> SortOrder | None:
    """Returns the table's sort order, if any."""
    order = metadata.sort_order_by_id(metadata.default_sort_order_id)
    return None if order is None or order.is_unsorted else order


def order_updates(metadata: TableMetadata, order: SortOrder | None) -> tuple[TableUpdate, ...]:
    """Returns updates that set this order, or none. An existing order is reused, since files refer to its id."""
    fields = order.fields if order is not None else []
    known = next((o.order_id for o in metadata.sort_orders if o.fields == fields), None)
    if known is not None:
        return (_made_default(known),) if known != metadata.default_sort_order_id else ()
    following = max((o.order_id for o in metadata.sort_orders), default=0) + 1
    added = SortOrder(*fields, order_id=following) if fields else UNSORTED_SORT_ORDER
    # -1 means the last added one, which a server may number differently; the unsorted order always has its fixed id.
    return AddSortOrderUpdate.model_validate({"sort-order": added}), _made_default(-1 if fields else added.order_id)


def _made_default(number: int) -> TableUpdate:
    return SetDefaultSortOrderUpdate.model_validate({"sort-order-id": number})


def moved_order(order: SortOrder | None, old: Schema, new: Schema) -> SortOrder | None:
    """Returns the same order for columns with other ids."""
    return None if order is None else assign_fresh_sort_order_ids(order, old, new)
