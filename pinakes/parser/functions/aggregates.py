"""Aggregates. Without rows they return NULL, and count_if 0."""

from __future__ import annotations

from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.parser.functions import HISTOGRAM, MODE
from pinakes.parser.functions.rule import Rule, Write, check_repeated, filled, renamed
from pinakes.parser.lexer import tokenize
from pinakes.parser.typed import nodes as n
from pinakes.parser.workarounds.writing import Changes, Template, operand

_ROWS = "FROM (VALUES (1, 'a'), (3, 'c'), (3, 'b')) AS t (x, y)"


def _filter_of(call: n.Call, changes: Changes) -> n.Node | None:
    """Returns the condition of FILTER. OVER and ORDER BY in the arguments are refused."""
    if call.over:
        raise NotSupportedError(
            f"{call.name} over a window is not supported: write it with GROUP BY, and join the result"
        )
    if call.distinct or any(other.start < call.arguments_end for other in call.others):
        raise NotSupportedError(
            f"{call.name} with DISTINCT or ORDER BY in its arguments is not supported: leave it out"
        )
    words = [token.word for token in tokenize(changes.text[call.arguments_end : call.end])]
    return call.others[-1] if "FILTER" in words and call.others else None


def _filtered(condition: n.Node | None, *present: n.Node) -> Template:
    found: Template = [" FILTER (WHERE "]
    for at, node in enumerate(present):
        found += [" AND " if at else "", *operand(node), " IS NOT NULL"]
    found += [] if condition is None else [" AND (", condition, ")"]
    return [*found, ")"]


def _value_at(order: str) -> Write:
    """max_by(x, y): x of the row with the largest y. Rows in which one of them is NULL do not count, as in DuckDB."""

    def write(call: n.Call, changes: Changes) -> None:
        condition = _filter_of(call, changes)
        if len(call.arguments) != 2:
            raise NotSupportedError(f"{call.name} takes 2 arguments, not {len(call.arguments)}")
        for argument in call.arguments:
            check_repeated(call, argument)
        value, key = call.arguments
        changes.replace(
            call, ["first_value(", value, " ORDER BY ", key, f" {order})", *_filtered(condition, value, key)]
        )

    return write


def _collected(function: str) -> Write:
    """An aggregate that is computed from the list of its values."""

    def write(call: n.Call, changes: Changes) -> None:
        words = [token.word for token in tokenize(changes.text[call.arguments_end : call.end])]
        if words[:2] == ["WITHIN", "GROUP"] and not call.arguments and call.others:  # mode() WITHIN GROUP (ORDER BY x)
            value, condition = call.others[0], call.others[1] if len(call.others) > 1 else None
            if call.over or "DESC" in words:
                raise NotSupportedError(f"{call.name} with DESC or over a window is not supported")
        else:
            condition = _filter_of(call, changes)
            if len(call.arguments) != 1:
                raise InvalidArgument(f"{call.name} takes 1 argument, not {len(call.arguments)}")
            value = call.arguments[0]
        check_repeated(call, value)
        changes.replace(call, [f'"{function}"(array_agg(', value, ")", *_filtered(condition, value), ")"])

    return write


def _count_if(call: n.Call, changes: Changes) -> None:
    if len(call.arguments) != 1 or call.distinct:
        raise InvalidArgument(f"{call.name} takes one condition")
    changes.rename(call, "count")
    changes.surround(call.arguments[0], "CASE WHEN ", " THEN 1 END")


def _joined_texts(call: n.Call, changes: Changes) -> None:
    """group_concat(x [, separator]), which is string_agg."""
    words = [token.word for token in tokenize(changes.text[call.arguments_end : call.end])]
    if words[:2] == ["WITHIN", "GROUP"]:
        raise NotSupportedError(f"{call.name} WITHIN GROUP is not supported: write string_agg(x, ',' ORDER BY y)")
    if not 1 <= len(call.arguments) <= 2:
        raise InvalidArgument(f"{call.name} takes 1 or 2 arguments, not {len(call.arguments)}")
    changes.rename(call, "string_agg")
    if len(call.arguments) == 1:
        changes.surround(call.arguments[0], "", ", ','")


def _percentile(call: n.Call, changes: Changes) -> None:
    condition = _filter_of(call, changes)
    if len(call.arguments) != 2 or not isinstance(call.arguments[1], n.Number):
        raise NotSupportedError(f"{call.name} takes a value and a constant between 0 and 1")
    found = filled(call, "approx_percentile_cont({0}, {1})", call.arguments)
    if condition is not None:
        found += [" FILTER (WHERE ", condition, ")"]
    changes.replace(call, found)


def _aggregate(syntax: str, takes: str, returns: str, description: str, example: str, write: Write) -> Rule:
    return Rule(syntax, takes, returns, description, f"SELECT {example} {_ROWS}", write, kind="aggregate")


def _by(name: str, which: str, order: str) -> Rule:
    return _aggregate(
        f"{name}(x, y)",
        "any, any",
        "type of x",
        f"x of the row with the {which} y; rows with a NULL in one of them do not count.",
        f"{name}(y, -x)",
        _value_at(order),
    )


def _counted(name: str) -> Rule:
    return _aggregate(
        f"{name}(condition)",
        "boolean",
        "bigint",
        "The number of rows for which the condition is true; 0 without rows.",
        f"{name}(x > 1)",
        _count_if,
    )


def _concatenated(name: str) -> Rule:
    return _aggregate(
        f"{name}(x [, separator] [ORDER BY …])",
        "varchar, varchar",
        "varchar",
        "The texts that are not NULL, one after the other with a separator, which is a comma if it is left out.",
        f"{name}(y ORDER BY y)",
        _joined_texts,
    )


def _at_percentile(name: str) -> Rule:
    return _aggregate(
        f"{name}(x, fraction)",
        "number, number",
        "double",
        "The approximate value below which a fraction of the values is.",
        f"{name}(x, 0.5)",
        _percentile,
    )


RULES = {
    "list": _aggregate(
        "list(x [ORDER BY …])",
        "any",
        "list",
        "The list of all values, with NULLs; as array_agg.",
        "list(x ORDER BY x)",
        renamed("array_agg"),
    ),
    "first": _aggregate(
        "first(x [ORDER BY …])",
        "any",
        "type of x",
        "The value of the first row, which may be NULL; as first_value.",
        "first(y ORDER BY x)",
        renamed("first_value"),
    ),
    "last": _aggregate(
        "last(x [ORDER BY …])",
        "any",
        "type of x",
        "The value of the last row, which may be NULL; as last_value.",
        "last(y ORDER BY y)",
        renamed("last_value"),
    ),
    "mode": _aggregate(
        "mode(x) or mode() WITHIN GROUP (ORDER BY x)",
        "any",
        "type of x",
        "The most frequent value that is not NULL, and the least of several.",
        "mode(x)",
        _collected(MODE),
    ),
    "histogram": _aggregate(
        "histogram(x)",
        "any",
        "map",
        "A map of the values that are not NULL to the numbers of their rows.",
        "histogram(x)",
        _collected(HISTOGRAM),
    ),
    "max_by": _by("max_by", "largest", "DESC"),
    "arg_max": _by("arg_max", "largest", "DESC"),
    "min_by": _by("min_by", "smallest", "ASC"),
    "arg_min": _by("arg_min", "smallest", "ASC"),
    "every": _aggregate(
        "every(condition)",
        "boolean",
        "boolean",
        "Whether a condition is true for all rows; as bool_and.",
        "every(x > 0)",
        renamed("bool_and"),
    ),
    "arbitrary": _aggregate(
        "arbitrary(x)",
        "any",
        "type of x",
        "The value of any row that is not NULL; as any_value.",
        "arbitrary(x)",
        renamed("any_value"),
    ),
    "group_concat": _concatenated("group_concat"),
    "listagg": _concatenated("listagg"),
    "count_if": _counted("count_if"),
    "countif": _counted("countif"),
    "approx_percentile": _at_percentile("approx_percentile"),
    "approx_quantile": _at_percentile("approx_quantile"),
    "approx_count_distinct": _aggregate(
        "approx_count_distinct(x)",
        "any",
        "bigint",
        "The approximate number of different values; as approx_distinct.",
        "approx_count_distinct(x)",
        renamed("approx_distinct"),
    ),
}
