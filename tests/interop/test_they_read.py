"""What we write, the others read: statement by statement, in every format version, with equal rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from tests.engine.support import do
from tests.interop.cases import CASES
from tests.interop.peers import Lake, Peer


def _cases() -> Iterator[Any]:
    """Each reader that can, for each table. Spark takes its time: version 1 it reads in the long run only."""
    for reader, (name, case) in itertools.product(("pyiceberg", "duck", "spark"), CASES.items()):
        for version in case.versions if reader not in case.without else ():
            marks = [pytest.mark.slow, *([pytest.mark.long] if version == 1 else [])] if reader == "spark" else []
            yield pytest.param(reader, name, version, marks=marks, id=f"{reader}-{name}-v{version}")


@pytest.fixture(scope="module")
def made() -> set[str]:
    """The tables that are there already, each for all readers."""
    return set()


@pytest.mark.parametrize(("peer", "name", "version"), list(_cases()), indirect=["peer"])
def test_rows_are_equal(lake: Lake, peer: Peer, made: set[str], name: str, version: int) -> None:
    case, table = CASES[name], f"{name}_v{version}"
    if table not in made:
        for statement in case.of(table, version):
            do(lake.session, statement)
        made.add(table)
    assert lake.has_deletes(table) == case.on_read
    assert peer.rows(lake, table) == lake.rows(table)
    if case.ref is not None:
        of_branch = lake.rows(table, ref=case.ref)
        assert of_branch != lake.rows(table)
        assert peer.rows(lake, table, ref=case.ref) == of_branch
