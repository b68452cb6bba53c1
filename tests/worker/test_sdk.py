"""What a worker's author writes: the samples of the documentation, with the checks and defaults that it states."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any, ClassVar

import pyarrow as pa
import pytest

from pinakes.worker import OutputCollector, ScalarFunction, TableFunctionGenerator, Worker
from pinakes.worker.catalog import (
    AttachOpaqueData,
    Catalog,
    CatalogAttachResult,
    CatalogInterface,
    CatalogStorageSqlite,
    FunctionType,
    ReadOnlyCatalogInterface,
    ScanFunctionResult,
    Schema,
    SchemaInfo,
    SchemaObjectType,
    Table,
    TableInfo,
    TransactionOpaqueData,
    View,
    ViewInfo,
)
from pinakes.worker.exceptions import CatalogReadOnlyError


class UsersFunction(TableFunctionGenerator):
    """Generate user data."""

    FIXED_SCHEMA: ClassVar[pa.Schema] = pa.schema(
        [
            ("id", pa.int64()),
            ("name", pa.string()),
            ("active", pa.bool_()),
        ]
    )

    @classmethod
    def process(cls, params, state, out: OutputCollector) -> None:
        out.emit(
            pa.RecordBatch.from_pydict(
                {
                    "id": [1, 2, 3],
                    "name": ["Alice", "Bob", "Carol"],
                    "active": [True, True, False],
                },
                schema=params.output_schema,
            )
        )
        out.finish()


class MyScalarFunction(ScalarFunction):
    ARGUMENTS = pa.schema([("x", pa.int64())])
    OUTPUT = pa.int64()


users_table = Table(
    name="users",
    function=UsersFunction,
    not_null=["id"],
    unique=[["id"]],
    comment="User accounts",
)


class SimpleCatalog(CatalogInterface):
    """A minimal catalog with a single schema."""

    def __init__(self):
        self._attachments: dict[AttachOpaqueData, str] = {}

    def catalogs(self) -> Iterable[str]:
        return ["simple_db"]

    def catalog_attach(self, *, name: str, options: dict[str, Any]) -> CatalogAttachResult:
        if name != "simple_db":
            raise ValueError(f"Unknown catalog: {name}")
        attach_opaque_data = AttachOpaqueData(uuid.uuid4().bytes)
        self._attachments[attach_opaque_data] = name
        return CatalogAttachResult(
            attach_opaque_data=attach_opaque_data,
            supports_transactions=False,
            supports_time_travel=False,
            catalog_version_frozen=True,
            catalog_version=1,
            attach_opaque_data_required=False,
        )

    def catalog_detach(self, *, attach_opaque_data: AttachOpaqueData) -> None:
        self._attachments.pop(attach_opaque_data, None)

    def schema_get(
        self, *, attach_opaque_data: AttachOpaqueData, transaction_opaque_data: TransactionOpaqueData | None, name: str
    ) -> SchemaInfo | None:
        if name == "main":
            return SchemaInfo(
                attach_opaque_data=attach_opaque_data,
                name="main",
                comment="Default schema",
                tags={},
            )
        return None

    def table_get(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        transaction_opaque_data: TransactionOpaqueData | None,
        schema_name: str,
        name: str,
    ) -> TableInfo | None:
        return None  # No tables

    def view_get(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        transaction_opaque_data: TransactionOpaqueData | None,
        schema_name: str,
        name: str,
    ) -> ViewInfo | None:
        return None  # No views


# --- what is declared ------------------------------------------------------------------------------------------------


def test_a_table_has_the_columns_of_its_function():
    info = users_table.info("main")
    assert pa.ipc.read_schema(pa.py_buffer(info.columns)) == UsersFunction.FIXED_SCHEMA
    assert (info.not_null_constraints, info.unique_constraints) == ([0], [[0]])
    assert info.comment == "User accounts"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Table(name="bad"), "must specify either 'columns' or 'function'"),
        (
            lambda: Table(name="users", columns=pa.schema([("id", pa.int64())]), not_null=["nonexistent"]),
            "column 'nonexistent' not found",
        ),
        (
            lambda: Table(name="users", columns=pa.schema([("id", pa.int64())]), unique=[["id", "no"]]),
            "column 'no' not found",
        ),
        (
            lambda: Catalog(name="myapp", default_schema="missing", schemas=[Schema(name="main")]),
            "default_schema 'missing' not found",
        ),
        (lambda: Catalog(name="a", schemas=[Schema(name="main"), Schema(name="main")]), "'main' twice"),
        (lambda: Schema(name="main", tables=[users_table, users_table]), "'users' twice"),
        (
            lambda: Schema(name="main", tables=[users_table], views=[View(name="users", definition="SELECT 1")]),
            "'users' twice",
        ),
        (lambda: Schema(name="main", functions=[UsersFunction, UsersFunction]), "'users_function' twice"),
        (lambda: Table(name="t", columns=pa.schema([("a", pa.int64()), ("a", pa.int64())])), "'a' twice"),
        (lambda: View(name="v", definition=" "), "must have a definition"),
    ],
)
def test_declarations_check_themselves(make: Any, message: str):
    with pytest.raises(ValueError, match=message):
        make()


def test_declarations_are_frozen():
    with pytest.raises(AttributeError):
        users_table.name = "other"  # type: ignore[misc]


# --- interfaces ------------------------------------------------------------------------------------------------------


def test_an_interface_needs_its_abstract_methods():
    with pytest.raises(TypeError, match="abstract"):
        CatalogInterface()  # type: ignore[abstract]


def test_the_defaults_of_an_interface():
    catalog = SimpleCatalog()
    attached = catalog.catalog_attach(name="simple_db", options={})
    where: Any = {"attach_opaque_data": attached.attach_opaque_data, "transaction_opaque_data": None}
    assert attached.default_schema == "main"
    assert list(catalog.schemas(**where)) == ["main"]
    assert catalog.catalog_version(**where) == 0
    assert catalog.loggable_attach_options({"password": "x"}) == {}
    catalog.catalog_detach(attach_opaque_data=attached.attach_opaque_data)
    unsupported = [
        "catalog_create catalog_drop catalog_transaction_begin catalog_transaction_commit catalog_transaction_rollback",
        "schema_create schema_drop schema_contents table_create table_drop table_rename table_comment_set",
        "table_column_add table_column_drop table_column_rename table_column_type_change table_column_default_set",
        "table_column_default_drop table_not_null_set table_not_null_drop table_scan_function_get view_create",
        "view_drop view_rename view_comment_set",
    ]
    for name in " ".join(unsupported).split():
        method = getattr(CatalogInterface, name)
        arguments = dict.fromkeys(method.__kwdefaults__ or {}) | dict.fromkeys(_keywords(method))
        with pytest.raises(NotImplementedError, match=name):
            getattr(catalog, name)(**arguments)


def _keywords(method: Any) -> tuple[str, ...]:
    code = method.__code__
    return code.co_varnames[1 : 1 + code.co_kwonlyargcount]


def test_a_catalog_of_functions():
    class MyFunctionCatalog(ReadOnlyCatalogInterface):
        catalog_name = "my_funcs"
        functions = [MyScalarFunction, UsersFunction]  # noqa: RUF012

    catalog = MyFunctionCatalog()
    assert list(catalog.catalogs()) == ["my_funcs"]
    where: Any = {"attach_opaque_data": b"", "transaction_opaque_data": None, "name": "main"}
    assert [o.name for o in catalog.schema_contents(**where)] == ["my_scalar_function", "users_function"]
    scalars = catalog.schema_contents(**where, type=SchemaObjectType.SCALAR_FUNCTION)
    assert [(o.name, getattr(o, "function_type")) for o in scalars] == [  # noqa: B009 - only functions have it
        ("my_scalar_function", FunctionType.SCALAR)
    ]
    assert catalog.table_get(attach_opaque_data=b"", transaction_opaque_data=None, schema_name="main", name="x") is None


@pytest.mark.parametrize("method", ["table_create", "schema_drop", "view_rename", "table_column_add", "catalog_create"])
def test_a_read_only_catalog_refuses_changes(method: str):
    with pytest.raises(CatalogReadOnlyError):
        getattr(ReadOnlyCatalogInterface(), method)(name="x")


# --- workers ---------------------------------------------------------------------------------------------------------


def test_what_a_worker_exposes():
    class Functions(Worker):
        functions = [UsersFunction]  # noqa: RUF012

    class Named(Functions):
        catalog_name = "my_catalog"

    class Full(Worker):
        catalog_interface = SimpleCatalog

    class Disabled(Functions):
        catalog_interface = None
        catalog_name = None

    class Declared(Worker):
        catalog = Catalog(name="myapp", schemas=[Schema(name="main", tables=[users_table])])

    def catalogs(worker: Worker) -> list[str] | None:
        return None if worker.interface is None else list(worker.interface.catalogs())

    assert catalogs(Functions()) == ["functions"]
    assert catalogs(Named()) == ["my_catalog"]
    assert catalogs(Full()) == ["simple_db"]
    assert catalogs(Disabled()) is None
    assert catalogs(Declared()) == ["myapp"]
    assert Declared().find_function("users_function", "main") is UsersFunction
    with pytest.raises(ValueError, match="available: users_function"):
        Declared().find_function("nope", None)


def test_tables_with_columns_are_scanned_as_the_worker_says():
    config = Table(name="config", columns=pa.schema([("key", pa.string())]))

    class Configured(Worker):
        catalog = Catalog(name="c", schemas=[Schema(name="main", tables=[config])])

        def table_scan_function_get(self, *, name: str, **_: Any) -> ScanFunctionResult:
            return ScanFunctionResult(
                function_name="read_parquet",
                positional_arguments=[pa.scalar(f"s3://bucket/{name}/*.parquet")],
                named_arguments={"hive_partitioning": pa.scalar(True)},
                required_extensions=["parquet", "httpfs"],
            )

    class Silent(Worker):
        catalog = Configured.catalog

    where: Any = {"attach_opaque_data": b"", "transaction_opaque_data": None, "schema_name": "main", "name": "config"}
    past: Any = {"at_unit": None, "at_value": None}
    interface = Configured().interface
    assert interface is not None
    found = interface.table_scan_function_get(**where, **past)
    assert found.positional_arguments[0].as_py() == "s3://bucket/config/*.parquet"
    silent = Silent().interface
    assert silent is not None
    with pytest.raises(NotImplementedError, match="table_scan_function_get"):
        silent.table_scan_function_get(**where, **past)


# --- output ----------------------------------------------------------------------------------------------------------


def test_what_is_emitted_must_fit():
    whole = pa.schema([("a", pa.int64()), ("b", pa.string())])
    out = OutputCollector(whole, pa.schema([whole.field("b")]))
    out.emit(pa.record_batch({"a": [1], "b": ["x"]}))
    assert out.ready.popleft().to_pydict() == {"b": ["x"]}
    with pytest.raises(ValueError, match="lacks the column 'b'"):
        out.emit(pa.record_batch({"a": [1]}))
    with pytest.raises(ValueError, match="'b' must be string, and int64"):
        out.emit(pa.record_batch({"b": [1]}))
    out.finish()
    with pytest.raises(ValueError, match="after finish"):
        out.emit(pa.record_batch({"b": ["x"]}))


# --- storage ---------------------------------------------------------------------------------------------------------


def test_storage(tmp_path):
    storage = CatalogStorageSqlite(tmp_path / "catalog.db")
    attach_opaque_data = storage.generate_attach_opaque_data()
    storage.attach_put(attach_opaque_data, catalog_name="mydb", options={"key": "value"})
    assert storage.attach_get(attach_opaque_data) == ("mydb", {"key": "value"})
    assert storage.attach_list() == [attach_opaque_data]
    begun = storage.generate_transaction_opaque_data()
    storage.transaction_put(begun, attach_opaque_data, b"state")
    other = CatalogStorageSqlite(tmp_path / "catalog.db")  # as another process has it
    assert other.transaction_get(begun) == (attach_opaque_data, b"state")
    other.transaction_delete(begun)
    other.transaction_delete(begun)
    assert storage.transaction_get(begun) is None
    storage.transaction_put(begun, attach_opaque_data, b"state")
    storage.attach_delete(attach_opaque_data)
    assert storage.attach_get(attach_opaque_data) is None
    assert storage.transaction_get(begun) is None
    assert (tmp_path / "catalog.db").stat().st_mode & 0o077 == 0
    for one in (storage, other):
        one.close()


def test_old_entries_go(tmp_path):
    storage = CatalogStorageSqlite(tmp_path / "catalog.db")
    storage.attach_put(AttachOpaqueData(b"a"), "a", {})
    assert storage.cleanup_old_entries(max_age_days=1) == 0
    assert storage.cleanup_old_entries(max_age_days=-1) == 1
    storage.close()
