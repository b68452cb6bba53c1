"""DataFusion 55 takes INTERVAL '1.5' MINUTE for ninety seconds, PostgreSQL for a minute: `unheeded.py` refuses it."""

from __future__ import annotations

from datafusion import SessionContext


def test_still_wrong() -> None:
    """When this fails, delete the refusal."""
    found = SessionContext().sql("SELECT TIMESTAMP '2024-01-01' + INTERVAL '1.5' MINUTE AS t").to_pydict()
    assert str(found["t"][0]) == "2024-01-01 00:01:30"
