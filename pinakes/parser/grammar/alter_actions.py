"""The actions of ALTER TABLE, in the spellings of PostgreSQL, Spark and Trino."""

from __future__ import annotations

from pinakes.parser.columns_def import check_constraint, column_rest, default_value
from pinakes.parser.cursor import Cursor
from pinakes.parser.grammar.alter_refs import at_ref, create_ref, drop_ref
from pinakes.parser.options import key_name, properties, property_keys, property_value
from pinakes.parser.statements import (
    AddCheck,
    AddColumn,
    AddPartitionField,
    AlterAction,
    CommentColumn,
    DropColumn,
    DropConstraint,
    DropDefault,
    DropNotNull,
    DropPartitionField,
    MoveColumn,
    Path,
    Properties,
    RenameColumn,
    SetColumnType,
    SetDefault,
    SetNotNull,
    SetProperties,
    SetSortOrder,
    UnsetProperties,
)
from pinakes.parser.terms import partition_term, sort_term
from pinakes.parser.types import read_type

_PROPERTY_WORDS = ("TBLPROPERTIES", "PROPERTIES")


def actions(cursor: Cursor) -> tuple[AlterAction, ...]:
    """Parses one action; ADD COLUMNS (a, b) and REPLACE PARTITION FIELD are several."""
    word = cursor.accept_one("ADD", "DROP", "RENAME", "ALTER", "CHANGE", "REPLACE", "SET", "UNSET", "WRITE", "CREATE")
    match word:
        case "CREATE":
            return (create_ref(cursor, replace=cursor.accept("OR", "REPLACE")),)
        case "REPLACE" if at_ref(cursor):
            return (create_ref(cursor, replace=True, create=False),)
        case "ADD":
            return _add(cursor)
        case "DROP":
            return _drop(cursor)
        case "RENAME":
            cursor.accept("COLUMN")
            path = cursor.path("a column")
            cursor.expect("TO")
            return (RenameColumn(path, cursor.part("the new name")),)
        case "ALTER" | "CHANGE":
            return _alter_column(cursor)
        case "REPLACE":
            cursor.expect("PARTITION", "FIELD")
            old = partition_term(cursor)
            cursor.expect("WITH")
            return DropPartitionField(old), AddPartitionField(partition_term(cursor))
        case "SET":
            return (SetProperties(_set_properties(cursor)),)
        case "UNSET":
            return (_unset(cursor),)
        case "WRITE":
            return (_write(cursor),)
    if cursor.word in ("CLUSTER", "OWNER", "ATTACH", "DETACH"):
        raise cursor.unsupported(f"ALTER TABLE … {cursor.word} is not supported")
    raise cursor.fault("expected ADD, DROP, RENAME, ALTER COLUMN, SET, UNSET, WRITE or CREATE BRANCH")


def _write(cursor: Cursor) -> SetSortOrder:
    """[LOCALLY] ORDERED BY term, … | UNORDERED"""
    if cursor.accept("UNORDERED"):
        return SetSortOrder(())
    cursor.accept("LOCALLY")
    if not cursor.accept("ORDERED", "BY"):
        raise cursor.fault("expected ORDERED BY or UNORDERED")
    if cursor.word == "(":
        return SetSortOrder(cursor.listed(sort_term))
    terms = [sort_term(cursor)]
    while cursor.accept(","):
        terms.append(sort_term(cursor))
    return SetSortOrder(tuple(terms))


def _add(cursor: Cursor) -> tuple[AlterAction, ...]:
    if cursor.accept("PARTITION", "FIELD"):
        return (AddPartitionField(partition_term(cursor)),)
    check = check_constraint(cursor)
    if check is not None:
        return (AddCheck(check),)
    if cursor.word in ("CONSTRAINT", "PRIMARY", "FOREIGN", "UNIQUE"):
        raise cursor.unsupported("only CHECK constraints can be added to a table, and SET NOT NULL")
    if cursor.accept_one("COLUMNS", "COLUMN") and cursor.word == "(":
        return cursor.listed(_add_column)
    if cursor.word == "(":
        return cursor.listed(_add_column)
    return (_add_column(cursor),)


def _add_column(cursor: Cursor) -> AddColumn:
    """[IF NOT EXISTS] path type … [FIRST | AFTER column]"""
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    path = cursor.path("the name of a column")
    column, is_key = column_rest(cursor, path[-1])
    if is_key:
        raise cursor.unsupported("a column can't be added as PRIMARY KEY")
    if column.checks:
        raise cursor.unsupported("a column can't be added with a CHECK: write ADD CONSTRAINT … CHECK (…) afterwards")
    first = cursor.accept("FIRST")
    after = cursor.part("a column") if not first and cursor.accept("AFTER") else None
    return AddColumn(path, column, if_not_exists, first, after)


def _drop(cursor: Cursor) -> tuple[AlterAction, ...]:
    if cursor.accept("PARTITION", "FIELD"):
        return (DropPartitionField(partition_term(cursor)),)
    if at_ref(cursor):
        return (drop_ref(cursor),)
    if cursor.accept("CONSTRAINT"):
        missing = cursor.accept("IF", "EXISTS")
        name = cursor.part("the name of a constraint")
        cursor.accept_one("CASCADE", "RESTRICT")
        return (DropConstraint(name, missing),)
    if cursor.word == "PRIMARY":
        raise cursor.unsupported("a primary key can't be dropped from a table; DROP NOT NULL can")
    cursor.accept_one("COLUMNS", "COLUMN")
    if_exists = cursor.accept("IF", "EXISTS")
    if cursor.word == "(":
        return tuple(DropColumn(p, if_exists) for p in cursor.listed(Cursor.path))
    path = cursor.path("the name of a column")
    cursor.accept_one("CASCADE", "RESTRICT")
    return (DropColumn(path, if_exists),)


def _alter_column(cursor: Cursor) -> tuple[AlterAction, ...]:
    cursor.accept("COLUMN")
    path = cursor.path("the name of a column")
    found: list[AlterAction] = [_column_action(cursor, path)]
    while not cursor.ended() and cursor.word != ",":  # Spark: ALTER COLUMN x TYPE bigint COMMENT '…' AFTER y
        found.append(_column_action(cursor, path))
    return tuple(found)


def _column_action(cursor: Cursor, path: Path) -> AlterAction:
    if cursor.accept("SET", "NOT", "NULL"):
        return SetNotNull(path)
    if cursor.accept("DROP", "NOT", "NULL"):
        return DropNotNull(path)
    if cursor.accept("DROP", "DEFAULT"):
        return DropDefault(path)
    if cursor.accept("SET", "DEFAULT"):
        return SetDefault(path, default_value(cursor))
    if cursor.accept("SET", "DATA", "TYPE") or cursor.accept("SET", "TYPE") or cursor.accept("TYPE"):
        return SetColumnType(path, read_type(cursor))
    if cursor.accept("COMMENT"):
        return CommentColumn(path, None if cursor.accept("NULL") else cursor.string("a comment in single quotes"))
    if cursor.accept("FIRST"):
        return MoveColumn(path, first=True)
    if cursor.accept("AFTER"):
        return MoveColumn(path, after=cursor.part("a column"))
    raise cursor.fault("expected SET DATA TYPE, SET | DROP NOT NULL, SET | DROP DEFAULT, COMMENT, FIRST or AFTER")


def _set_properties(cursor: Cursor) -> Properties:
    """(k = v, …) or, as Trino has it, k = v, … without parentheses"""
    named = cursor.accept_one(*_PROPERTY_WORDS)
    if cursor.word == "(":
        return properties(cursor)
    if not named:
        raise cursor.fault("expected TBLPROPERTIES (…)")
    found = [_property(cursor)]
    while cursor.accept(","):
        found.append(_property(cursor))
    return tuple(found)


def _property(cursor: Cursor) -> tuple[str, str]:
    key = key_name(cursor, "a property")
    cursor.expect("=")
    return key, property_value(cursor, key)


def _unset(cursor: Cursor) -> UnsetProperties:
    cursor.expect_one(*_PROPERTY_WORDS)
    if_exists = cursor.accept("IF", "EXISTS")
    return UnsetProperties(property_keys(cursor), if_exists)
