"""Runs one sqllogictest file in Pinakes and in DuckDB, statement by statement, and classifies each.

A statement that only one of the two carries out leaves its table different. From then on, nothing that names this table
is compared, and what is made of it is different, too. After a change that both carry out, the tables are compared.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, cast

import duckdb
import pyarrow as pa

from pinakes.core.errors import PinakesError
from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from tests.corpora.compare import Incomparable, Row, rows, same_multiset, same_rows, tolerances
from tests.corpora.differences import stated_difference
from tests.corpora.records import Record, Stop, read
from tests.corpora.undetermined import changes_by_itself, has_unordered_part, order_columns

STATEMENT_SECONDS = 10.0
"""Processor time of a statement before it is stopped: a machine that has other work is no reason to stop it."""
_WAITING = 20
"""How many times as long as its processor time something may take."""
COMPARED_ROWS = 5000
"""Tables with more rows are not compared after a change, and results with more rows not at all."""

EQUAL = "equal"
WRONG = "WRONG"
STATED = "stated difference"
REFUSED = "refused by Pinakes"
CRASHED = "crashed in Pinakes"
LENIENT = "refused by DuckDB alone"
BOTH_REFUSE = "refused by both"
UNDETERMINED = "several right answers"
UNKNOWN = "unknown: state differs"
SKIPPED = "not compared"
CLASSES = (EQUAL, WRONG, STATED, REFUSED, CRASHED, LENIENT, BOTH_REFUSE, UNDETERMINED, UNKNOWN, SKIPPED)

SETTINGS = (
    "SET default_null_order = 'nulls_last_on_asc_first_on_desc'",
    "SET integer_division = true",
    "SET TimeZone = 'UTC'",
    "SET threads = 1",
    "SET memory_limit = '1GB'",
    "SET autoinstall_known_extensions = false",
)
"""What makes DuckDB answer as PostgreSQL does."""

_SHARED = re.compile(r"\*.*\b(using\s*\(|natural\b)", re.IGNORECASE | re.DOTALL)
_QUERY = re.compile(r"[\s(]*(select|with|values|from|table)\b", re.IGNORECASE)
_WRITES = re.compile(
    r"\s*with\b.*\b(insert\s+into|delete\s+from|update\s+\S+\s+set|merge\s+into)\b", re.IGNORECASE | re.DOTALL
)
_LEFT_OUT = re.compile(
    r"\s*(set|reset|pragma|checkpoint|force|vacuum|analyze|load|install|explain|describe|desc|show|summarize|call|export|"
    r"import|update\s+extensions)\b",
    re.IGNORECASE,
)
_MOVES = re.compile(r"\s*(use\b|(set|reset)\s+(local\s+|session\s+)?(schema|search_path)\b)", re.IGNORECASE)
_TRANSACTION = re.compile(r"\s*(begin|start|commit|end|rollback|abort)\b", re.IGNORECASE)
_METADATA = re.compile(
    r"\b(information_schema|pg_catalog|pg_\w+|duckdb_\w+|pragma_\w+|sqlite_\w+|typeof|pg_typeof|parquet_\w+|sniff_csv|"
    r"test_all_types|enum_\w+|in_search_path|glob|read_text|read_blob|json_structure|json_serialize_\w+|describe|show|"
    r"summarize|columns|which_secret|vector_type|index_key|seq_scan|repeat_row|test_vector_types|add_parquet_key|"
    r"json_execute_\w+|query_table|sql_auto_complete|alias|read_duckdb|current_transaction_id|current_query_id)\b",
    re.IGNORECASE,
)
"""What tells of the engine itself."""
_NAME = r'((?:"[^"]+"|\w+)(?:\s*\.\s*(?:"[^"]+"|\w+))*)'
_KINDS = r"(?:table|view|macro|function|sequence|type|schema|database|secret|trigger|collation)"
_TARGETS = tuple(
    re.compile(pattern + _NAME, re.IGNORECASE)
    for pattern in (
        rf"\b(?:create|drop|alter|comment\s+on)\s+(?:\w+\s+)*?{_KINDS}\s+(?:if\s+(?:not\s+)?exists\s+)?",
        r"\binto\s+",
        r"\b(?:update|truncate(?:\s+table)?|delete\s+from|copy|rename\s+to|attach\s+(?:or\s+replace\s+)?(?:database\s+)?"
        r"(?:if\s+not\s+exists\s+)?(?:'[^']*'\s+as\s+)?|detach\s+(?:database\s+)?(?:if\s+exists\s+)?|prepare|execute)\s*",
    )
)
_INSERT = re.compile(r"\s*insert\s+into\b", re.IGNORECASE)
_REPLACES = re.compile(r"\s*(create|drop)\b", re.IGNORECASE)
_INDEX = re.compile(r"\s*(create|drop)\s+(unique\s+)?index\b", re.IGNORECASE)
"""An index changes no answer. A row that only a unique one refuses is seen when it is inserted."""


@dataclass(frozen=True)
class Outcome:
    """What became of one statement."""

    kind: str
    line: int = 0
    sql: str = ""
    detail: str = ""
    """The rows of both, the error, or the reason."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def run_file(path: Path, corpus: Path, engine: Engine, tmp: Path, queries: int | None = None) -> Iterator[Outcome]:
    """The outcome of each statement of a file. The engine is empty, and the file's own. Of more `queries` than that,
    spread over the file, the rest is left out."""
    with duckdb.connect() as theirs:
        for setting in SETTINGS:
            theirs.execute(setting)
        records = list(read(path.read_text(encoding="utf-8", errors="replace")))
        yield from _FileRun(corpus, engine, theirs, tmp).run(_fewer(records, queries))


def _fewer(records: list[Record | Stop], queries: int | None) -> Iterator[Record | Stop]:
    is_query = [isinstance(r, Record) and r.is_query for r in records]
    step = 1 if queries is None else max(1, sum(is_query) // queries)
    number = 0
    for record, asks in zip(records, is_query, strict=True):
        number += asks
        if not asks or number % step == 0:
            yield record


class _FileRun:
    def __init__(self, corpus: Path, engine: Engine, theirs: duckdb.DuckDBPyConnection, tmp: Path) -> None:
        self.corpus, self.engine = corpus, engine
        self.ours: dict[str, Session] = {}
        self.theirs: dict[str, duckdb.DuckDBPyConnection] = {"": theirs}
        self.tmp = {"ours": tmp / "ours", "theirs": tmp / "theirs"}
        for directory in self.tmp.values():
            directory.mkdir(exist_ok=True)
        self.different: set[str] = set()
        """Names of tables, views, types and so on that are not the same in both."""
        self.lost: str | None = None
        """Why nothing that follows can be compared."""
        self.in_transaction = False
        self.goes_on = False
        """Whether the next statement inserts into the same table: it is compared after that."""

    def run(self, records: Iterable[Record | Stop]) -> Iterator[Outcome]:
        for record, following in pairwise(chain(records, (None,))):
            self.goes_on = _inserts_into(record) is not None and _inserts_into(record) == _inserts_into(following)
            if isinstance(record, Stop):
                yield Outcome(SKIPPED, record.line, detail=record.reason)
                return
            for sql in self._statements(record):
                outcome = self._statement(record, sql)
                yield Outcome(outcome.kind, record.line, outcome.sql or sql.strip(), outcome.detail)

    def _statements(self, record: Record) -> list[str]:
        try:
            return [s.query for s in self.theirs[""].extract_statements(record.sql)]
        except duckdb.Error:
            return [record.sql]

    # --- one statement -------------------------------------------------------------------------------------------

    def _statement(self, record: Record, sql: str) -> Outcome:
        if self.lost is not None:
            return Outcome(UNKNOWN, detail=self.lost)
        if _MOVES.match(sql):
            self.lost = f"the file goes on elsewhere: {sql.strip()}"
            return Outcome(SKIPPED, detail="USE")
        if _LEFT_OUT.match(sql):
            return Outcome(SKIPPED, detail=sql.split()[0].lower())
        if _TRANSACTION.match(sql):
            return self._transaction(record, sql)
        if _QUERY.match(sql) and not _WRITES.match(sql):
            return self._query(record, sql)
        return self._change(record, sql)

    def _transaction(self, record: Record, sql: str) -> Outcome:
        theirs, ours = self._theirs(record, sql), self._ours(record, sql)
        if isinstance(theirs, str) != isinstance(ours, str):
            self.lost = f"a transaction: DuckDB says {theirs}, Pinakes {ours}"
            return Outcome(REFUSED if isinstance(ours, str) else LENIENT, detail=str(ours))
        self.in_transaction = bool(re.match(r"\s*(begin|start)", sql, re.IGNORECASE))
        return Outcome(BOTH_REFUSE if isinstance(ours, str) else EQUAL)

    def _query(self, record: Record, sql: str) -> Outcome:
        if _names(sql) & self.different:
            return Outcome(UNKNOWN, detail="a table that differs")
        if _METADATA.search(sql):
            return Outcome(SKIPPED, detail="of the engine itself")
        theirs, ours = self._theirs(record, sql), self._ours(record, sql)
        if isinstance(ours, str) or isinstance(theirs, str):
            return self._refused(ours, theirs)
        if changes_by_itself(sql):
            return Outcome(UNDETERMINED, detail="changes by itself")
        return _compared(record, sql, ours, theirs)

    def _change(self, record: Record, sql: str) -> Outcome:
        targets = _targets(sql)
        replaced = targets if _REPLACES.match(sql) else set()
        read_names = _names(sql) - replaced
        theirs = self._theirs(record, sql)
        if read_names & self.different:
            self._differ(targets, sql)
            return Outcome(UNKNOWN, detail="a table that differs")
        ours = self._ours(record, sql)
        if isinstance(ours, str) or isinstance(theirs, str):
            if isinstance(ours, str) != isinstance(theirs, str) and not _INDEX.match(sql):
                self._differ(targets, sql)
            return self._refused(ours, theirs)
        self.different -= replaced
        if changes_by_itself(sql):
            self._differ(targets, sql)
            return Outcome(UNDETERMINED, detail="changes by itself")
        if self.goes_on:
            return Outcome(EQUAL)
        for target in targets - replaced if not re.match(r"\s*create\b", sql, re.IGNORECASE) else targets:
            outcome = self._table(record, target, sql)
            if outcome.kind != EQUAL:
                self.different.add(target)
                return outcome
        return Outcome(EQUAL)

    def _table(self, record: Record, target: str, sql: str) -> Outcome:
        """Compare a table after a change."""
        query = f'SELECT * FROM "{target}"'
        theirs, ours = self._theirs(record, query), self._ours(record, query)
        if isinstance(theirs, str):
            return Outcome(EQUAL)  # no table: a macro, a type, or one that was dropped
        if isinstance(ours, str):
            return Outcome(EQUAL if _REPLACES.match(sql) else UNKNOWN, detail=ours)
        return _compared(record, sql, ours, theirs)

    def _refused(self, ours: pa.Table | str, theirs: pa.Table | str) -> Outcome:
        if isinstance(ours, str) != isinstance(theirs, str) and self.in_transaction:
            self.lost = "one of the two aborted the transaction"
        if isinstance(ours, str) and ours.startswith("!"):
            return Outcome(CRASHED, detail=ours)
        if isinstance(ours, str) and isinstance(theirs, str):
            return Outcome(BOTH_REFUSE)
        if isinstance(ours, str):
            return Outcome(REFUSED, detail=ours)
        return Outcome(LENIENT, detail=f"DuckDB: {theirs}\nours: {_shown(ours)}")

    def _differ(self, targets: set[str], sql: str) -> None:
        if not targets:
            self.lost = f"only one of the two carried out: {sql.strip()[:80]}"
        self.different |= targets
        if "{TEST_DIR}" in sql:  # files that only one of the two has written
            self.different.add("test_dir")

    # --- the engines ---------------------------------------------------------------------------------------------

    def _theirs(self, record: Record, sql: str) -> pa.Table | str:
        """The rows, or the error."""
        if record.connection not in self.theirs:
            self.theirs[record.connection] = self.theirs[""].cursor()
        connection = self.theirs[record.connection]
        with _limited(connection.interrupt):
            try:
                result = cast("duckdb.DuckDBPyConnection | None", connection.execute(self._placed(sql, "theirs")))
                if result is None:  # DuckDB's client runs a dynamic PIVOT, but returns no result
                    return "DuckDB's Python client returned no result"
                return result.to_arrow_table() if result.description else pa.table({})
            except (duckdb.Error, pa.ArrowException, UnicodeDecodeError, RuntimeError) as error:
                return str(error)

    def _ours(self, record: Record, sql: str) -> pa.Table | str:
        """The rows, or the error; one that starts with ! should not have come up."""
        if record.connection not in self.ours:
            self.ours[record.connection] = self.engine.session()
        session = self.ours[record.connection]
        with _limited(session.cancel):
            try:
                return session.run(self._placed(sql, "ours")).read_all()
            except PinakesError as error:
                text = f"{error.code}: {error}"
                return f"!{text}" if error.code in ("INTERNAL_ERROR", "INTERNAL") else text
            except Exception as error:  # noqa: BLE001 - whatever comes up is reported as a crash
                return f"!{type(error).__name__}: {error}"

    def _placed(self, sql: str, side: str) -> str:
        """Each engine writes to a directory of its own."""
        for name in ("__TEST_DIR__", "{TEST_DIR}", "{TEMP_DIR}"):
            sql = sql.replace(name, str(self.tmp[side]))
        for name in ("__WORKING_DIRECTORY__", "{WORKING_DIRECTORY}", "{WORKING_DIR}"):
            sql = sql.replace(name, str(self.corpus))
        return sql.replace("{DATA_DIR}", str(self.corpus / "data"))


@contextmanager
def _limited(stop: Callable[[], object]) -> Iterator[None]:
    with limited(STATEMENT_SECONDS, time.process_time, stop):
        yield


@contextmanager
def limited(seconds: float, used: Callable[[], float], stop: Callable[[], object]) -> Iterator[None]:
    """Call `stop` if what is done here takes so much of the processor time that `used` counts, or waits too long."""
    over = threading.Event()
    first, began = used(), time.monotonic()

    def watch() -> None:
        while not over.wait(min(seconds / 10, 1.0)):
            if used() - first >= seconds or time.monotonic() - began >= _WAITING * max(seconds, 1.0):
                stop()
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


# --- comparing ---------------------------------------------------------------------------------------------------


def _compared(record: Record, sql: str, ours: pa.Table, theirs: pa.Table) -> Outcome:
    if max(ours.num_rows, theirs.num_rows) > COMPARED_ROWS and ours.num_rows == theirs.num_rows:
        return Outcome(SKIPPED, detail="many rows")
    if ours.num_columns != theirs.num_columns:
        return _different(sql, ours, theirs, "another number of columns")
    names = [name.lower() for name in ours.column_names]
    if _SHARED.search(sql) and {n.lower() for n in theirs.column_names} == set(names) and len(set(names)) == len(names):
        # PostgreSQL puts the columns first that a join shares, DuckDB leaves them in their places
        theirs = theirs.rename_columns([n.lower() for n in theirs.column_names]).select(names)
    try:
        left, right = rows(ours), rows(theirs)
    except Incomparable as error:
        return Outcome(SKIPPED, detail=str(error))
    allowed = tolerances(ours.schema, theirs.schema)
    if same_rows(left, right, allowed):
        return Outcome(EQUAL)
    if same_multiset(left, right, allowed):
        if record.sorted or not _QUERY.match(sql):
            return Outcome(EQUAL)
        keys = order_columns(sql, ours.num_columns)
        if same_rows(_only(left, keys), _only(right, keys), _only([tuple(allowed)], keys)[0]):
            return Outcome(EQUAL)
        return _different(sql, ours, theirs, "another order")
    if has_unordered_part(sql):
        return Outcome(UNDETERMINED, detail=f"ours: {_shown(ours)}\nDuckDB: {_shown(theirs)}")
    keys = order_columns(sql, ours.num_columns)
    is_cut = re.search(r"\b(limit|offset|fetch)\b", sql, re.IGNORECASE)
    if keys and is_cut and same_rows(_only(left, keys), _only(right, keys), _only([tuple(allowed)], keys)[0]):
        return Outcome(UNDETERMINED, detail="ties")
    return _different(sql, ours, theirs, "other rows")


def _only(found: list[Row], keys: list[int]) -> list[Row]:
    return [tuple(row[k] for k in keys) for row in found]


def _different(sql: str, ours: pa.Table, theirs: pa.Table, what: str) -> Outcome:
    detail = f"{what}\nours: {_shown(ours)}\nDuckDB: {_shown(theirs)}"
    stated = stated_difference(sql, detail)
    if stated is not None:
        return Outcome(STATED, detail=f"{stated.name}\n{detail}")
    return Outcome(WRONG, detail=detail)


def _shown(table: pa.Table) -> str:
    types = ", ".join(str(t) for t in table.schema.types)
    try:
        found = [tuple(row) for row in rows(table.slice(0, 8))]
    except Incomparable as error:
        found = [(str(error),)]
    return f"{table.num_rows} rows ({types}) {found}"[:900]


# --- names -------------------------------------------------------------------------------------------------------


def _names(sql: str) -> set[str]:
    """Every word of a statement: those within texts, too, since nextval('s') and query('…') name things there."""
    return {word.strip('"').lower() for word in re.findall(r'\w+|"[^"]+"', sql)}


def _inserts_into(record: Record | Stop | None) -> set[str] | None:
    """The table that a record of one INSERT fills."""
    if not isinstance(record, Record) or not _INSERT.match(record.sql) or ";" in record.sql.rstrip("; \n"):
        return None
    return _targets(record.sql)


def _targets(sql: str) -> set[str]:
    """The last parts of the names that a statement makes, changes or drops."""
    found = (match for pattern in _TARGETS for match in pattern.findall(sql))
    return {name.split(".")[-1].strip().strip('"').lower() for name in found} - {"select", "set", "from", "table"}
