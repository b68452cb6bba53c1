"""The other readers, behind one form: each gives the rows of a table, and how many files it read for them.

They are given the table by its metadata file or, Spark, by the database that lists it: nothing of ours is in between.
"""

from __future__ import annotations

import base64
import importlib
import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol
from uuid import UUID

import duckdb
import pyarrow as pa
from pyiceberg.table import StaticTable

from pinakes.core.names import Name
from pinakes.engine.session import Session
from tests.engine.support import Row, in_order


@dataclass(frozen=True)
class Lake:
    """A directory with a sqlite catalog, and a session of ours that has it as its current one."""

    directory: Path
    catalog: str
    """The name under which both sides keep their tables in the database; Spark keeps its catalogs by it, for good."""
    session: Session

    def metadata(self, table: str) -> str:
        """The path of the table's metadata file."""
        return self.session.resolver.table(Name.of(table))[1].handle.metadata_location.removeprefix("file://")

    def exists(self, table: str) -> bool:
        return table in self.session.run("SHOW TABLES").read_all().columns[0].to_pylist()

    def has_deletes(self, table: str) -> bool:
        """Whether rows are marked as deleted: by positions, or by deletion vectors."""
        snapshot = self.session.resolver.table(Name.of(table))[1].handle.current_snapshot()
        return snapshot is not None and snapshot.summary["total-delete-files"] != "0"

    def rows(self, table: str, where: str = "TRUE", *, ref: str | None = None) -> list[Row]:
        version = f" FOR VERSION AS OF '{ref}'" if ref else ""
        return plain(self.session.run(f"SELECT * FROM {table}{version} WHERE {where}").read_all())


class Peer(Protocol):
    def rows(self, lake: Lake, table: str, where: str = "TRUE", *, ref: str | None = None) -> list[Row]: ...

    def files(self, lake: Lake, table: str, where: str) -> int:
        """How many data files are read for the rows that a condition leaves."""
        ...


class PyIceberg:
    """In a process of its own (`pyiceberg_child.py`)."""

    def __init__(self) -> None:
        child = [sys.executable, str(Path(__file__).with_name("pyiceberg_child.py"))]
        self._child = subprocess.Popen(child, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def rows(self, lake: Lake, table: str, where: str = "TRUE", *, ref: str | None = None) -> list[Row]:
        encoded = self._ask(lake, table, where, ref)["rows"]
        return plain(pa.ipc.open_stream(base64.b64decode(encoded)).read_all())

    def files(self, lake: Lake, table: str, where: str) -> int:
        return int(self._ask(lake, table, where)["files"])

    def _ask(self, lake: Lake, table: str, where: str, ref: str | None = None) -> dict[str, Any]:
        """It takes decimals as texts only."""
        decimals = re.sub(r"\b\d+\.\d\d\b", r"'\g<0>'", where)
        asked = {"metadata": lake.metadata(table), "where": decimals, "ref": ref}
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(json.dumps(asked) + "\n")
        self._child.stdin.flush()
        answer: dict[str, Any] = json.loads(self._child.stdout.readline())
        assert "error" not in answer, f"pyiceberg, asked for {asked}: {answer['error']}"
        return answer

    def close(self) -> None:
        with self._child:
            pass


class DuckDB:
    def __init__(self) -> None:
        self._connection = duckdb.connect(
            config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
        )
        for name in ("avro", "iceberg"):
            self._connection.execute(f"LOAD '{_extension(name)}'")

    def rows(self, lake: Lake, table: str, where: str = "TRUE", *, ref: str | None = None) -> list[Row]:
        version = ""
        if ref:
            found = StaticTable.from_metadata(lake.metadata(table)).snapshot_by_name(ref)
            assert found is not None
            version = f", snapshot_from_id={found.snapshot_id}"
        query = f"SELECT * FROM iceberg_scan('{lake.metadata(table)}'{version}) WHERE {where}"
        return plain(self._connection.execute(query).to_arrow_table())

    def files(self, lake: Lake, table: str, where: str) -> int:
        scan = f"EXPLAIN ANALYZE SELECT * FROM iceberg_scan('{lake.metadata(table)}') WHERE {where}"
        text = " ".join(str(row[1]) for row in self._connection.execute(scan).fetchall())
        found = re.search(r"Total Files Read: (\d+)", text)
        assert found, text
        return int(found.group(1))


class Spark:
    def __init__(self, uri: str, lake: Lake) -> None:
        self._uri = uri
        prefix = f"spark.sql.catalog.{lake.catalog}"
        settings = {
            prefix: "org.apache.iceberg.spark.SparkCatalog",
            f"{prefix}.catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog",
            f"{prefix}.uri": f"jdbc:sqlite:file:{lake.directory}/catalog.db?busy_timeout=10000",
            f"{prefix}.warehouse": (lake.directory / "warehouse").as_uri(),
            f"{prefix}.jdbc.schema-version": "V1",
            f"{prefix}.cache-enabled": "false",
        }
        self._ask("conf", json.dumps(settings))

    def sql(self, text: str) -> pa.Table:
        return pa.ipc.open_stream(self._ask("sql", text)[0]).read_all()

    def rows(self, lake: Lake, table: str, where: str = "TRUE", *, ref: str | None = None) -> list[Row]:
        version = f" VERSION AS OF '{ref}'" if ref else ""
        return plain(self.sql(f"SELECT * FROM {lake.catalog}.s.{table}{version} WHERE {where}"))

    def files(self, lake: Lake, table: str, where: str) -> int:
        answer = self._ask("sql", f"SELECT * FROM {lake.catalog}.s.{table} WHERE {where}")[1]
        return int(json.loads(answer)["read"])

    def _ask(self, path: str, body: str) -> tuple[bytes, str]:
        try:
            with urllib.request.urlopen(f"{self._uri}/{path}", body.encode()) as answer:
                return answer.read(), answer.headers.get("X-Files", "{}")
        except urllib.error.HTTPError as error:
            with error:
                raise AssertionError(f"Spark refuses {body}: {error.read().decode()}") from None


def _extension(name: str) -> Path:
    package = importlib.import_module(f"duckdb_extension_{name}")
    return next(Path(package.__path__[0]).rglob(f"v{duckdb.__version__}/{name}.duckdb_extension"))


# --- values ------------------------------------------------------------------------------------------------------


def plain(table: pa.Table) -> list[Row]:
    """The rows in an order of ours, their values in the form that all readers can give."""
    columns: Iterable[list[Any]] = ([_value(v) for v in column.to_pylist()] for column in table.columns)
    return in_order(list(zip(*columns, strict=True)))


def _value(value: Any) -> Any:
    """Some give a UUID as text, a map as a list of pairs, a time of another zone, a NaN that is not itself."""
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, float):
        return "NaN" if value != value else value
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC)
    if isinstance(value, dict):
        return tuple((key, _value(v)) for key, v in value.items())
    if isinstance(value, list | tuple):
        return tuple(_value(v) for v in value)
    return value
