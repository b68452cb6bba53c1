"""A subquery whose rows are computed once, however often the statement reads them.

While the statement is planned, a placeholder scan stands for it. The optimised plan shows the columns and predicates
that are pushed to it (`demand.py`). Before the plan is run, the rows are computed (`compute.py`), and the statement is
planned again over them.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from datafusion import SessionContext

from pinakes.engine.datafusion.determinism import is_steady
from pinakes.engine.planning.optimize.plain_types import is_plain
from pinakes.engine.planning.plan import Plan
from pinakes.engine.pushdown.placeholder_scan import Placeholder, placeholder_scan

SHARED = "$shared"
"""The catalog of shared subqueries in planned text. This name cannot be mounted."""


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    name: str
    uses: int
    plan: Plan
    """The plan of the subquery, over placeholders."""
    schema: pa.Schema
    placeholder: Placeholder

    @staticmethod
    def of(name: str, uses: int, plan: Plan, schema: pa.Schema, context: SessionContext) -> Shared | None:
        """None if its rows can't be kept, or if it might be something else each time it is computed."""
        names = schema.names
        if not names or len(set(names)) < len(names) or not all(is_plain(f.type) for f in schema):
            return None
        if not is_steady(plan.frame.logical_plan().display_indent()):
            return None
        return Shared(name, uses, plan, schema, placeholder_scan(schema, context))
