"""DataFusion 55 takes ^ for XOR, PostgreSQL for a power: `unheeded.py` refuses it."""

from __future__ import annotations

from datafusion import SessionContext


def test_still_xor() -> None:
    """When this fails, delete the refusal."""
    assert SessionContext().sql("SELECT 2 ^ 3 AS x").to_pydict() == {"x": [1]}
