"""`executemany`: one INSERT for all rows where possible, otherwise one statement per set of parameters.

Every statement is a commit, and a thousand commits of one row each are slow and create a thousand files. So for INSERT
… VALUES with one row the values become columns of a temporary relation, which is inserted by one statement: `VALUES (?,
?)` is read as `SELECT "1", "2" FROM relation`. Other changes are one transaction, where the catalog supports it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.api.parameters import Parameters, bound
from pinakes.core.catalog import SupportsTransactions
from pinakes.core.errors import InvalidArgument, PinakesError, QueryCanceled, TypeMismatch, listing
from pinakes.core.names import quote
from pinakes.parser.statements import Delete, Insert, Merge, Span, Statement, Update
from pinakes.parser.value_rows import value_rows

if TYPE_CHECKING:
    from pinakes.api.connection import Connection
    from pinakes.engine.session import Session


def insert_many(connection: Connection, sql: str, sets: Iterable[Parameters]) -> int | None:
    """Runs the statement for every set of parameters. Returns the number of changed rows; None if it is unknown."""
    session = connection.session
    statement, translated = session.read(sql)
    row = only_row(statement)
    if translated is not None or not isinstance(statement, Insert) or row is None:
        sets = list(sets)
        with all_or_none(session, statement, len(sets)) as within:
            return _one_by_one(connection, sql, sets, within)
    values = [bound(parameters) for parameters in sets]
    if not values:
        return 0
    from pinakes.engine.datafusion.memory_sources import Rows  # loads Arrow's datasets, which take their time

    rows = pa.table({name: _column(name, values) for name in names_in(statement)})
    with session.temporary.brought(Rows(rows)) as source:
        return connection.run(selecting(statement, row, source)).count


def only_row(statement: Statement) -> tuple[Span, ...] | None:
    """Returns the values of an INSERT … VALUES with a single row of expressions with parameters; None for other
    statements."""
    if not isinstance(statement, Insert) or not statement.placeholders:
        return None
    rows = value_rows(statement)
    if len(rows) != 1 or any(span.of(statement.text).strip().upper() == "DEFAULT" for span in rows[0]):
        return None
    inside = [p for p in statement.placeholders if any(s.start <= p.span.start < s.end for s in rows[0])]
    return rows[0] if len(inside) == len(statement.placeholders) else None


@contextmanager
def all_or_none(session: Session, statement: Statement, times: int) -> Iterator[Session]:
    """Returns the session for the changes within the block. They run in a separate transaction, which is independent of
    the session's other statements, if there are several changes, the session has no transaction, and the catalog
    supports transactions. Otherwise each change commits by itself."""
    if times < 2 or session.transaction is not None or not _has_transactions(session, statement):
        yield session
        return
    aside = session.aside()
    aside.run("BEGIN")
    try:
        yield aside
        if session.is_closed:
            raise QueryCanceled("the session was closed before all changes were made: none is")
    except BaseException:
        begun = aside.end_transaction()
        if begun is not None:
            begun.rollback()
        raise
    aside.run("COMMIT")


def _has_transactions(session: Session, statement: Statement) -> bool:
    if not isinstance(statement, Insert | Update | Delete | Merge):
        return False
    try:
        found, _ = session.resolver.table(statement.target.name)
    except PinakesError:
        return False  # the statement itself reports the error
    return isinstance(found.place.mount.catalog, SupportsTransactions)


def _one_by_one(connection: Connection, sql: str, sets: Iterable[Parameters], session: Session) -> int | None:
    counts = []
    for parameters in sets:
        result = connection.run(sql, parameters, session=session)
        result.close()
        if result.kind == "rows":
            raise InvalidArgument("executemany is for statements that change something: use execute for a query")
        counts.append(result.count)
    known = [count for count in counts if count is not None]
    return sum(known) if known or not counts else None


def names_in(statement: Insert) -> list[str]:
    return list(dict.fromkeys(p.name for p in statement.placeholders))


def selecting(statement: Insert, row: Sequence[Span], source: str) -> str:
    """Returns the statement with its VALUES replaced by a SELECT from the relation."""
    assert statement.body is not None
    values = ", ".join(_value(statement, span) for span in row)
    body = f"SELECT {values} FROM {quote(source)}"
    return statement.text[: statement.body.start] + body + statement.text[statement.body.end :]


def _value(statement: Insert, span: Span) -> str:
    """Returns the expression of one value, with its parameters replaced by columns of the relation."""
    text, at = "", span.start
    for placeholder in statement.placeholders:
        if span.start <= placeholder.span.start and placeholder.span.end <= span.end:
            text += statement.text[at : placeholder.span.start] + quote(placeholder.name)
            at = placeholder.span.end
    return text + statement.text[at : span.end]


def _column(name: str, sets: Sequence[dict[str, pa.Scalar]]) -> pa.Array:
    """Returns all values of one parameter, in the narrowest common type."""
    lacking = next((given for given in sets if name not in given), None)
    if lacking is not None:
        raise InvalidArgument(f"parameter ${name} has no value; given: {listing(lacking)}")
    values = [given[name] for given in sets]
    types = list(dict.fromkeys(value.type for value in values))
    try:
        common = pa.unify_schemas([pa.schema([(name, t)]) for t in types], promote_options="permissive").field(0).type
        return pa.array([value.cast(common) for value in values], common)
    except (pa.ArrowException, ValueError) as error:
        kinds = ", ".join(map(str, types))
        raise TypeMismatch(f"parameter {name} has values of types that do not go together: {kinds}") from error
