"""SHOW CURRENT NAMESPACE: where names without a catalog are looked up."""

from __future__ import annotations

import pyarrow as pa

from pinakes.core.names import dotted
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import ShowCurrent

_PLACE = pa.schema([("Catalog", pa.string()), ("Namespace", pa.string())])


def show_current(statement: ShowCurrent, execution: Execution) -> Result:
    scope = execution.session.scope
    return Result.rows(_PLACE, [(scope.catalog, dotted(scope.namespace))])
