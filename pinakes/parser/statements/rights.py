"""Privileges: parsed only."""

from __future__ import annotations

from dataclasses import dataclass

from pinakes.parser.statements.base import Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant(Statement):
    """GRANT …: recognised, not yet answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revoke(Statement):
    """REVOKE …: recognised, not yet answered."""
