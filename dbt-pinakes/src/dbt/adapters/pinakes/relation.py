"""A table or view by its name: catalog, schema, identifier. A schema may have levels, `sales.eu`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.contracts.relation import ComponentName, RelationType

# A level stands in quotes when it has a dot in it: that is how the server writes a namespace, in its tables, too.
_LEVEL = re.compile(r'"((?:[^"]|"")*)"|([^."]+)')

TEMPORARY = ("temp", "main")
"""The catalog and the schema of what belongs to one session."""


@dataclass(frozen=True, eq=False, repr=False)
class PinakesRelation(BaseRelation):  # type: ignore[misc]
    require_alias: bool = False  # a subquery needs none, and the model's own may follow
    renameable_relations: frozenset[RelationType] = field(
        default_factory=lambda: frozenset({RelationType.Table, RelationType.View})
    )
    replaceable_relations: frozenset[RelationType] = field(
        default_factory=lambda: frozenset({RelationType.Table, RelationType.View})
    )

    def quoted(self, identifier: str) -> str:
        return '"{}"'.format(identifier.replace('"', '""'))

    def _render_iterator(self) -> Iterator[tuple[ComponentName | None, str | None]]:
        for key, part in super()._render_iterator():
            yield key, self._levels() if key == ComponentName.Schema and part is not None else part

    def _levels(self) -> str:
        levels = _levels(self.path.get_part(ComponentName.Schema))
        if not self.quote_policy.get_part(ComponentName.Schema):
            return ".".join(levels)
        return ".".join(self.quoted(level) for level in levels)

    def temporary(self) -> PinakesRelation:
        """The relation of the same name that only this session sees."""
        database, schema = TEMPORARY
        quoted = {"database": True, "schema": True, "identifier": True}
        return self.incorporate(path={"database": database, "schema": schema}, quote_policy=quoted)  # type: ignore[no-any-return]

    @property
    def is_temporary(self) -> bool:
        return (self.database, self.schema) == TEMPORARY


def _levels(namespace: str) -> list[str]:
    return [quoted.replace('""', '"') if quoted else bare for quoted, bare in _LEVEL.findall(namespace)]
