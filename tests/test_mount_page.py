"""Each recipe of docs/how-to/mount-each-type.md runs as written, against a real server."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from pinakes.parser import split
from pinakes.providers.registry import TYPES
from tests.engine.support import an_engine
from tests.providers.kinds import table_bucket
from tests.servers.all import SERVERS
from tests.servers.base import Facts

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/how-to/mount-each-type.md").read_text(encoding="utf-8")
RECIPES: list[tuple[str, str]] = [
    (title, block)
    for title, text in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    for block in re.findall(r"^```sql\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
]
SERVER = {
    "PostgreSQL": "postgres",
    "MySQL and MariaDB": "mariadb",
    "A REST catalog": "rest",
    "Nessie, with OAuth": "nessie_auth",
    "AWS Glue": "moto",
    "Amazon S3 Tables": "moto",
    "A Hive metastore": "hive",
}


def needed(title: str, block: str) -> str | None:
    return "s3" if "my-bucket" in block and title not in SERVER else SERVER.get(title)


def in_place(block: str, facts: Facts, store: Facts, place: Path) -> str:
    """With what the servers of the tests are, for what stands in the examples."""
    told = {
        "'/data/": f"'{place}/",
        "'python examples": f"'{sys.executable} {ROOT}/examples",
        "'me'": f"'{facts.get('user')}'",
        "'my-password'": f"'{facts.get('password')}'",
        "'my-key'": f"'{store.get('key_id')}'",
        "'my-secret'": f"'{store.get('secret')}'",
        "'us-east-1'": f"'{store.get('region')}'",
        "s3://my-bucket/lake": f"s3://{store.get('bucket')}/{place.name}",
        "http://127.0.0.1:9000": store.get("uri", ""),
        "http://127.0.0.1:5000": facts.get("uri", ""),
        "http://127.0.0.1:8181": facts.get("uri", ""),
        "http://127.0.0.1:19120/iceberg": facts.get("uri", ""),
        "http://127.0.0.1:8080/realms/lab/protocol/openid-connect/token": facts.get("token_uri", ""),
        "thrift://127.0.0.1:9083": facts.get("uri", ""),
        "127.0.0.1:5432/lake": f"127.0.0.1:{facts.get('port')}/{facts.get('database')}",
        "127.0.0.1:3306/lake": f"127.0.0.1:{facts.get('port')}/{facts.get('database')}",
    }
    for example, real in told.items():
        block = block.replace(example, real)
    if "arn:aws:s3tables:" in block:
        block = re.sub(r"'arn:aws:s3tables:[^']*'", f"'{table_bucket(facts)}'", block)
    return block


@pytest.mark.slow
@pytest.mark.parametrize(("title", "block"), RECIPES, ids=[f"{title} {i}" for i, (title, _) in enumerate(RECIPES)])
def test_the_recipe_runs_as_written(title: str, block: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    server = needed(title, block)
    facts: Facts = request.getfixturevalue(f"{server}_server") if server else {}
    store: Facts = request.getfixturevalue("moto_server") if server == "nessie_auth" else facts
    (tmp_path / "files").mkdir()
    (tmp_path / "warehouse").mkdir()
    text = in_place(block, facts, store, tmp_path)
    counted = 0
    with an_engine() as engine:
        session = engine.session()
        for part in split(text):
            found = session.run(part.text).read_all()
            if part.text.startswith("SELECT count(*)"):
                assert found.to_pylist() == [{"orders": 2}]
                counted += 1
    assert counted == 1


def test_every_type_has_its_recipe() -> None:
    told = {kind for _, block in RECIPES for kind in re.findall(r"\(TYPE (\w+)", block) if kind in TYPES}
    assert told == set(TYPES)


def test_the_servers_of_the_page_are_there() -> None:
    lines = [
        line
        for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
    ]
    assert lines
    for line in lines:
        assert shlex.split(line)[:4] == [".venv/bin/python", "-m", "tests.servers", "start"]
        assert shlex.split(line)[4] in SERVERS
