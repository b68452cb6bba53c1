"""The ways to log in that a profile knows, over TLS: a password, a token in a file, a client of a real Keycloak."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.dbt.projects import Project
from tests.flight.identities import configured, oidc
from tests.flight.serving import certificate
from tests.servers.base import Facts

pytestmark = pytest.mark.slow

TABLE = "{{ config(materialized='table') }} select current_user as who"


def test_passwords_tokens_and_clients(dbt_python: Path, keycloak_server: Facts, tmp_path: Path) -> None:
    users = tmp_path / "users"
    user("add", "ann", "--users", str(users), given="secret of ann\n")
    token = tmp_path / "token"
    token.write_text(user("add", "robot", "--token", "--users", str(users)).split()[-1])
    cert, key = certificate(tmp_path)
    toml = f"[server]\nusers_file = '{users}'\n" + oidc(keycloak_server, audience="account")
    tls = {"host": "localhost", "tls": True, "tls_ca": str(cert)}
    client = {
        "oidc_token_url": keycloak_server["token_uri"],
        "oidc_client_id": keycloak_server["client_id"],
        "oidc_client_secret": keycloak_server["client_secret"],
    }
    ways = {
        "ann": {"user": "ann", "password": "secret of ann"},
        "robot": {"token_file": str(token)},
        "service-account-engine": client,
    }
    with configured(tmp_path, toml, "--tls-cert", str(cert), "--tls-key", str(key)) as server:
        for who, way in ways.items():
            project = Project(tmp_path / who, server.port, **tls, **way)
            project.models(me=TABLE)
            project.write("tests/it_is_me.sql", f"select 1 from {{{{ ref('me') }}}} where who <> '{who}'")
            done = project.dbt("build")
            assert done.code == 0, done.output
        wrong = Project(tmp_path / "wrong", server.port, **tls, user="ann", password="a secret of nobody")
        done = wrong.dbt("debug")
        assert done.code == 1
        assert "does not accept the profile's login" in done.output
        assert "a secret of nobody" not in done.output


def user(*arguments: str, given: str = "") -> str:
    command = [sys.executable, "-m", "pinakes", "user", *arguments]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout
