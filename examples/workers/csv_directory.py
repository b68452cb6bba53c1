#!/usr/bin/env python3
"""The CSV files of a directory as tables. The engine reads them itself: the worker only says where they are.

ATTACH 'csv' (TYPE vgi, LOCATION 'python examples/workers/csv_directory.py', DIRECTORY '/data');
SELECT * FROM csv.main.orders;
"""

from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from pinakes.worker import Worker
from pinakes.worker import catalog as c


class CsvDirectory(c.ReadOnlyCatalogInterface):
    """What `catalog_attach` gives out is the directory; it comes back with every call."""

    catalog_name = "csv"

    def catalog_attach(self, *, name, options):
        directory = Path(options.get("directory", ".")).resolve()
        if not directory.is_dir():
            raise ValueError(f"DIRECTORY must be a directory, and {directory} is none")
        return c.CatalogAttachResult(attach_opaque_data=str(directory).encode())

    def catalog_version(self, *, attach_opaque_data, transaction_opaque_data):
        return sum(path.stat().st_mtime_ns for path in self._files(attach_opaque_data))

    def schema_contents(self, *, attach_opaque_data, transaction_opaque_data, name, type=None):
        wanted = type in (None, c.SchemaObjectType.TABLE)
        return [self._table(path) for path in self._files(attach_opaque_data) if wanted]

    def table_get(self, *, attach_opaque_data, transaction_opaque_data, schema_name, name):
        return next((self._table(p) for p in self._files(attach_opaque_data) if p.stem == name), None)

    def table_scan_function_get(self, *, attach_opaque_data, schema_name, name, **_):
        path = Path(attach_opaque_data.decode()) / f"{name}.csv"
        return c.ScanFunctionResult(function_name="read_csv", positional_arguments=[pa.scalar(str(path))])

    def _files(self, directory: bytes) -> list[Path]:
        return sorted(Path(directory.decode()).glob("*.csv"))

    def _table(self, path: Path) -> c.TableInfo:
        columns = csv.open_csv(path).schema.serialize().to_pybytes()
        return c.TableInfo(name=path.stem, schema_name="main", columns=columns, comment=f"The file {path.name}")


class CsvWorker(Worker):
    catalog_interface = CsvDirectory


if __name__ == "__main__":
    CsvWorker().run()
