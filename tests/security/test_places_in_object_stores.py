"""Users do not choose where the credentials of a shared catalog are used.

A catalog of the configuration reaches its object store with credentials of the server. A user who may only create
tables in it gave one the LOCATION of another bucket, and `remove_orphan_files` deleted what was there.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyarrow.fs import FileSelector, S3FileSystem

from pinakes.api.build import open_engine
from pinakes.config.model import CatalogConfig, Config, EngineConfig, SecretConfig
from pinakes.core.errors import PermissionDenied
from pinakes.engine.catalogs.authorization.policy import Policy
from pinakes.engine.engine import Engine
from tests.engine.support import do, rows
from tests.security.rogue import ADMIN, EVE, session_of
from tests.servers.base import Facts

OLD = "older_than => TIMESTAMP '2999-01-01 00:00:00'"


def store(s3_server: Facts, name: str) -> S3FileSystem:
    """With an object that is none of the catalog's."""
    system = S3FileSystem(
        access_key=s3_server["key_id"],
        secret_key=s3_server["secret"],
        region=s3_server["region"],
        endpoint_override=s3_server["uri"],
    )
    with system.open_output_stream(f"{s3_server['bucket']}/{name}/pay.parquet") as file:
        file.write(b"precious")
    return system


def shared(facts: Facts, data: Path, *, may: tuple[str, ...] = ("attach",), **more: Any) -> Engine:
    """A server with a catalog `c` of the configuration, whose warehouse is a part of the bucket."""
    values = {"TYPE": "s3", "KEY_ID": facts["key_id"], "SECRET": facts["secret"], "REGION": facts["region"]}
    secret = SecretConfig("keys", {**values, "ENDPOINT": facts["uri"], **more}, users=("eve",))
    options = {"warehouse": f"s3://{facts['bucket']}/{data.name}", "storage_secret": "keys"}
    catalog = CatalogConfig("c", "sqlite", str(data / "c.db"), options)
    engine = replace(EngineConfig(), data=str(data / "lake"), allowed_paths=None)
    return open_engine(Config(engine=engine, catalogs={"c": catalog}, secrets={"keys": secret}), Policy(may))


ATTEMPTS = (
    "CREATE TABLE c.s.x (a int) LOCATION '{place}'",
    "CREATE TABLE c.s.x WITH (location = '{place}') AS SELECT 1 AS a",
    "CREATE TABLE c.s.x WITH ('write.data.path' = '{place}') AS SELECT 1 AS a",
    "CREATE TABLE c.s.x (a int) WITH ('write.metadata.path' = '{place}')",
    "ALTER TABLE c.s.t SET TBLPROPERTIES ('write.data.path' = '{place}')",
    "CREATE SCHEMA c.z LOCATION '{place}'",
    "ALTER SCHEMA c.s SET PROPERTIES ('location' = '{place}')",
)


@pytest.mark.slow
def test_a_shared_catalog_is_not_led_elsewhere(s3_server: Facts, tmp_path: Path) -> None:
    system = store(s3_server, f"corp-{tmp_path.name}")
    with shared(s3_server, tmp_path) as engine:
        eve, admin = session_of(engine), session_of(engine, ADMIN)
        do(admin, "CREATE SCHEMA c.s")
        do(eve, "CREATE TABLE c.s.t AS SELECT 1 AS a")
        place = f"s3://{s3_server['bucket']}/corp-{tmp_path.name}"
        for attempt in ATTEMPTS:
            for spelled in (place, place.replace("s3:", "s3a:"), f"{place}/", "gs://corp/x"):
                with pytest.raises(PermissionDenied, match="is for administrators"):
                    do(eve, attempt.format(place=spelled))
        do(eve, f"CREATE TABLE c.s.mine (a int) LOCATION 's3://{s3_server['bucket']}/{tmp_path.name}/s/own place'")
        do(eve, "INSERT INTO c.s.mine VALUES (1)")
        do(eve, f"CALL c.system.remove_orphan_files('s.mine', dry_run => false, {OLD})")
        assert rows(eve, "SELECT a FROM c.s.mine") == [(1,)]
        paths = f"WITH ('write.data.path' = '{place}/data')"
        do(admin, f"CREATE TABLE c.s.elsewhere (a int) LOCATION '{place}/elsewhere' {paths}")
        with pytest.raises(PermissionDenied, match="is for administrators"):
            do(eve, "CREATE TABLE c.s.x LIKE c.s.elsewhere")
        do(eve, "INSERT INTO c.s.elsewhere VALUES (2)")  # the administrator chose the place
        assert rows(eve, "SELECT a FROM c.s.elsewhere") == [(2,)]
    found = system.get_file_info(FileSelector(f"{s3_server['bucket']}/corp-{tmp_path.name}", recursive=True))
    assert any(info.path.endswith("/pay.parquet") for info in found)


@pytest.mark.slow
def test_own_catalogs_scopes_and_the_privilege_allow_it(s3_server: Facts, tmp_path: Path) -> None:
    bucket = s3_server["bucket"]
    with shared(s3_server, tmp_path / "a", SCOPE=f"s3://{bucket}/own-scope") as engine:
        eve = session_of(engine, EVE)
        do(eve, f"CREATE SCHEMA c.s LOCATION 's3://{bucket}/own-scope/s'")
        do(eve, "CREATE TABLE c.s.t AS SELECT 1 AS a")
    with shared(s3_server, tmp_path / "b", may=("attach", "local_files", "server_credentials")) as engine:
        eve = session_of(engine, EVE)
        do(eve, f"CREATE SCHEMA c.s LOCATION 's3://{bucket}/own-scope/s2'")
        do(eve, "CREATE TABLE c.s.t AS SELECT 1 AS a")
    with shared(s3_server, tmp_path / "c", may=("attach", "local_files")) as engine:
        eve = session_of(engine, EVE)
        own = f"WAREHOUSE 's3://{bucket}/own', STORAGE_SECRET keys"
        do(eve, f"ATTACH '{tmp_path}/own.db' AS own (TYPE sqlite, {own})")
        do(eve, f"CREATE SCHEMA own.s LOCATION 's3://{bucket}/own-scope/s3'")
        do(eve, "CREATE TABLE own.s.t AS SELECT 1 AS a")
