"""Keycloak: an OpenID Connect provider, in memory. Realm `lab`; users alice (admin) and bob; passwords are the names.

Client `engine` / `engine-secret` may use client credentials, password, code and device grants. Tokens last 300 s. Those
of the clients `pinakes` and `pinakes-brief` (3 s) are meant for the audience `pinakes`. Its administrator is `admin`,
whose password is the name, too.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.servers.base import Command, Place, Server
from tests.servers.cache import once
from tests.servers.fetch import FILES, java, run, unpacked
from tests.servers.running import answers

VERSION = "26.7.3"
_SMALL = "-Xms64m -Xmx512m -XX:TieredStopAtLevel=1"

_ADMIN = {"KC_BOOTSTRAP_ADMIN_USERNAME": "admin", "KC_BOOTSTRAP_ADMIN_PASSWORD": "admin"}


class Keycloak(Server):
    name = "keycloak"
    patience = 300

    def install(self) -> None:
        java()
        _app()

    def prepare(self, place: Place) -> None:
        """It writes beside its own files, so a run has a tree of its own; the jars, most of it, are links."""
        home = place.data / "keycloak"
        shutil.copytree(_app(), home, copy_function=_link_jars)
        (home / "data" / "import").mkdir(parents=True, exist_ok=True)
        shutil.copy(FILES / "realm.json", home / "data" / "import")

    def command(self, place: Place) -> Command:
        address = ["--http-enabled=true", "--hostname-strict=false", "--http-host=127.0.0.1"]
        start = ["start", "--optimized", "--import-realm", *address, f"--http-port={place.port}"]
        return Command([place.data / "keycloak" / "bin" / "kc.sh", *start], {"JAVA_OPTS_KC_HEAP": _SMALL, **_ADMIN})

    def ready(self, place: Place) -> bool:
        return answers(f"{place.http}/realms/lab/.well-known/openid-configuration")

    def facts(self, place: Place) -> dict[str, str]:
        realm = f"{place.http}/realms/lab"
        return {
            "uri": place.http,
            "realm_uri": realm,
            "token_uri": f"{realm}/protocol/openid-connect/token",
            "client_id": "engine",
            "client_secret": "engine-secret",
        }


def _link_jars(source: str, target: str) -> None:
    if source.endswith(".jar"):
        Path(target).symlink_to(source)
    else:
        shutil.copy2(source, target)


def _app() -> Path:
    """Built here for its database, which takes longer than the start itself."""

    def make(place: Path) -> None:
        unpacked(f"org.keycloak:keycloak-quarkus-dist:{VERSION}:tar.gz", place)
        run([place / "bin" / "kc.sh", "build", "--db=dev-mem"])

    return once(f"keycloak-{VERSION}-1", make)
