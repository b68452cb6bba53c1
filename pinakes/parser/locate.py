"""Locates tables, placeholders and session values in the text that DataFusion plans."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pinakes.parser.catalog_calls import function_refs, has_dotted_call, without_refs
from pinakes.parser.faults import Fault
from pinakes.parser.lexer import Token
from pinakes.parser.parameters import join_named, placeholders
from pinakes.parser.projections import projections
from pinakes.parser.rewrites import repairs
from pinakes.parser.session_values import WORDS, session_values
from pinakes.parser.statements import (
    AsOf,
    Definition,
    FunctionRef,
    Placeholder,
    Projection,
    References,
    Repair,
    SessionValue,
    TableCall,
    TableRef,
)
from pinakes.parser.time_travel import take_out
from pinakes.parser.unsupported import refuse_unsupported

if TYPE_CHECKING:
    from sqlglot import expressions as exp

_OWN_FUNCTION = re.compile("READ_|PARQUET_SCAN|SEARCH")
_NAMES_TABLES = frozenset({"FROM", "JOIN", "TABLE", "USING"})


class Located(NamedTuple):
    tables: tuple[TableRef, ...] = ()
    placeholders: tuple[Placeholder, ...] = ()
    values: tuple[SessionValue, ...] = ()
    projections: tuple[Projection, ...] = ()
    repairs: tuple[Repair, ...] = ()
    functions: tuple[FunctionRef, ...] = ()
    parsed: bool = True
    references: References | None = None
    definitions: tuple[Definition, ...] = ()


class Tree(NamedTuple):
    root: exp.Expr
    text: str
    as_of: list[AsOf]
    has_with: bool
    calls: dict[int, TableCall]


def locate(text: str, tokens: list[Token], *, strict: bool = False) -> Located:
    """Locates all of them. If sqlglot can't parse the text, `parsed` is False, or a Fault is raised when `strict`."""
    return locate_in_tree(text, tokens, strict=strict)[0]


def locate_in_tree(text: str, tokens: list[Token], *, strict: bool = False) -> tuple[Located, Tree | None]:
    """Does the same and returns the tree, if there is one."""
    words = {t.word for t in tokens}
    refuse_unsupported(tokens, words)
    if ":" in words:
        tokens = join_named(tokens)
    marks = placeholders(tokens)
    values = session_values(tokens) if words & WORDS else ()
    unnamed = projections(text, tokens) if "SELECT" in words else ()
    functions = function_refs(tokens) if "." in words else ()
    located = Located((), marks, values, unnamed, repairs(tokens, words), functions)
    if not strict and not words & _NAMES_TABLES:
        return located, None  # SELECT 1 has no names to locate: sqlglot isn't even loaded
    calls(text, tokens, words)  # an error in a call is reported even if sqlglot can't parse the rest
    try:
        tree, found = _located(text, tokens, words, located)
    except Fault as fault:
        if strict or fault.unsupported:
            raise
        return located._replace(parsed=False), None
    return found, tree


def _located(text: str, tokens: list[Token], words: set[str], located: Located) -> tuple[Tree, Located]:
    """Returns the tree, and what it shows in addition. Raises for forms that DataFusion would answer with wrong
    results.
    """
    from pinakes.parser import wrong_results as unsound
    from pinakes.parser.tables import tables_of

    tree = read(text, tokens, words)
    if not words.isdisjoint(unsound.WORDS):
        unsound.refuse_wrong_results(tree.root, words)
    values, repairs, definitions = located.values, located.repairs, located.definitions
    if "UNNEST" in words:
        from pinakes.parser.workarounds.lateral_unnest import lateral_unnests

        repairs = (*repairs, *lateral_unnests(tokens, tree.root))
    if tokens[0].word == "WITH":
        from pinakes.parser.definitions import definitions as definitions_of

        definitions = definitions_of(tree.root, tokens)
    tables = tables_of(tree)
    if values:  # in FROM a, current_user it is the name of a table
        values = tuple(v for v in values if all(v.span != table.span for table in tables))
    return tree, located._replace(tables=tables, values=values, repairs=repairs, definitions=definitions)


def read(text: str, tokens: list[Token], words: set[str]) -> Tree:
    """Returns sqlglot's tree of the tokens, and the AS OF clauses, which it does not contain."""
    from pinakes.parser import dialect

    kept, as_of = take_out(text, tokens) if "OF" in words else (tokens, [])
    kept, found = calls(text, kept, words)
    kept = without_refs(kept) if "." in words else kept
    return Tree(dialect.parse(kept, text), text, as_of, "WITH" in words, found)


def calls(text: str, tokens: list[Token], words: set[str]) -> tuple[list[Token], dict[int, TableCall]]:
    """Returns the tokens with each call of a table function of pinakes as one name, and the calls by their start
    offset.
    """
    if not any(map(_OWN_FUNCTION.match, words)) and not ("." in words and has_dotted_call(tokens)):
        return tokens, {}
    from pinakes.parser.calls import take_calls

    return take_calls(text, tokens)
