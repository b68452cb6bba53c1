"""Privileges that administrators have, and everybody where the configuration of a server grants them (`[access]`)."""

from __future__ import annotations

PRIVILEGES: dict[str, str] = {
    "attach": "ATTACH catalogs for themselves, and make and drop catalogs",
    "global_settings": "change what concerns everybody: SET GLOBAL, ATTACH … (VISIBILITY all)",
    "local_files": "read and write files of the server by their path, as far as engine.allowed_paths goes",
    "server_credentials": "use the cloud credentials of the server's own environment: PROFILE, PROVIDER "
    "credential_chain, AWS without a secret",
    "spark": "run statements on Spark: SET engine = 'spark', the hint ENGINE(spark), what 'auto' would send there",
    "worker_commands": "ATTACH catalogs that start a program on the server",
}
