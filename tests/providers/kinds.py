"""The types of catalogs that the behaviour suite (`test_behaviour.py`) runs over: a new one is one entry here.

A kind says which server it needs and how it is attached as `cat`. What it can't do stands in EXCEPTIONS, with the
reason: such a case must fail there, so that nobody forgets to take the entry away.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pinakes.core.errors import CatalogUnavailable, InvalidArgument, NotSupportedError, PinakesError, VersionNotFound
from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from tests.engine.support import Row, an_engine, do, in_order, rows
from tests.servers.base import Facts

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Kind:
    attach: Callable[[Facts, Path], Sequence[str]]
    """The statements that mount it as `cat`, given the facts of its server and a directory."""
    server: str | None = None
    store: str | None = None
    """Where its files are, when a secret for them is needed: `store` is made of it, before the statements."""
    views: bool = True
    nested: bool = True
    namespace_properties: bool = True
    renames: bool = True
    transactions: bool = False
    """Whether several tables can be changed in one commit."""
    creates_in_transactions: bool = False


def store_secret(facts: Facts) -> str:
    return (
        f"CREATE SECRET store (TYPE s3, KEY_ID '{facts['key_id']}', SECRET '{facts['secret']}', "
        f"REGION '{facts['region']}', ENDPOINT '{facts['uri']}', URL_STYLE 'path')"
    )


def _aws_secret(facts: Facts) -> str:
    keys = f"KEY_ID '{facts['key_id']}', SECRET '{facts['secret']}', REGION '{facts['region']}'"
    return f"CREATE SECRET keys (TYPE aws, {keys})"


def _sqlite(_: Facts, place: Path) -> Sequence[str]:
    return [f"ATTACH '{place / 'lake'}' AS cat (TYPE sqlite)"]


def _sqlite_on_s3(facts: Facts, place: Path) -> Sequence[str]:
    warehouse = f"s3://{facts['bucket']}/{place.name}"
    return [
        f"ATTACH '{place / 'lake.db'}' AS cat (TYPE sqlite, WAREHOUSE '{warehouse}', STORAGE_SECRET store)",
    ]


def _jdbc(facts: Facts, place: Path) -> Sequence[str]:
    return [f"ATTACH '{facts['uri']}' AS cat (TYPE jdbc, WAREHOUSE '{place / 'warehouse'}', CATALOG_NAME 'suite')"]


def _rest(facts: Facts, _: Path) -> Sequence[str]:
    return [f"ATTACH '{facts['uri']}' AS cat (TYPE iceberg_rest)"]


def _nessie_auth(facts: Facts, _: Path) -> Sequence[str]:
    return [
        "CREATE SECRET lab (TYPE oauth2, CLIENT_ID 'engine', CLIENT_SECRET 'engine-secret', "
        f"TOKEN_URI '{facts['token_uri']}', OAUTH_SCOPE 'openid')",
        f"ATTACH '{facts['uri']}' AS cat (TYPE iceberg_rest, SECRET lab, STORAGE_SECRET store, VIEWS true)",
    ]


def _glue(facts: Facts, place: Path) -> Sequence[str]:
    warehouse = f"s3://{facts['bucket']}/{place.name}"
    return [
        _aws_secret(facts),
        f"ATTACH '{facts['uri']}' AS cat (TYPE glue, WAREHOUSE '{warehouse}', SECRET keys)",
    ]


def _s3tables(facts: Facts, _: Path) -> Sequence[str]:
    return [
        _aws_secret(facts),
        f"ATTACH '{table_bucket(facts)}' AS cat (TYPE s3tables, ENDPOINT '{facts['uri']}', SECRET keys)",
    ]


def table_bucket(facts: Facts) -> str:
    """The bucket of the suite, made if it is not there: it is no object of the catalog's."""
    import boto3

    client: Any = boto3.client(
        "s3tables",
        endpoint_url=facts["uri"],
        region_name=facts["region"],
        aws_access_key_id=facts["key_id"],
        aws_secret_access_key=facts["secret"],
    )
    try:
        return str(client.create_table_bucket(name="suite")["arn"])
    except client.exceptions.ConflictException:  # it is there, made by an earlier test or by another process
        found = client.list_table_buckets()["tableBuckets"]
        return next(str(bucket["arn"]) for bucket in found if bucket["name"] == "suite")
    finally:
        client.close()


def _hms(facts: Facts, place: Path) -> Sequence[str]:
    return [f"ATTACH '{facts['uri']}' AS cat (TYPE hms, WAREHOUSE '{place / 'warehouse'}')"]


def _hadoop(_: Facts, place: Path) -> Sequence[str]:
    return [f"ATTACH '{place / 'warehouse'}' AS cat (TYPE hadoop, CREATE true)"]


KINDS: dict[str, Kind] = {
    "sqlite": Kind(_sqlite, transactions=True, creates_in_transactions=True),
    "hadoop": Kind(_hadoop, views=False, namespace_properties=False, renames=False),
    "sqlite_on_s3": Kind(_sqlite_on_s3, "s3", store="s3", transactions=True, creates_in_transactions=True),
    "jdbc_postgres": Kind(_jdbc, "postgres", transactions=True, creates_in_transactions=True),
    "jdbc_mariadb": Kind(_jdbc, "mariadb", transactions=True, creates_in_transactions=True),
    "iceberg_rest": Kind(_rest, "rest", transactions=True),
    "nessie": Kind(_nessie_auth, "nessie_auth", store="moto"),
    "glue": Kind(_glue, "moto", views=False, nested=False),
    "s3tables": Kind(_s3tables, "moto", views=False, nested=False, namespace_properties=False),
    "hms": Kind(_hms, "hive", views=False, nested=False),
}

ODD_NAMES = [
    "käse",
    "two words",
    'q"uote',
    "it's",
    "per%cent",
    "sla/sh",
    "日本語",
    "UPPER",
    "hash#tag",
    "que?ry",
    "do.t",
]

TABLES, SCHEMAS, VIEWS = "test_odd_names_of_tables", "test_odd_names_of_schemas", "test_odd_names_of_views"
_DOTS = "stores the levels of a namespace joined by dots"
_JETTY = "the fixture's HTTP server refuses paths with an encoded '/' or '%'"
_DIRECTORIES = "a name is a directory's"
_LOCATION = "the server puts a table's files below its name, and pyiceberg cuts a location short at '#' and '?'"
_LOWER = "names are of lower case letters, digits and _ only"
_NESSIE = "Nessie 0.99 takes the requirement that a table has no snapshot yet for none; newer ones keep it"
_MOTO = "moto ignores the version that an update of a Glue table is conditional on"


Case = tuple[str, str, str]
Expected = tuple[type[Exception], str]


def _refused(kind: str, test: str, names: Sequence[str], why: str) -> dict[Case, Expected]:
    return {(kind, test, name): (InvalidArgument, why) for name in names}


EXCEPTIONS: dict[Case, Expected] = {
    **_refused("sqlite", SCHEMAS, ["do.t"], _DOTS),
    **_refused("sqlite_on_s3", SCHEMAS, ["do.t"], _DOTS),
    **_refused("jdbc_postgres", SCHEMAS, ["do.t"], _DOTS),
    **_refused("jdbc_mariadb", SCHEMAS, ["do.t"], _DOTS),
    **_refused("hadoop", TABLES, ["sla/sh"], _DIRECTORIES),
    **_refused("hadoop", SCHEMAS, ["sla/sh"], _DIRECTORIES),
    **_refused("iceberg_rest", TABLES, ["per%cent", "sla/sh"], _JETTY),
    **_refused("iceberg_rest", SCHEMAS, ["per%cent", "sla/sh"], _JETTY),
    **_refused("iceberg_rest", VIEWS, ["per%cent", "sla/sh"], _JETTY),
    **_refused("iceberg_rest", TABLES, ["hash#tag", "que?ry"], _LOCATION),
    **_refused("iceberg_rest", SCHEMAS, ["hash#tag", "que?ry"], _LOCATION),
    **_refused("iceberg_rest", SCHEMAS, ["do.t"], "the fixture separates the levels of a namespace by dots"),
    **_refused("nessie", TABLES, ["hash#tag", "que?ry"], _LOCATION),
    **_refused("nessie", SCHEMAS, ["hash#tag", "que?ry"], _LOCATION),
    **_refused("nessie", VIEWS, ["hash#tag"], "in Nessie's names, '#' begins a time"),
    **_refused("glue", TABLES, ["UPPER"], "Glue folds names to lower case"),
    **_refused("glue", SCHEMAS, ["UPPER"], "Glue folds names to lower case"),
    **_refused("s3tables", TABLES, ODD_NAMES, _LOWER),
    **_refused("s3tables", SCHEMAS, ODD_NAMES, _LOWER),
    **_refused("hms", TABLES, ODD_NAMES, _LOWER),
    **_refused("hms", SCHEMAS, ODD_NAMES, _LOWER),
    ("hms", "test_a_comment_on_a_schema", ""): (NotSupportedError, "a metastore does not forget a database's comment"),
    ("glue", "test_what_two_engines_write_at_once_is_all_there", ""): (AssertionError, _MOTO),
    ("glue", "test_the_first_rows_of_two_engines_are_all_there", ""): (AssertionError, _MOTO),
    ("nessie", "test_the_first_rows_of_two_engines_are_all_there", ""): (AssertionError, _NESSIE),
    ("glue", "test_two_engines_count_up_at_once", ""): (AssertionError, _MOTO),
    ("nessie", "test_a_table_is_replaced", ""): (VersionNotFound, "Nessie tells of a table's current snapshot only"),
    ("nessie", "test_branches", ""): (NotSupportedError, "Nessie has branches of the whole catalog, none of a table"),
    ("nessie", "test_expired_snapshots_are_gone", ""): (InvalidArgument, "Nessie gives its tables gc.enabled = false"),
    ("s3tables", "test_expired_snapshots_are_gone", ""): (CatalogUnavailable, "S3 Tables lets nobody list files"),
}
"""(kind, test, name) → the error that the test ends with there, and must, and why. All others pass for all kinds. Where
there is a name, it is the one of several names of the test that ends so."""


@dataclass
class Lake:
    """An attached catalog with a schema of the test's own in it: `{s}` in a statement stands for its full name."""

    kind_name: str
    statements: Sequence[str]
    engine: Engine
    session: Session
    name: str

    @property
    def kind(self) -> Kind:
        return KINDS[self.kind_name]

    def sql(self, text: str) -> str:
        return text.replace("{s}", f"cat.{self.name}").replace("{n}", self.name)

    def run(self, text: str, session: Session | None = None) -> int | None:
        return do(session or self.session, self.sql(text))

    def rows(self, text: str, session: Session | None = None) -> list[Row]:
        return in_order(rows(session or self.session, self.sql(text)))

    def names(self, text: str) -> list[str]:
        """The first column of a SHOW."""
        return sorted(str(row[0]) for row in rows(self.session, self.sql(text)))

    def fails(self, text: str, session: Session | None = None) -> str:
        """The code of the error that a statement gives."""
        with pytest.raises(PinakesError) as caught:
            self.run(text, session)
        assert caught.value.message
        return caught.value.code

    @contextmanager
    def another(self) -> Iterator[Session]:
        """A session of another engine on the same catalog, which shares nothing with the first but the catalog."""
        with an_engine() as engine:
            yield attached(engine, self.statements)


def attached(engine: Engine, statements: Sequence[str]) -> Session:
    session = engine.session()
    for statement in statements:
        do(session, statement)
    return session


def new_name(prefix: str = "n") -> str:
    """A name that no other test, of this process or another, has."""
    return f"{prefix}{os.getpid()}_{next(_numbers)}"
