"""Store what this version writes: `python -m tests.compatibility.generate NAME`.

NAME is a directory here with `tables.sql`, the statements that are run; what comes of them goes into its
`state.tar.xz`. `read.slt` and `write.slt` beside it are written by hand. What was stored is never made again by a later
version: that gets a directory of its own.
"""

from __future__ import annotations

import getpass
import os
import socket
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

from pinakes.api.build import open_engine
from pinakes.api.pipelines import Options, PipelineRun, make_project
from pinakes.cli.prompt.history import open_history
from pinakes.config.model import load_config
from pinakes.config.spark import SparkConfig
from pinakes.engine.engine import Engine
from pinakes.parser import split
from pinakes.server.logins.hashes import hashed_password, hashed_token
from pinakes.server.logins.users_file import Entry, change_users
from pinakes.worker.catalog.names import AttachOpaqueData, TransactionOpaqueData
from pinakes.worker.catalog.storage import CatalogStorageSqlite
from tests.compatibility.stored import HERE, place
from tests.servers.cache import cache

CONFIG = """\
[engine]
data = "data"

[catalogs.shop]
type = "sqlite"
location = "shop.db"
warehouse = "shop"

[catalogs.h]
type = "hadoop"
location = "hadoop"
create = true

[catalogs.files]
type = "files"
location = "files"
"""
BAD = "five,eve,1.00,2026-01-03\n"
INCREMENTAL = "CREATE STREAMING TABLE log AS SELECT id, amount FROM STREAM raw_orders WHERE amount > 0;\n"


def main(version: Path) -> None:
    # Records of pipelines and snapshots name who ran them, and where: not this machine.
    socket.gethostname = lambda: "somewhere"
    getpass.getuser = lambda: "somebody"
    with place() as root:
        (root / "files").mkdir()
        (root / "pinakes.toml").write_text(CONFIG)
        config = load_config(root / "pinakes.toml")
        with open_engine(replace(config, given_spark=SparkConfig(cache=str(cache())))) as engine:
            _tables(engine, (version / "tables.sql").read_text().replace("${ROOT}", str(root)))
            _pipeline(engine, root)
        _others(root)
        with tarfile.open(version / "state.tar.xz", "w:xz", preset=9) as archive:
            for path in sorted(root.iterdir()):
                archive.add(path, path.name, filter=_anonymous)
    print(f"{(version / 'state.tar.xz').stat().st_size} bytes")  # noqa: T201


def _tables(engine: Engine, script: str) -> None:
    session = engine.session()
    for part in split(script):
        try:
            session.run(part.text).read_all()
        except Exception as error:
            error.add_note(part.text)
            raise


def _pipeline(engine: Engine, root: Path) -> None:
    spec = make_project(root / "project")
    with (root / "project/data/orders.csv").open("a") as file:
        file.write(BAD)
    os.utime(root / "project/data/orders.csv", (1_700_000_000, 1_700_000_000))  # files are known by this, too
    (root / "project/transformations/log.sql").write_text(INCREMENTAL)
    PipelineRun(engine, spec, Options()).run(lambda *_: None)


def _others(root: Path) -> None:
    """The history of the shell, the users of a server, what a worker remembers."""
    history = open_history(root / "history")
    history.append_string("SELECT 1;")
    history.append_string("SELECT 'two\nlines';")
    entries = [Entry("ann", hashed_password("open sesame"), is_admin=True), Entry("bob", hashed_token("token of bob"))]
    change_users(root / "users", lambda _: entries)
    storage = CatalogStorageSqlite(root / "worker_catalog.db")
    storage.attach_put(AttachOpaqueData(b"attached"), "notes", {"path": "here", "depth": 3})
    storage.transaction_put(TransactionOpaqueData(b"running"), AttachOpaqueData(b"attached"), b"\x00state")
    storage.close()


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    if member.name.endswith(("-wal", "-shm", ".lock")):
        return None
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    main(HERE / sys.argv[1])
