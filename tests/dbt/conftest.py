"""dbt that can't be installed skips these tests, as a server does that can't be had."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dbt.environment import python
from tests.servers.base import Unavailable
from tests.servers.plugin import unavailable


@pytest.fixture(scope="session")
def dbt_python() -> Path:
    try:
        return python()
    except Unavailable as error:
        unavailable("dbt", str(error))
