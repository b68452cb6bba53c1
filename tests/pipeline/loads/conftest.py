"""A place to load into: one context for a module, and a schema and a directory for each test."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.engine.engine import Engine
from pinakes.pipelines.loads import LoadContext, open_context
from tests.pipeline.loads.support import Place

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="module")
def context(engine: Engine) -> Iterator[LoadContext]:
    with open_context(engine.session(), ["lake"]) as context:
        yield context


@pytest.fixture
def place(context: LoadContext, tmp_path: Path) -> Place:
    return Place(context, f"s{next(_NUMBERS)}", tmp_path)
