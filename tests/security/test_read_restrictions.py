"""A table that its REST catalog restricts is refused: Pinakes does not enforce the restrictions yet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pinakes.core.errors import NotSupportedError
from tests.engine.support import do, rows
from tests.security.rogue import an_engine_of, loaded, rogue_catalog, session_of, table_at

MASK = {"required-column-projections": [{"field-id": 1, "action": "replace-with-null"}]}


@pytest.mark.parametrize(
    "said",
    [
        MASK,
        {"required-row-filter": {"type": "eq", "left": {"type": "reference", "id": 1}, "right": {"type": "literal"}}},
        {"required-row-filter": False},
        {"required-row-filter": True},
        {"something-newer": {"a": 1}},
        "unreadable",
    ],
)
@pytest.mark.parametrize("served", [True, False])
def test_a_restricted_table_is_refused(said: Any, served: bool, tmp_path: Path) -> None:
    made = table_at(tmp_path / "theirs")
    answer = loaded(made, **{"read-restrictions": said})
    with rogue_catalog(t=answer) as rogue:
        here = (str(tmp_path / "theirs"),)
        with an_engine_of(tmp_path / "lake", served=served, allowed=here, r=rogue.as_catalog()) as engine:
            for sql in ("SELECT * FROM r.s.t", "SELECT count(*) FROM r.s.t", 'SELECT * FROM r.s."t$files"'):
                with pytest.raises(NotSupportedError, match="read-restrictions"):
                    do(session_of(engine), sql)


@pytest.mark.parametrize("said", [None, {}, {"required-column-projections": []}])
def test_empty_restrictions_restrict_nothing(said: Any, tmp_path: Path) -> None:
    made = table_at(tmp_path / "theirs")
    with rogue_catalog(t=loaded(made, **{"read-restrictions": said})) as rogue:
        here = (str(tmp_path / "theirs"),)
        with an_engine_of(tmp_path / "lake", allowed=here, r=rogue.as_catalog()) as engine:
            assert rows(session_of(engine), "SELECT a FROM r.s.t") == [(7,)]
