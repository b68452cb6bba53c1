"""DataFusion still calls CASE within CASE a syntax error if it is too deep: else a note in
`engine/datafusion/session_config.py` goes."""

from __future__ import annotations

import pytest
from datafusion import SessionContext


def test_case_in_case_is_called_a_syntax_error() -> None:
    text = "0"
    for number in range(60):
        text = f"CASE WHEN 3 = {number} THEN {number} ELSE {text} END"
    with pytest.raises(Exception, match="Expected: end of statement"):
        SessionContext().sql(f"SELECT {text}")
