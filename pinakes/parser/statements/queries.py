"""Queries, and statements about a query."""

from __future__ import annotations

from dataclasses import dataclass

from pinakes.parser.statements.base import Planned, Span, Statement, TableRef


@dataclass(frozen=True, slots=True, kw_only=True)
class Query(Planned):
    """SELECT, VALUES, WITH, FROM-first, TABLE t"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pivot(Statement):
    """A statement with PIVOT … ON v, whose columns depend on the values of v: `question` is the query for them, and
    `answers` are those to the questions before."""

    question: str
    answers: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Explain(Planned):
    """EXPLAIN [ANALYZE] [VERBOSE] [FORMAT f] query; `body` is the query."""

    body: Span
    analyze: bool = False
    verbose: bool = False
    format: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainFull(Planned):
    """EXPLAIN [ANALYZE] FULL [FORMAT JSON] statement"""

    body: Span
    analyze: bool = False
    format: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarize(Planned):
    """SUMMARIZE table | query; exactly one of the two."""

    table: TableRef | None = None
    body: Span | None = None
