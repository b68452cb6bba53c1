"""Servers and files that CI may do without, each with its reason. All others fail their tests there when missing."""

from __future__ import annotations

ALLOWED: dict[str, str] = {
    "sqllogictest-corpus": "the files are third-party and not kept here; PINAKES_CORPUS names a directory of them",
}
