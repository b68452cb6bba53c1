"""What the SHOWs share: a column of names, narrowed by a pattern, in order."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from pinakes.engine.result import Result
from pinakes.parser.statements import Like


def one_column(title: str, names: Iterable[str], like: Like | None) -> Result:
    kept = sorted(n for n in names if like is None or like.matches(n))
    return Result.rows(pa.schema([(title, pa.string())]), [(n,) for n in kept])
