"""The cases of the matrix: groups of one operation, its types and the forms of its operands, and cases with values."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

from tests.semantics.operands import STORED, Kind, Value
from tests.semantics.operations import AGGREGATES, FILTERS, OPERATIONS, QUERIES, Operation

Form = Literal["literal", "column", "parameter"]
Shape = Literal["value", "aggregate", "filter", "query"]

LETTERS = "abcde"
ROWS = 16
"""Rows of the table `many`: row i has the i-th value of each type, or NULL where there are fewer."""
_FORMS: dict[int, tuple[tuple[Form, ...], ...]] = {
    1: (("literal",), ("column",), ("parameter",)),
    2: (
        ("literal", "literal"),
        ("column", "literal"),
        ("literal", "column"),
        ("column", "column"),
        ("column", "parameter"),
        ("parameter", "column"),
    ),
}


@dataclass(frozen=True)
class Operand:
    form: Form
    kind: Kind
    value: Value | None
    column: str = ""

    def text(self, parameters: list[Any]) -> str:
        """The operand in SQL; the value of a parameter is added to those given."""
        if self.form == "column":
            return self.column
        assert self.value is not None
        if self.form == "literal":
            return self.value.literal
        parameters.append((self.kind, self.value.python))
        return f"${len(parameters)}"


@dataclass(frozen=True)
class Case:
    group: Group
    operands: tuple[Operand, ...]

    @property
    def label(self) -> str:
        """What differences are matched by: the operation, and form and type of each operand."""
        return self.group.label

    def expression(self, parameters: list[Any]) -> str:
        """The expression or query. An operand that stands in several places is as many parameters."""
        text = self.group.template
        for letter, operand in zip(LETTERS, self.operands, strict=False):
            while f"{{{letter}}}" in text:
                text = text.replace(f"{{{letter}}}", operand.text(parameters), 1)
        return text

    @property
    def sql(self) -> str:
        """One statement for this case alone, with the values of its parameters in place, for people."""
        parameters: list[Any] = []
        text = statement([self], parameters)
        shown = [f"{kind.name} {value!r}" for kind, value in parameters]
        return text + (f"  -- with {', '.join(shown)}" if shown else "")


@dataclass(frozen=True)
class Group:
    """Cases that differ by their values alone, so that all of them have the same types."""

    name: str
    template: str
    shape: Shape
    kinds: tuple[Kind, ...]
    forms: tuple[Form, ...]
    close: bool = False

    @property
    def label(self) -> str:
        return f"{self.name}({', '.join(f'{f} {k.name}' for f, k in zip(self.forms, self.kinds, strict=True))})"

    def cases(self, chance: random.Random, most: int) -> Iterator[Case]:
        """Up to `most` different ones."""
        seen: set[tuple[Operand, ...]] = set()
        for _ in range(most * 2):
            operands = tuple(
                self._operand(form, kind, at, chance)
                for at, (form, kind) in enumerate(zip(self.forms, self.kinds, strict=True))
            )
            if operands not in seen and len(seen) < most:
                seen.add(operands)
                yield Case(self, operands)

    def _operand(self, form: Form, kind: Kind, at: int, chance: random.Random) -> Operand:
        value = chance.choice(kind.values)
        if form != "column":
            return Operand(form, kind, value)
        if self.shape == "value":
            return Operand(form, kind, None, value.name)
        return Operand(form, kind, None, f"{kind.name}_{chance.choice(('all', 'some'))}")


def statement(cases: Sequence[Case], parameters: list[Any]) -> str:
    """One statement for cases of the same shape: a row with a column for each, or a row for each with its number."""
    texts = [case.expression(parameters) for case in cases]
    match cases[0].group.shape:
        case "value":
            return "SELECT " + ", ".join(f"{text} AS c{i}" for i, text in enumerate(texts)) + " FROM vals"
        case "aggregate":
            return "SELECT " + ", ".join(f"{text} AS c{i}" for i, text in enumerate(texts)) + " FROM many"
        case "filter":
            return " UNION ALL ".join(
                f"SELECT {i} AS k, sum(bit) AS c FROM many WHERE {t}" for i, t in enumerate(texts)
            )
        case "query":
            return " UNION ALL ".join(f"SELECT {i} AS k, ({t}) AS c" for i, t in enumerate(texts))


def groups() -> Iterator[Group]:
    """Every group; which of them PostgreSQL knows is found out by asking it."""
    for operation in OPERATIONS:
        yield from _of_operation(operation, "value")
    for operation in AGGREGATES:
        for kind in operation.slots[0]:
            if kind.columns:
                yield Group(operation.name, operation.template, "aggregate", (kind,), ("column",), operation.close)
    for operation in FILTERS:
        yield from _of_operation(operation, "filter")
    forms: tuple[Form, ...]
    for name, template, count in QUERIES:
        for kinds in product(STORED, repeat=count):
            forms = tuple("column" for _ in range(count))
            yield Group(name, template, "query", kinds, forms, close=name.startswith("moving_"))


def _of_operation(operation: Operation, shape: Shape) -> Iterator[Group]:
    for kinds in product(*operation.slots):
        every = (*kinds, *(kinds[i] for i in operation.same))
        for first in _FORMS[min(len(every), 2)]:
            forms = (*first, *(first[-1] for _ in every[2:]))
            if shape == "filter" and (forms[0] != "column" or forms[1] == "column"):
                continue
            if all(_has(kind, form) for kind, form in zip(every, forms, strict=True)):
                yield Group(operation.name, operation.template, shape, every, forms, operation.close)


def _has(kind: Kind, form: Form) -> bool:
    return {"literal": kind.literals, "column": kind.columns, "parameter": kind.parameters}[form]


# --- the tables ------------------------------------------------------------------------------------------------------


def table_values(kinds: Sequence[Kind] = STORED) -> list[tuple[str, Kind, Value]]:
    """The columns of `vals`, a table of one row."""
    return [(value.name, kind, value) for kind in kinds for value in kind.values]


def table_many(kinds: Sequence[Kind] = STORED) -> list[tuple[str, Kind, list[Value]]]:
    """The columns of `many`: `_all` has every value, `_some` the first four, so that sums of them stay in range."""
    found = []
    for kind in kinds:
        null = kind.values[-1]
        every = [*kind.values[:-1], *[null] * ROWS][:ROWS]
        found.append((f"{kind.name}_all", kind, every))
        found.append((f"{kind.name}_some", kind, [*kind.values[:-1][:4], *[null] * ROWS][:ROWS]))
    return found
