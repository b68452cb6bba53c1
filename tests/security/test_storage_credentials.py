"""Finding 2: the properties that a REST catalog sends named the class that reads files, and its arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pinakes.providers.iceberg.table_io import TableIO
from tests.engine.support import do, rows
from tests.security.rogue import NAME, an_engine_of, loaded, planted, rogue_catalog, session_of, table_at

POISON = {
    "py-io-impl": NAME,
    "py-location-provider.impl": NAME,
    "write.py-location-provider.impl": NAME,
    "py-catalog-impl": NAME,
    "s3.retry-strategy-impl": NAME,
    "auth.impl": NAME,
    "metrics-reporter-impl": NAME,
    "s3.signer": "S3V4RestSigner",
    "DEFAULT_SCHEME": "s3",
    "DEFAULT_NETLOC": "x",
    "s3.profile-name": "default",
    "s3.role-arn": "arn:aws:iam::1:role/x",
    "s3.proxy-uri": "http://127.0.0.1:1",
    "hdfs.kerberos_ticket": "/etc/passwd",
    "s3.region": "eu-central-1",
}


@pytest.mark.parametrize("served", [True, False])
@pytest.mark.parametrize("source", ["defaults", "overrides", "config", "storage-credentials", "properties"])
def test_only_known_properties_reach_pyiceberg(source: str, served: bool, tmp_path: Path) -> None:
    metadata = table_at(tmp_path / "theirs")
    answer = loaded(metadata)
    chosen: dict[str, Any] = {
        "config": {"config": POISON},
        "storage-credentials": {"storage-credentials": [{"prefix": "/", "config": POISON}]},
    }
    answer |= chosen.get(source, {})
    answer["metadata"]["properties"] = POISON if source == "properties" else {}
    with rogue_catalog(t=answer) as rogue:
        if source in rogue.config:
            rogue.config[source] = {**POISON, "args": '["sh", "-c", "true"]', "uri": "http://127.0.0.2:1"}
        here = (str(tmp_path / "theirs"),)
        with an_engine_of(tmp_path / "lake", served=served, allowed=here, r=rogue.as_catalog()) as engine:
            session = session_of(engine)
            assert rows(session, "SELECT a FROM r.s.t") == [(7,)]
            with pytest.raises(Exception, match="HTTP 501"):
                do(session, "INSERT INTO r.s.t VALUES (8)")
            mount = next(m for m in engine.registry.everything() if m.name == "r")
            io = mount.catalog_for(session.identity).load_table(("s",), "t").handle.io  # type: ignore[attr-defined]
            assert set(io.properties) & set(POISON) <= {"s3.region"}
            assert type(io).__name__ == "TableIO"
    assert planted == []


HOSTS = {
    "gcs.service.host": "https://evil.example.com",
    "adls.account-host": "evil.example.com",
    "adls.blob-storage-authority": ".evil.example.com",
    "adls.dfs-storage-authority": ".evil.example.com",
    "adls.dfs-storage-scheme": "https",
}


@pytest.mark.parametrize("lent", [{}, {"gcs.oauth2.token": "", "adls.sas-token": "", "adls.account-name": "a"}])
def test_a_token_of_the_machine_is_sent_to_no_host_that_a_catalog_names(lent: dict[str, str]) -> None:
    """Clients of Google and Azure send a token that opens all stores of the machine's account."""
    assert set(TableIO({**HOSTS, **lent}).properties) & set(HOSTS) == set()
    theirs = {"gcs.oauth2.token": "t", "adls.sas-token": "t"}
    assert set(TableIO({**HOSTS, **theirs}).properties) >= set(HOSTS)
