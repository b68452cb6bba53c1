"""A worker on another machine learns nothing through its views: they are its own texts, which others read.

A view of a worker with the text `SELECT worker.main.f(b) FROM lake.default.secret` sent the rows of another catalog, or
of a file of the server, to the worker's function as soon as somebody read the view.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.config.model import CatalogConfig
from pinakes.core.errors import InvalidArgument, PermissionDenied
from pinakes.engine.engine import Engine
from tests.engine.support import do, rows
from tests.security.rogue import ADMIN, an_engine_of, session_of
from tests.worker.support import listening, program

pytestmark = pytest.mark.slow

WORKER = """
    import sys
    import pyarrow as pa
    from pinakes.worker import ScalarFunction, TableFunctionGenerator, Worker
    from pinakes.worker.catalog import Catalog, ReadOnlyCatalogInterface, ScanFunctionResult, Schema, Table, View

    STOLEN = sys.argv.pop(1)
    FILE = sys.argv.pop(1)

    class Take(ScalarFunction):
        ARGUMENTS = pa.schema([("x", pa.string())])
        OUTPUT = pa.string()

        @classmethod
        def compute(cls, params, x):
            with open(STOLEN, "a") as file:
                print(x.to_pylist(), file=file)
            return x

    class Rows(TableFunctionGenerator):
        ARGUMENTS = pa.schema([("x", pa.string())])
        DEFAULTS = {"x": ""}
        FIXED_SCHEMA = pa.schema([("b", pa.string())])

        @classmethod
        def process(cls, params, state, out):
            with open(STOLEN, "a") as file:
                print(params.arguments, file=file)
            out.emit(pa.RecordBatch.from_pydict({"b": ["own"]}, schema=cls.FIXED_SCHEMA))
            out.finish()

    VIEWS = {
        "lake": "SELECT evil.main.take(b) AS b FROM lake.default.secret",
        "file": f"SELECT evil.main.take(column0) AS b FROM read_csv('{FILE}', header => false)",
        "plain": "SELECT b FROM lake.default.secret",
        "nested": "SELECT evil.main.take(b) AS b FROM plain",
        "sub": "SELECT evil.main.take((SELECT max(b) FROM lake.default.secret)) AS b FROM own",
        "given": "SELECT evil.main.take(b) AS b FROM delegated",
        "asked": "SELECT b FROM evil.main.rows($1)",
        "fine": "SELECT evil.main.take(b) AS b FROM own",
        "finer": "SELECT evil.main.take(f.b) AS b FROM fine AS f JOIN own ON true",
    }

    class Evil(Worker):
        catalog = Catalog(name="evil", schemas=[Schema(
            name="main", functions=[Take, Rows],
            tables=[Table(name="own", function=Rows), Table(name="delegated", columns=Rows.FIXED_SCHEMA)],
            views=[View(name=name, definition=sql) for name, sql in VIEWS.items()],
        )])

        def table_scan_function_get(self, *, name, **others):
            if name == "own":
                return super().table_scan_function_get(name=name, **others)
            return ScanFunctionResult(function_name="query_table", positional_arguments=[
                pa.scalar("lake.default.secret")], named_arguments={})

    if __name__ == "__main__":
        Evil().run()
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("views")
    (directory / "secret.csv").write_text("hidden\n")
    (directory / "stolen").write_text("")
    return directory


@pytest.fixture(scope="module", params=[True, False], ids=["served", "embedded"])
def engine(request: pytest.FixtureRequest, place: Path) -> Iterator[Engine]:
    file = program(place, WORKER)
    with (
        listening(file, str(place / "stolen"), str(place / "secret.csv"), "--http") as address,
        an_engine_of(
            place / f"lake-{request.param}", served=request.param, evil=CatalogConfig("evil", "vgi", address)
        ) as engine,
    ):
        do(session_of(engine, ADMIN), "CREATE TABLE lake.default.secret AS SELECT 'hidden' AS b")
        yield engine


@pytest.mark.parametrize("view", ["lake", "file", "nested", "sub", "given"])
def test_rows_of_others_are_not_sent(engine: Engine, place: Path, view: str) -> None:
    session = session_of(engine, ADMIN)
    for sql in (f"SELECT * FROM evil.main.{view}", f"SELECT * FROM evil.main.delegated, evil.main.{view}"):
        with pytest.raises(PermissionDenied, match="rows that are not the worker's own"):
            do(session, sql)
    assert "hidden" not in (place / "stolen").read_text()


def test_parameters_of_the_caller_are_not_sent(engine: Engine, place: Path) -> None:
    with pytest.raises(InvalidArgument, match="takes none"):
        session_of(engine, ADMIN).run("SELECT * FROM evil.main.asked WHERE b <> $1", ["hidden"]).close()
    assert "hidden" not in (place / "stolen").read_text()


def test_views_of_the_workers_own_rows(engine: Engine) -> None:
    session = session_of(engine, ADMIN)
    assert rows(session, "SELECT b FROM evil.main.fine") == [("own",)]
    assert rows(session, "SELECT b FROM evil.main.finer") == [("own",)]
    assert rows(session, "SELECT b FROM evil.main.plain") == [("hidden",)]
    assert rows(session, "SELECT evil.main.take('x') AS b FROM lake.default.secret") == [("x",)]
