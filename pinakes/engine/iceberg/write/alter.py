"""ALTER TABLE: columns, nullability, defaults, properties, partitioning and sort order, in one commit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import assert_never

from pyiceberg.schema import Schema
from pyiceberg.table import Transaction
from pyiceberg.table.update.schema import UpdateSchema
from pyiceberg.types import DecimalType, DoubleType, FloatType, IcebergType, IntegerType, LongType, StructType

from pinakes.core.catalog import IcebergTable, SupportsTableActions
from pinakes.core.errors import (
    AlreadyExistsError,
    CheckViolation,
    ColumnExists,
    ColumnNotFound,
    ConstraintNotFound,
    ConstraintViolation,
    InvalidArgument,
    NotFoundError,
    PinakesError,
    listing,
)
from pinakes.core.iceberg_metadata import CHECKS, check_not_given, checks_of, rename_key_column
from pinakes.core.names import Name, Part, match, quote
from pinakes.core.types.sql import iceberg_type, sql_name
from pinakes.engine.binding.namespaces import ResolvedTable
from pinakes.engine.iceberg.write.append import append_files
from pinakes.engine.iceberg.write.checks import check_properties, constraint_on, count_failing
from pinakes.engine.iceberg.write.commit import again, commit, hold_snapshot
from pinakes.engine.iceberg.write.defaults import default_value
from pinakes.engine.iceberg.write.definition import (
    FORMAT_VERSION,
    check_names,
    check_partition_names,
    find_field,
    format_version,
    sorting,
    table_properties,
    term_name,
    transform_of,
)
from pinakes.engine.iceberg.write.refs import check_kept, create_ref, drop_ref
from pinakes.engine.iceberg.write.sort_order import order_of, order_updates
from pinakes.engine.statement_context import Execution
from pinakes.parser import statements as s


def alter(name: Name, actions: Sequence[s.AlterAction], execution: Execution, text: str) -> None:
    """Applies the actions to a table; retried when the table was changed concurrently."""
    found = execution.resolver.find(name, kind="TABLE")
    catalog = found.place.mount.catalog
    if isinstance(catalog, SupportsTableActions):
        from pinakes.engine.workers.definitions import alter_by_actions

        found.place.mount.check_writable()
        alter_by_actions(found, catalog, actions, text, execution)
        return
    again(lambda: _alter(name, actions, execution, text), found)


def _alter(name: Name, actions: Sequence[s.AlterAction], execution: Execution, text: str) -> None:
    found, table = execution.resolver.table(name)
    transaction = table.handle.transaction()
    change = _Change(found, table, transaction, execution, text)
    for action in actions:
        try:
            change.apply(action)
        except PinakesError:
            raise
        except (ValueError, TypeError) as error:
            raise InvalidArgument(f"{found}: {error}") from error
    commit(transaction, found.place, found.name)
    check_kept(transaction._table.metadata, found, actions)


class _Change:
    def __init__(
        self, found: ResolvedTable, table: IcebergTable, transaction: Transaction, execution: Execution, text: str
    ) -> None:
        self.found, self.table, self.transaction = found, table, transaction
        self.execution, self.text = execution, text

    def apply(self, action: s.AlterAction) -> None:
        match action:
            case s.AddColumn():
                self._add(action)
            case s.DropColumn():
                self._drop(action)
            case s.RenameColumn():
                self._rename(action)
            case s.SetColumnType():
                self._widen(action)
            case s.SetNotNull():
                self._require(action)
            case s.DropNotNull():
                self._update(lambda u: u.make_column_optional(self._path(action.path)))
            case s.SetDefault():
                self._default(action)
            case s.DropDefault():
                self._update(lambda u: u.set_default_value(self._path(action.path), None), incompatible=True)
            case s.CommentColumn():
                self._update(lambda u: u.update_column(self._path(action.path), doc=action.comment or ""))
            case s.MoveColumn():
                self._move(self._path(action.path), action.first, action.after)
            case s.SetProperties():
                self._set(action)
            case s.UnsetProperties():
                self._unset(action)
            case s.AddPartitionField():
                self._partition(action)
            case s.DropPartitionField():
                self._unpartition(action)
            case s.AddCheck():
                self._add_check(action)
            case s.DropConstraint():
                self._drop_constraint(action)
            case s.SetSortOrder():
                order = sorting(action.terms, self._schema())
                self.transaction._apply(order_updates(self.transaction.table_metadata, order))
            case s.CreateRef():
                create_ref(self.transaction, self.found, action)
            case s.DropRef():
                drop_ref(self.transaction, self.found, action)
            case _:
                assert_never(action)

    # --- columns --------------------------------------------------------------------------------------------------

    def _update(self, change: Callable[[UpdateSchema], object], *, incompatible: bool = False) -> None:
        with self.transaction.update_schema(allow_incompatible_changes=incompatible) as update:
            change(update)

    def _schema(self) -> Schema:
        return self.transaction.table_metadata.schema()

    def _path(self, path: Sequence[Part]) -> tuple[str, ...]:
        """Returns the exact names along a column path."""
        names: tuple[str, ...] = ()
        for depth in range(len(path)):
            names = (*names, find_field(self._schema(), path[: depth + 1]).name)
        return names

    def _add(self, action: s.AddColumn) -> None:
        *parent, last = action.path
        within = self._path(parent)
        siblings = self._siblings(within)
        if match(last, siblings, "column") is not None:
            if action.if_not_exists:
                return
            raise ColumnExists(f"column {'.'.join((*within, last.exact))} already exists in {self.found}")
        check_names([last.exact])
        column = action.column
        kind = iceberg_type(column.type, count(1).__next__)
        version = self.transaction.table_metadata.format_version
        default = None
        if column.default is not None:
            sql = column.default.of(self.text)
            default = default_value(sql, kind, self.execution, last.exact, version)
        if not column.nullable and default is None and not self._is_empty():
            raise ConstraintViolation(
                f"column {last.exact} is NOT NULL and {self.found} has rows: "
                f"give it a DEFAULT, or add it without NOT NULL"
            )
        path = (*within, last.exact)
        self._update(
            lambda u: u.add_column(path, kind, column.comment, required=not column.nullable, default_value=default),
            incompatible=True,
        )
        if action.first or action.after is not None:
            self._move(path, action.first, action.after)

    def _siblings(self, within: tuple[str, ...]) -> list[str]:
        if not within:
            return [f.name for f in self._schema().fields]
        kind = self._schema().find_field(".".join(within)).field_type
        if not isinstance(kind, StructType):
            raise InvalidArgument(f"column {'.'.join(within)} is not a struct and can't have fields")
        return [f.name for f in kind.fields]

    def _drop(self, action: s.DropColumn) -> None:
        try:
            path = self._path(action.path)
        except ColumnNotFound:
            if action.if_exists:
                return
            raise
        self._check_unused(path, "dropped")
        field = self._schema().find_field(".".join(path))
        used = [p.name for p in self.transaction.table_metadata.spec().fields if p.source_id == field.field_id]
        if used:
            raise InvalidArgument(
                f"column {'.'.join(path)} is used by the partition field {used[0]}; "
                f"ALTER TABLE … DROP PARTITION FIELD {quote(used[0])} first"
            )
        order = order_of(self.transaction.table_metadata)
        if order is not None and any(f.source_id == field.field_id for f in order.fields):
            raise InvalidArgument(
                f"{self.found} is sorted by column {'.'.join(path)}; ALTER TABLE … WRITE UNORDERED first"
            )
        if len(path) == 1 and len(self._schema().fields) == 1:
            raise InvalidArgument(f"{path[0]} is the only column of {self.found}; drop the table instead")
        self._update(lambda u: u.delete_column(path))

    def _rename(self, action: s.RenameColumn) -> None:
        path = self._path(action.path)
        siblings = [n for n in self._siblings(path[:-1]) if n != path[-1]]
        if action.to.exact in siblings:
            raise ColumnExists(f"column {action.to} already exists in {self.found}")
        self._check_unused(path, "renamed")
        check_names([action.to.exact])
        self._update(lambda u: u.rename_column(path, action.to.exact))
        key = (
            rename_key_column(self.transaction.table_metadata.properties, path[0], action.to.exact)
            if len(path) == 1
            else {}
        )
        if key:
            self.transaction.set_properties(key)

    def _widen(self, action: s.SetColumnType) -> None:
        path = self._path(action.path)
        old, new = self._schema().find_field(".".join(path)).field_type, iceberg_type(action.type, count(1).__next__)
        if old != new and not _is_wider(old, new):
            raise InvalidArgument(
                f"column {'.'.join(path)} of {self.found} is {sql_name(old)} and cannot become {sql_name(new)}: a type "
                f"can only get wider, as INTEGER to BIGINT, REAL to DOUBLE, DECIMAL to more digits before the point"
            )
        self._update(lambda u: u.update_column(path, field_type=new))

    def _move(self, path: tuple[str, ...], first: bool, after: Part | None) -> None:
        if first:
            self._update(lambda u: u.move_first(path))
        elif after is not None:
            name = match(after, self._siblings(path[:-1]), "column")
            if name is None:
                raise ColumnNotFound(f"column {after} does not exist in {self.found}")
            self._update(lambda u: u.move_after(path, (*path[:-1], name)))

    # --- nullability and defaults ---------------------------------------------------------------------------------

    def _require(self, action: s.SetNotNull) -> None:
        """Sets NOT NULL; fails if existing rows have NULL."""
        path = self._path(action.path)
        if len(path) > 1:
            raise InvalidArgument("NOT NULL can be set on whole columns only, not on a field within one")
        nulls = self._count(f"{quote(path[0])} IS NULL")
        if nulls:
            raise ConstraintViolation(f"column {path[0]} of {self.found} has NULL in {nulls} rows: fill them first")
        hold_snapshot(self.transaction)
        self._update(lambda u: u.update_column(path, required=True), incompatible=True)

    def _add_check(self, action: s.AddCheck) -> None:
        """Adds a CHECK; fails if existing rows do not satisfy it. A snapshot without new files makes concurrent changes
        of rows conflict, since these were checked without it.
        """
        metadata = self.transaction.table_metadata
        known = checks_of(metadata.properties)
        added = check_properties((action.check,), self.text, self.found.name, self._schema(), known, self.execution)
        (condition,) = added.values()
        failed = count_failing(condition, self.table, self.execution)
        if failed:
            raise CheckViolation(f"{failed} rows of {self.found} violate {condition}: change or delete them first")
        self.transaction.set_properties(added)
        append_files(self.transaction, ())

    def _drop_constraint(self, action: s.DropConstraint) -> None:
        known = checks_of(self.transaction.table_metadata.properties)
        name = match(action.name, known, "constraint")
        if name is not None:
            self.transaction.remove_properties(CHECKS + name)
        elif not action.if_exists:
            raise ConstraintNotFound(
                f"{self.found} has no CHECK constraint {action.name}; it has: {listing(known)}. NOT NULL is dropped by "
                f"ALTER COLUMN … DROP NOT NULL."
            )

    def _check_unused(self, path: tuple[str, ...], what: str) -> None:
        """Raises if a CHECK constraint names the column."""
        used = constraint_on(path[0], self.transaction.table_metadata.properties)
        if used is not None:
            raise InvalidArgument(
                f"column {'.'.join(path)} can't be {what}: the CHECK constraint {used} names it; ALTER TABLE … DROP "
                f"CONSTRAINT {quote(used)} first"
            )

    def _is_empty(self) -> bool:
        return self._count("TRUE") == 0

    def _count(self, condition: str) -> int:
        planner = self.execution.planner()
        relation = planner.add(planner.iceberg(("$change", "check", self.found.name), self.table))
        sql = f"SELECT count(*) FROM {relation.sql} WHERE {condition}"
        return int(self.execution.collect(planner.plan(sql, NO_PARAMETERS)).column(0)[0].as_py())

    def _default(self, action: s.SetDefault) -> None:
        path = self._path(action.path)
        kind = self._schema().find_field(".".join(path)).field_type
        version = self.transaction.table_metadata.format_version
        value = default_value(action.value.of(self.text), kind, self.execution, ".".join(path), version)
        self._update(lambda u: u.set_default_value(path, value), incompatible=True)

    # --- properties and partitioning ------------------------------------------------------------------------------

    def _set(self, action: s.SetProperties) -> None:
        properties = table_properties(action.properties, None)
        if FORMAT_VERSION in properties:
            self.transaction.upgrade_table_version(format_version(properties, self.table))
            del properties[FORMAT_VERSION]
        self.execution.session.guard.places(self.found.place.mount.mount, None, properties.items())
        if properties:
            self.transaction.set_properties(properties)

    def _unset(self, action: s.UnsetProperties) -> None:
        check_not_given(action.keys)
        known = self.transaction.table_metadata.properties
        missing = [k for k in action.keys if k not in known]
        if missing and not action.if_exists:
            raise NotFoundError(f"{self.found} has no property {missing[0]!r}; it has: {listing(known)}")
        keys = [k for k in action.keys if k in known]
        if keys:
            self.transaction.remove_properties(*keys)

    def _partition(self, action: s.AddPartitionField) -> None:
        path = ".".join(self._path(action.term.column))
        transform = transform_of(action.term)
        kind = self._schema().find_field(path).field_type
        if not transform.can_transform(kind):
            raise InvalidArgument(f"{transform} does not work on column {path} of type {sql_name(kind)}")
        if term_name(action.term, path) in (f.name for f in self.transaction.table_metadata.spec().fields):
            raise AlreadyExistsError(f"{self.found} has a partition field {term_name(action.term, path)} already")
        known = [f.name for f in self.transaction.table_metadata.spec().fields]
        check_partition_names([*known, term_name(action.term, path)])
        with self.transaction.update_spec() as update:
            update.add_field(path, transform, term_name(action.term, path))

    def _unpartition(self, action: s.DropPartitionField) -> None:
        names = [f.name for f in self.transaction.table_metadata.spec().fields]
        term = action.term
        wanted = term.column[-1] if term.transform == "identity" else Part(term_name(term, term.column[-1].exact), True)
        name = match(wanted, names, "partition field")
        if name is None:
            raise NotFoundError(f"{self.found} has no partition field {wanted}; it has: {listing(names)}")
        with self.transaction.update_spec() as update:
            update.remove_field(name)


def _is_wider(old: IcebergType, new: IcebergType) -> bool:
    """Returns whether Iceberg allows the promotion. pyiceberg also accepts another scale, which other engines then
    misread.
    """
    if isinstance(old, DecimalType) and isinstance(new, DecimalType):
        return new.precision > old.precision and new.scale == old.scale
    pairs = ((IntegerType, LongType), (FloatType, DoubleType))
    return any(isinstance(old, a) and isinstance(new, b) for a, b in pairs)


NO_PARAMETERS = s.Query(text="", shown="")
