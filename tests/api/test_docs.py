"""docs/how-to/query-from-python.md does not lie: its examples run as written, one after the other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pinakes.api.errors import KINDS

PAGE = (Path(__file__).parent.parent.parent / "docs/how-to/query-from-python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_examples_run_as_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(BLOCKS) > 8
    scope: dict[str, object] = {}
    for block in BLOCKS:
        exec(compile(block, "docs/how-to/query-from-python.md", "exec"), scope)
    assert "(2 rows)" in capsys.readouterr().out


def test_the_table_of_errors_is_that_of_the_code() -> None:
    told = {
        code: name
        for name, codes in re.findall(r"^\| `(\w+Error)` \| (.*) \|$", PAGE, re.MULTILINE)
        for code in re.findall(r"`([A-Z_]+)`", codes)
    }
    named = {kind.code: broad.__name__ for kind, broad in KINDS.items() if kind.code in told}
    assert named == told
    groups = {"ERROR", "NOT_FOUND", "ALREADY_EXISTS", "AMBIGUOUS_NAME"}  # told in words
    assert {kind.code for kind in KINDS} - set(told) == groups
