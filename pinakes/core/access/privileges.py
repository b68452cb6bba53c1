"""Privileges that administrators have, and everybody where the configuration of a server grants them (`[access]`)."""

from __future__ import annotations

PRIVILEGES: dict[str, str] = {
    "attach": "ATTACH catalogs for themselves, and read files of web addresses",
    "global_settings": "use SET GLOBAL and ATTACH … (VISIBILITY all)",
    "local_files": "read and write files of the server by path, within engine.allowed_paths",
    "server_credentials": "use the cloud credentials of the server's environment: PROFILE, PROVIDER "
    "credential_chain, AWS without a secret",
    "spark": "run statements on Spark, with SET engine = 'spark' or 'auto' or the hint ENGINE(spark)",
    "worker_commands": "ATTACH catalogs that start a program on the server",
}
