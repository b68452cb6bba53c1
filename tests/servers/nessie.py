"""Nessie: an Iceberg REST catalog in memory, with its files on moto. `nessie-auth` asks Keycloak's realm who is there.

There the client `engine` itself may do all, and alice all but what has `bobonly` in its name; bob sees and reads
namespaces whose name starts with `shared`, but for what has `aliceonly` in its name, and there he sees and can't load
what has `closed` in its name.
"""

from __future__ import annotations

from pathlib import Path

from tests.servers.base import Command, Facts, Place, Server
from tests.servers.cache import once
from tests.servers.fetch import artifact, java25
from tests.servers.running import answers, listens

VERSION = "0.99.0"


class Nessie(Server):
    name = "nessie"
    needs = ("moto",)

    def install(self) -> None:
        java25()
        _jar()

    def command(self, place: Place) -> Command:
        """Both ports are in the file, so it is written anew at each start."""
        file = place.data / "nessie.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in self.properties(place).items()))
        small = ["-Xmx768m", "-XX:TieredStopAtLevel=1"]
        return Command([java25(), *small, f"-Dquarkus.config.locations={file}", "-jar", _jar()])

    def properties(self, place: Place) -> dict[str, str]:
        moto = place.needs["moto"]
        s3 = "nessie.catalog.service.s3.default-options"
        return {
            "quarkus.http.host": "127.0.0.1",
            "quarkus.http.port": str(place.port),
            "quarkus.management.host": "127.0.0.1",
            "quarkus.management.port": str(place.second_port),
            "nessie.version.store.type": "IN_MEMORY",
            "nessie.catalog.default-warehouse": "warehouse",
            "nessie.catalog.warehouses.warehouse.location": f"s3://{moto['bucket']}/{self.name}-{place.port}",
            f"{s3}.endpoint": moto["uri"],
            f"{s3}.path-style-access": "true",
            f"{s3}.region": moto["region"],
            f"{s3}.access-key": "urn:nessie-secret:quarkus:moto",
            "moto.name": moto["key_id"],
            "moto.secret": moto["secret"],
        }

    def ready(self, place: Place) -> bool:
        return answers(f"{place.http}/iceberg/v1/config")

    def facts(self, place: Place) -> dict[str, str]:
        return {"uri": f"{place.http}/iceberg"}

    def attach(self, facts: Facts) -> str:
        return f"ATTACH '{facts['uri']}' AS nessie (TYPE iceberg_rest);"


class NessieAuth(Nessie):
    name = "nessie-auth"
    needs = ("moto", "keycloak")

    def properties(self, place: Place) -> dict[str, str]:
        """In a rule, `role` is the name of the user."""
        seen = "['VIEW_REFERENCE', 'READ_ENTRIES', 'LIST_COMMIT_LOG', 'READ_REPOSITORY_CONFIG']"
        bobs = "role=='bob' && path.startsWith('shared') && !path.contains('aliceonly')"
        rules = "nessie.server.authorization.rules"
        return super().properties(place) | {
            "nessie.server.authentication.enabled": "true",
            "quarkus.oidc.tenant-enabled": "true",
            "quarkus.oidc.auth-server-url": place.needs["keycloak"]["realm_uri"],
            "quarkus.oidc.client-id": "engine",
            "quarkus.oidc.token.principal-claim": "preferred_username",
            "quarkus.oidc.token.issuer": "any",
            "nessie.server.authorization.enabled": "true",
            f"{rules}.everything": "role in ['service-account-engine', 'service-account-brief']",
            f"{rules}.alice": "role=='alice' && !path.contains('bobonly')",
            f"{rules}.bob_looks": f"role=='bob' && op in {seen}",
            f"{rules}.bob_lists": f"{bobs} && op=='READ_CONTENT_KEY'",
            f"{rules}.bob_reads": f"{bobs} && op=='READ_ENTITY_VALUE' && !path.contains('closed')",
        }

    def ready(self, place: Place) -> bool:
        return listens(place.port) and answers(f"{place.http}/iceberg/v1/config", status=(200, 401, 403))

    def facts(self, place: Place) -> dict[str, str]:
        return {"uri": f"{place.http}/iceberg", "token_uri": place.needs["keycloak"]["token_uri"]}

    def attach(self, facts: Facts) -> str:
        return (
            f"CREATE SECRET lab (TYPE oauth2, CLIENT_ID 'engine', CLIENT_SECRET 'engine-secret', "
            f"TOKEN_URI '{facts['token_uri']}', OAUTH_SCOPE 'openid');\n"
            f"ATTACH '{facts['uri']}' AS nessie_auth (TYPE iceberg_rest, SECRET lab);"
        )


def _jar() -> Path:
    coordinates = f"org.projectnessie.nessie:nessie-quarkus:{VERSION}:jar:runner"
    place = once(f"nessie-{VERSION}", lambda place: (artifact(coordinates, place), None)[1])
    return next(place.glob("*.jar"))
