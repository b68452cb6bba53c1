"""Rewritten texts, for queries whose plans are not cached, since they compute subqueries or have their own functions.

A rewrite is reused if everything that it was made from is the same: the text, the types and bounds of its tables, the
types of its parameters. These are looked up again at each use.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from pinakes.parser.typed import GATHERED

if TYPE_CHECKING:
    import pyarrow as pa

    from pinakes.engine.planning.expression_types import PlanEnvironment
    from pinakes.parser.typed.nodes import Query as Tree
    from pinakes.parser.typed.rewrite import Rewritten
    from pinakes.parser.workarounds.in_lists import Floats
    from pinakes.parser.workarounds.writing import Written

A = TypeVar("A")
B = TypeVar("B")
MOST = 128
LONGEST = 20_000
"""Characters of a text."""


@dataclass(frozen=True, slots=True)
class _Fact:
    """A question about tables or parameters, and its answer."""

    question: str
    arguments: tuple[Any, ...]
    answer: object


class Recorder:
    """An environment that records the facts a rewrite is made from."""

    def __init__(self, environment: PlanEnvironment) -> None:
        self._environment = environment
        self.facts: list[_Fact] = []
        self._asked: set[Hashable] = set()

    def columns(self, parts: tuple[str, ...]) -> Mapping[str, pa.DataType] | None:
        return self._recorded("columns", self._environment.columns(parts), parts)

    def uuids(self, parts: tuple[str, ...]) -> frozenset[str]:
        return self._recorded("uuids", self._environment.uuids(parts), parts)

    def largest(self, parts: tuple[str, ...], column: str) -> int | None:
        return self._recorded("largest", self._environment.largest(parts, column), parts, column)

    def parameter(self, name: str) -> pa.DataType | None:
        return self._recorded("parameter", self._environment.parameter(name), name)

    def bounded(self, function: str, type: pa.DataType) -> str:
        """The question is repeated for its effect, too: it registers the function."""
        return self._recorded("bounded", self._environment.bounded(function, type), function, type)

    def result(self, expression: str, types: Sequence[pa.DataType]) -> pa.DataType | None:
        """Depends on the time zone only."""
        return self._environment.result(expression, types)

    def _recorded(self, question: str, answer: A, *arguments: Hashable) -> A:
        if (question, arguments) not in self._asked:
            self._asked.add((question, arguments))
            self.facts.append(_Fact(question, arguments, answer))
        return answer


class TextCache:
    """Keeps the texts that were used last."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._known: OrderedDict[Hashable, tuple[object, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def without_forms(
        self, text: str, floats: Floats, rewrite: Callable[[Floats], Written | None], *key: Hashable
    ) -> Written | None:
        """Returns the text without the forms that DataFusion answers wrongly: `parser/workarounds`. `key` is what else
        it depends on.
        """
        known = self._find(("forms", text, *key))
        if known is not None and (known[0] is None or known[0] == floats()):
            found: Written = known[1]
            return found
        asked: list[frozenset[str]] = []

        def recorded() -> frozenset[str]:
            asked.append(floats())
            return asked[0]

        written = rewrite(recorded)
        if written is not None:
            self._put(("forms", text, *key), text, asked[0] if asked else None, replace(written, tree=None))
        return written

    def without_subqueries(
        self, text: str, asks: Sequence[Callable[[A], object]], rewrite: Callable[..., B], *key: Hashable
    ) -> B:
        """Returns what `rewrite` makes of the text. `asks` are its questions about tables."""
        known = self._find(("subqueries", text, *key))
        if known is not None and all(ask(table) == answer for ask, table, answer in _pairs(asks, known[0])):
            found: B = known[1]
            return found
        facts = list[dict[A, object]]()

        def recorded(ask: Callable[[A], object]) -> Callable[[A], object]:
            answers: dict[A, object] = {}
            facts.append(answers)

            def asked(table: A) -> object:
                if table not in answers:
                    answers[table] = ask(table)
                return answers[table]

            return asked

        made = rewrite(*map(recorded, asks))
        self._put(("subqueries", text, *key), text, facts, made)
        return made

    def typed(
        self, text: str, environment: PlanEnvironment, tree: Tree | None, *key: Hashable, is_part: bool = False
    ) -> Rewritten:
        """Returns the text with the casts that its types need: `parser/typed`. `key` is what the types of expressions
        depend on. A text that `is_part` of a statement is rewritten otherwise.
        """
        known = self._find(("types", text, is_part, *key))
        if known is not None and all(_holds(fact, environment) for fact in known[0]):
            found: Rewritten = known[1]
            return found
        from pinakes.parser.typed.rewrite import rewrite

        recorder = Recorder(environment)
        rewritten = rewrite(text, recorder, tree, is_part=is_part)
        if GATHERED not in rewritten.text:  # it has a number of its own in each plan
            self._put(("types", text, is_part, *key), text, tuple(recorder.facts), rewritten)
        return rewritten

    def _find(self, key: Hashable) -> tuple[Any, Any] | None:
        with self._lock:
            found = self._known.get(key)
            if found is not None:
                self._known.move_to_end(key)
            return found

    def _put(self, key: Hashable, text: str, facts: object, value: object) -> None:
        if len(text) > LONGEST:
            return
        with self._lock:
            self._known[key] = facts, value
            if len(self._known) > self._most:
                self._known.popitem(last=False)


def _pairs(
    asks: Sequence[Callable[[A], object]], facts: Sequence[Mapping[A, object]]
) -> Iterator[tuple[Callable[[A], object], A, object]]:
    for ask, answers in zip(asks, facts, strict=True):
        for table, answer in answers.items():
            yield ask, table, answer


def _holds(fact: _Fact, environment: PlanEnvironment) -> bool:
    return bool(getattr(environment, fact.question)(*fact.arguments) == fact.answer)


TEXTS = TextCache()
"""Of all sessions. Texts with secrets are not kept."""
