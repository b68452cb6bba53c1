"""A worker that takes every change, keeps its tables in a file, and answers scans with functions of the engine."""

import json
import sys
from pathlib import Path

import pyarrow as pa

from pinakes.worker import TableFunctionGenerator, Worker
from pinakes.worker import catalog as c

HERE = Path(sys.argv.pop(1))
LOG = HERE / "log.jsonl"


class AsOf(TableFunctionGenerator):
    """What a query of the past asked for."""

    FIXED_SCHEMA = pa.schema([("unit", pa.string()), ("value", pa.string())])

    @classmethod
    def process(cls, params, state, out):
        out.emit(pa.record_batch([[params.at_unit], [params.at_value]], schema=cls.FIXED_SCHEMA))
        out.finish()


DELEGATED = {
    "files": ("read_parquet", [str(HERE / "files" / "*.parquet")], {}),
    "texts": ("read_csv", [str(HERE / "t.csv")], {"delim": ";"}),
    "lines": ("read_json", [str(HERE / "t.json")], {}),
    "mounted": ("query_table", ["lake.default.base"], {}),
    "berg": ("iceberg_scan", [(HERE / "berg.txt").read_text() if (HERE / "berg.txt").exists() else ""], {}),
    "unknown": ("postgres_scan", ["x"], {}),
    "past": ("as_of", [], {}),
}
COLUMNS = pa.schema([("id", pa.int64()), ("name", pa.string())])


class Recording(c.CatalogInterface):
    functions = (AsOf,)

    def catalogs(self):
        return ["rec"]

    def catalog_attach(self, *, name, options):
        return c.CatalogAttachResult(attach_opaque_data=b"a", supports_time_travel=True, default_schema="main")

    def schemas(self, **_):
        return ["main", *(["extra"] if (HERE / "extra").exists() else [])]

    def schema_get(self, *, name, attach_opaque_data, **_):
        return c.SchemaInfo(attach_opaque_data=attach_opaque_data, name=name)

    def schema_contents(self, *, type=None, name, **where):
        if type in (None, c.SchemaObjectType.TABLE) and name == "main":
            yield from (self._info(table) for table in [*DELEGATED, "t"])
        if type in (None, c.SchemaObjectType.VIEW) and name == "main":
            yield self.view_get(schema_name="main", name="v")
        if type in (None, c.SchemaObjectType.TABLE_FUNCTION) and name == "main":
            yield AsOf.info("main")

    def table_get(self, *, name, **_):
        return self._info(name) if name in DELEGATED or name in ("t", "made") else None

    def view_get(self, *, name, **_):
        return c.ViewInfo(name="v", schema_name="main", definition="SELECT 1 AS one") if name == "v" else None

    def table_scan_function_get(self, *, name, **_):
        function, positional, named = DELEGATED[name]
        scalars = {key: pa.scalar(value) for key, value in named.items()}
        return c.ScanFunctionResult(
            function_name=function, positional_arguments=[pa.scalar(v) for v in positional], named_arguments=scalars
        )

    def _info(self, name):
        columns = AsOf.FIXED_SCHEMA if name == "past" else COLUMNS
        return c.TableInfo(name=name, schema_name="main", columns=columns.serialize().to_pybytes())


def said(field):
    return {key.decode(): value.decode() for key, value in (field.metadata or {}).items()}


def recorder(method):
    def record(self, **arguments):
        for key in ("columns", "column_definition"):
            if key in arguments:
                schema = pa.ipc.read_schema(pa.py_buffer(arguments[key]))
                arguments[key] = [
                    [f.name, str(f.type), {k.decode(): v.decode() for k, v in (f.metadata or {}).items()}]
                    for f in schema
                ]
        if "on_conflict" in arguments:
            arguments["on_conflict"] = arguments["on_conflict"].name
        dropped = ("attach_opaque_data", "transaction_opaque_data", "schema_name")
        kept = {k: v for k, v in arguments.items() if k not in dropped and v not in (False, None, [], {})}
        with LOG.open("a") as log:
            log.write(json.dumps([method, kept]) + "\n")
        if method == "schema_create":
            (HERE / "extra").touch()
        if method == "schema_drop":
            (HERE / "extra").unlink()

    return record


for _name in dir(c.CatalogInterface):
    ends = ("_create", "_drop", "_rename", "_set", "_add", "_change")
    if _name.endswith(ends) and not _name.startswith("catalog_"):
        setattr(Recording, _name, recorder(_name))


class RecordingWorker(Worker):
    catalog_interface = Recording


if __name__ == "__main__":
    RecordingWorker().run()
