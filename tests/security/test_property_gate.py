"""One gate: no property that names code survives on its way to pyiceberg, in any catalog type and from any source."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import IntegerType, NestedField

import pinakes
from pinakes.core.access.path_sandbox import Roots
from pinakes.core.access.property_gate import FROM_SERVERS, OF_REST_CATALOGS, names_code
from pinakes.core.errors import PermissionDenied
from pinakes.providers.hadoop_catalog.catalog import HadoopCatalog
from pinakes.providers.iceberg.own_io import OwnFileIO
from pinakes.providers.iceberg.table_io import TableIO
from pinakes.providers.iceberg.v3.install import install
from pinakes.providers.metastores.glue_client import GlueClientCatalog
from pinakes.providers.metastores.hms_client import HiveClientCatalog
from pinakes.providers.metastores.s3tables_client import S3TablesClientCatalog
from pinakes.providers.rest.client import RestClient
from pinakes.providers.sql_catalog.catalog import SqlCatalog
from tests.security.rogue import planted
from tests.security.test_storage_credentials import POISON

HIVE = {"uri": "thrift://127.0.0.1:1", "hive.kerberos-authentication": "false", "hive.kerberos-service-name": "hive"}
CATALOGS: dict[str, Callable[[Path], OwnFileIO]] = {
    "glue": lambda _: GlueClientCatalog("c", object(), **POISON),  # type: ignore[arg-type]
    "hms": lambda _: HiveClientCatalog("c", 1.0, **HIVE, **POISON),
    "s3tables": lambda _: S3TablesClientCatalog("c", object(), "arn", POISON),
}
SCHEMA = Schema(NestedField(1, "a", IntegerType(), required=False))


@pytest.mark.parametrize("kind", CATALOGS)
@pytest.mark.parametrize("served", [True, False])
def test_no_property_reaches_the_files_of_a_metastore(kind: str, served: bool, tmp_path: Path) -> None:
    install()
    catalog = CATALOGS[kind](tmp_path)
    catalog.roots = Roots([tmp_path / "inside"] if served else None)
    staged = catalog._create_staged_table(("s", "t"), SCHEMA, str(tmp_path / "inside" / "t"), properties=POISON)
    assert type(staged.io) is TableIO
    assert set(staged.io.properties) & set(POISON) == {"s3.region"}
    assert staged.location_provider().new_data_location("x").startswith(str(tmp_path))
    again = catalog._update_and_stage_table(staged, ("s", "t"), (), ())
    assert type(again.io) is TableIO
    if served:
        with pytest.raises(PermissionDenied):
            staged.io.new_input(str(tmp_path / "outside"))
    assert planted == []


def test_every_catalog_type_makes_its_own_access() -> None:
    for catalog in (SqlCatalog, HadoopCatalog, GlueClientCatalog, HiveClientCatalog, S3TablesClientCatalog):
        assert catalog._load_file_io is OwnFileIO._load_file_io
        assert catalog._update_and_stage_table is OwnFileIO._update_and_stage_table
    for method in ("_load_file_io", "_response_to_table", "_response_to_staged_table", "load_table", "_create_session"):
        assert method in vars(RestClient)


@pytest.mark.parametrize(
    "key", [*POISON, "PY-IO-IMPL", " py-io-impl", "x.py-y", "a-impl", "a.impl", "client.factory", "default_netloc"]
)
def test_no_list_has_a_key_that_names_code(key: str) -> None:
    assert key == "s3.region" or key not in {*FROM_SERVERS, *OF_REST_CATALOGS}
    assert not any(names_code(known) for known in (*FROM_SERVERS, *OF_REST_CATALOGS))


@pytest.mark.parametrize("key", ["comment", "owner", "write.format.default", "my.own", "default", "pyramid", "simple"])
def test_harmless_keys_are_stored(key: str) -> None:
    assert not names_code(key)


FORBIDDEN = {"load_file_io", "load_location_provider", "load_catalog", "PyArrowFileIO", "FsspecFileIO", "from_metadata"}


def test_nothing_is_made_by_pyiceberg_s_own_loaders() -> None:
    """They import classes by the names in properties. `TableIO` is the one subclass."""
    found: list[Any] = []
    for path in Path(pinakes.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if name in FORBIDDEN:
                    found.append((path.name, node.lineno, name))
    assert found == []
