"""A table or a query of another database, read by Spark.

With a cursor, a batch is the rows between two cursor values: the last loaded one and the highest one when the batch was
planned. Both are in the ledger, so that a resumed batch has the same rows. Without a cursor every run is one batch,
which replaces all rows of the table.

The secret is stored in a session setting, and from there in the definition of a view. Neither statement texts nor plans
contain it, both of which Spark shows in its web interface.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pinakes.core.errors import ColumnNotFound, InvalidArgument, listing
from pinakes.core.names import Part
from pinakes.engine.remote.text import quoted, quoted_text
from pinakes.pipelines.loads.context import LoadContext
from pinakes.pipelines.loads.ledger import Batch, History
from pinakes.pipelines.loads.model import JdbcSource, Load
from pinakes.pipelines.loads.reading import shape
from pinakes.pipelines.loads.reading.inputs import Copies, Input, Unreadable
from pinakes.pipelines.loads.reading.interface import Reading, find_unknown
from pinakes.pipelines.loads.reading.shape import Column
from pinakes.pipelines.loads.sources import NewBatch
from pinakes.spark.jars import MARIADB, POSTGRES, Jars

if TYPE_CHECKING:
    from pinakes.spark.dataframes import SparkSession

_KEYS = {"user": "spark.pinakes.load.who", "password": "spark.pinakes.load.how"}
"""Settings of our Spark session for the duration of one statement. Spark would also redact the substituted value if the
names matched its redaction pattern."""
_SUBSTITUTE = "spark.sql.variable.substitute"
_CURSORS = ("tinyint", "smallint", "int", "bigint", "decimal", "date", "timestamp")


def is_mysql(url: str) -> bool:
    return url.startswith(("jdbc:mysql:", "jdbc:mariadb:"))


def jdbc_jars(source: JdbcSource) -> Jars:
    return frozenset({MARIADB if is_mysql(source.url) else POSTGRES})


class Database:
    """The database that a load reads from."""

    def __init__(self, context: LoadContext, load: Load, source: JdbcSource) -> None:
        self._context = context
        self._load = load
        self._source = source
        self._top: str | None = None
        self._is_connected = False

    @property
    def shown(self) -> str:
        return f"{self._source.url}: {self._source.table or self._source.query}"

    def look(self) -> bool:
        if self._source.cursor is not None:
            self._top = self._context.on_spark(self._highest)
        return True

    def new(self, history: History, run_id: str, *, refresh: bool) -> NewBatch | None:
        if self._source.cursor is None:
            mine = any(b.run_id == run_id and not b.is_open for b in history.batches)
            return None if mine or self._is_connected else NewBatch(replaces=True)
        since = None if refresh else history.cursor()
        if (self._top is None or self._top == since) and not refresh:
            return None
        return NewBatch(cursor_from=since, cursor_to=self._top)

    def is_intact(self, batch: Batch) -> bool:
        return True

    def reading(self, batch: Batch | None, copies: Copies) -> Reading:
        if batch is not None:
            self._is_connected = True
        return self._context.on_spark(lambda: Rows(self._context.spark, self._frame(batch), self.shown))

    def _highest(self) -> str | None:
        """Returns the highest value of the cursor, as text."""
        column = self._cursor(self._view(self._origin))
        top_query = f"(SELECT max({self._quoted(column.name)}) AS top FROM {self._origin}) pinakes_top"
        (row,) = self._view(top_query).selectExpr("CAST(top AS string)").collect()
        return None if row[0] is None else str(row[0])

    def _frame(self, batch: Batch | None) -> Any:
        frame = self._view(self._origin)
        if batch is None or self._source.cursor is None:
            return frame
        column = self._cursor(frame)
        name = quoted(column.name)
        if batch.cursor_to is None:
            return frame.filter("false")
        frame = frame.filter(f"{name} <= CAST({quoted_text(batch.cursor_to)} AS {column.type})")
        if batch.cursor_from is not None:
            frame = frame.filter(f"{name} > CAST({quoted_text(batch.cursor_from)} AS {column.type})")
        return frame

    def _cursor(self, frame: Any) -> Column:
        columns = shape.columns_of(frame.schema)
        found = next((c for c in columns if c.name == self._source.cursor), None)
        if found is None:
            raise ColumnNotFound(
                f"{self.shown} has no column '{self._source.cursor}' that could be the cursor; it has: "
                f"{listing(c.name for c in columns)}"
            )
        if not found.type.startswith(_CURSORS):
            raise InvalidArgument(
                f"the cursor '{found.name}' is {found.type.upper()}: it must be a whole number, a decimal, a date or a "
                f"timestamp, which both databases put in the same order"
            )
        return found

    @property
    def _origin(self) -> str:
        if self._source.query is not None:
            return f"({self._source.query}\n) pinakes_query"
        return self._source.table or ""

    def _quoted(self, name: str) -> str:
        mark = "`" if is_mysql(self._source.url) else '"'
        return mark + name.replace(mark, mark * 2) + mark

    # --- the connection --------------------------------------------------------------------------------------------

    def _view(self, origin: str) -> Any:
        """Returns a data frame of the table or subquery `origin` of the database."""
        spark = self._context.spark
        name = f"pinakes_{uuid.uuid4().hex}"
        login = self._login()
        options = {"url": self._url(), "driver": self._driver(), "dbtable": origin, "preferTimestampNTZ": "true"}
        options |= self._source.options if origin == self._origin else {}
        options_sql = [f"{_literal(key)} {_literal(value)}" for key, value in options.items()]
        options_sql += [f"{key} '${{{_KEYS[key]}}}'" for key in login]
        for key, value in login.items():
            spark.conf.set(_KEYS[key], _escape(value))
        spark.conf.set(_SUBSTITUTE, "true")  # for this statement, in which no other text can be a reference
        try:
            spark.sql(f"CREATE TEMPORARY VIEW {name} USING jdbc OPTIONS ({', '.join(options_sql)})")
        finally:
            spark.conf.set(_SUBSTITUTE, "false")
            for key in login:
                spark.conf.unset(_KEYS[key])
        return spark.table(name)

    def _login(self) -> dict[str, str]:
        if self._source.secret is None:
            return {}
        session = self._context.session
        secret = session.engine.secrets.get(session.engine.secrets.require(Part(self._source.secret), session.identity))
        if secret.type != "basic":
            raise InvalidArgument(
                f"secret '{secret.name}' is of type {secret.type}; a database wants one of type basic"
            )
        secret.check_scope(self._source.url.removeprefix("jdbc:"))
        return {"user": secret["USERNAME"], "password": secret["PASSWORD"]}

    def _driver(self) -> str:
        return "org.mariadb.jdbc.Driver" if is_mysql(self._source.url) else "org.postgresql.Driver"

    def _url(self) -> str:
        """Returns the URL for Spark, which quotes names correctly only for URLs of the scheme mysql."""
        url = self._source.url
        if not is_mysql(url):
            return url
        url = "jdbc:mysql:" + url.split(":", 2)[2]
        return f"{url}{'&' if '?' in url else '?'}permitMysqlScheme=true"


def _literal(text: str) -> str:
    """Returns a string literal in which ${…} is not a reference."""
    return quoted_text(text).replace("$", "\\u0024")


def _escape(value: str) -> str:
    """Escapes a value for use within a literal: all characters but letters and digits by their code."""
    return "".join(c if c.isalnum() else f"\\u{ord(c):04x}" if ord(c) < 0x10000 else c for c in value)


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows that are typed already."""

    spark: SparkSession
    read: Any
    shown: str
    unreadable: list[Unreadable] = field(default_factory=list)

    @property
    def inputs(self) -> Sequence[Input]:
        return ()

    def only(self, uris: Collection[str]) -> Rows:  # there are no files to select
        del uris
        return self

    def lines(self) -> None:
        return None

    def inferred(self) -> list[Column]:
        return [Column(c.name, c.type) for c in shape.columns_of(self.read.schema)]

    def unknown(self, columns: Sequence[Column]) -> dict[str, str]:
        return dict.fromkeys(find_unknown([c.name for c in self.inferred()], columns), self.shown)

    def frame(self, columns: Sequence[Column]) -> Any:
        return shape.to_records(self.read, columns, quoted_text(self.shown))
