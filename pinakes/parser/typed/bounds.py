"""Adds size checks to calls of functions whose results can be far larger than their arguments.

`engine/datafusion/bounded_functions.py` has the checks. A call that can't be checked is refused, since an allocation
that fails in DataFusion ends the process.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.core.errors import NotSupportedError, OutOfMemory
from pinakes.core.names import quote
from pinakes.parser.lexer import Token
from pinakes.parser.typed import GATHERED, LATE, PATTERN, SERIES, SHORT, SQUARES, STEPS, WEIGHED, WIDE, WIDEST
from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.pattern_cost import check_pattern
from pinakes.parser.typed.values import MOST_NESTED, Value, is_binary, is_date, is_text, is_timestamp
from pinakes.parser.workarounds.writing import all_below, bare, is_repeatable

if TYPE_CHECKING:
    from pinakes.parser.typed.writer import Writer

Arguments = list[tuple[n.Node, Value]]

MOST_VARYING = 1_000
"""Maximum bytes of a pattern, replacement or separator that is not a constant."""
MOST_CONSTANT = 100_000
"""Maximum characters of a constant pattern."""
MOST_CENTROIDS = 100_000
_LONGEST = 1_000
"""Maximum characters of an argument that is duplicated in the text."""
_SOON = 10_000
"""The count or bytes up to which a constant is evaluated during planning, so that it can prune files."""
_NARROW = 100
"""Maximum width of padding without a check."""
_FEW = 8
_OF_FEW_CHARACTERS = frozenset(
    "arrow_typeof chr date_format dayname gen_random_uuid md5 monthname sha224 sha256 sha384 sha512 strftime to_hex "
    "typeof uuid version".split()
)
"""Functions whose results are short texts."""
COLLECTING = frozenset({"array_agg", "string_agg", "listagg"})
UNCOUNTED = frozenset({"repeat", "replace"})
"""Functions of `bounded_functions.py` whose calls need no other text."""
_SPLIT = 5
"""The size of a list of a text's characters, relative to the text."""


def bounded(writer: Writer, node: n.Call, arguments: Arguments) -> Arguments | Value | None:
    """Returns the arguments of a call with the checks that they need, or a replacement of the call; None if it
    needs neither.
    """
    rule = _RULES.get(node.name)
    if node.over and node.name in COLLECTING:
        raise NotSupportedError(
            f"{node.name} as a window function is not supported, since it would make a copy of all values for each "
            f"row: write it with GROUP BY, and join the result"
        )
    if rule is None or node.over:
        return None
    if node.named and node.name != "overlay":
        raise NotSupportedError(f"arguments of {node.name} by name are not supported: write them in their order")
    found = rule(writer, node, arguments)
    if isinstance(found, Value) and found.text is not None:
        return found._replace(text=with_width(writer, found.text, found.type))
    return found


def is_bounded(function: str) -> bool:
    """Returns whether calls of a function need a check."""
    return function in _RULES


def weighed(writer: Writer, node: n.Node, value: Value, weight: int) -> Value:
    """Returns a value with a check that a result of `weight` times its size is allowed."""
    if isinstance(node, n.Text | n.Number | n.Null | n.Boolean):
        return value
    if is_text(value.type) or (isinstance(bare(node), n.Binary) and value.type is None):
        return Value(f'"{WEIGHED}"({writer.text(node, value)}, {weight}, {_widest(writer)})', pa.string())
    name = _typed_name(writer, "weighed", value.type)
    return Value(f"{name}({writer.text(node, value)}, {weight}, {_widest(writer)})", value.type)


def with_width(writer: Writer, text: str, type: pa.DataType | None) -> str:
    """Returns a call with a check that its results are not too long for batches of their rows; as it is, if its type is
    not known."""
    if not writer.repeats:
        return text
    if is_text(type):
        return f'"{WIDE}"({text}, {_widest(writer)})'
    return f"{_typed_name(writer, 'wide', type)}({text}, {_widest(writer)})" if _is_list(type) else text


def _widest(writer: Writer) -> str:
    return WIDEST if writer.repeats else str(1 << 62)


def put_together(writer: Writer, values: Arguments) -> Arguments:
    """Adds checks to values that are concatenated: lists, and computed texts. A few columns of a table need no
    check, since the result is not much larger than the input.
    """
    few = len(values) <= _FEW
    return [
        (
            a,
            weighed(writer, a, v, len(values))
            if _is_list(v.type) or is_binary(v.type) or _may_be_long(a, v, few=few)
            else v,
        )
        for a, v in values
    ]


def _may_be_long(node: n.Node, value: Value, *, few: bool) -> bool:
    if isinstance(bare(node), n.Binary):
        return value.long or isinstance(node, n.Paren)
    node = bare(node)
    if value.type is None and isinstance(node, n.Column | n.Index | n.Field | n.Scalar):
        return True
    if not is_text(value.type) or (value.stored and few):
        return False
    if isinstance(node, n.Cast):
        return _may_be_long(node.operand, value, few=few)
    return not isinstance(node, n.Text | n.Parameter) and not (
        isinstance(node, n.Call) and node.name in _OF_FEW_CHARACTERS
    )


def _is_late(node: n.Call, arguments: Arguments) -> bool:
    """Returns whether a call has constant arguments, and may have a large result."""
    if any(isinstance(part, n.Column | n.Scalar) for a, _ in arguments for part in (a, *all_below(a))):
        return False
    counts = arguments[1:2] if node.name in ("repeat", "lpad", "rpad") else arguments
    length = _length(arguments[0][0]) if node.name == "repeat" else 1
    return length is None or any(
        not isinstance(bare(a), n.Number) or float(bare(a).text.replace("_", "")) * length > _SOON  # type: ignore[attr-defined]
        for a, _ in counts
    )


def _typed_name(writer: Writer, function: str, type: pa.DataType | None) -> str:
    if type is None:
        raise NotSupportedError(
            f"the type of an argument of {function} is not known here, so that the size of its result can't be "
            "checked: write CAST(… AS …) around it"
        )
    return quote(writer.environment.bounded(function, type))


def _is_list(type: pa.DataType | None) -> bool:
    return type is not None and (pa.types.is_list(type) or pa.types.is_large_list(type))


# --- aggregates ------------------------------------------------------------------------------------------------------

_NUMBERS = itertools.count(1)


def _gathered(writer: Writer, node: n.Call, arguments: Arguments) -> Arguments | None:
    """Adds a check to string_agg and array_agg, which keep all values of all groups and are not counted by
    DataFusion's memory limit. ORDER BY with DISTINCT must use the argument as written, so it is not checked.
    """
    first, value = arguments[0] if arguments else (node, Value(None, None))
    if (node.distinct and node.others) or not (is_text(value.type) or _is_list(value.type)):
        return None
    name = quote(GATHERED) if is_text(value.type) else _typed_name(writer, "gathered", value.type)
    text = f"{name}({writer.text(first, value)}, {next(_NUMBERS)})"
    return [(first, Value(text, value.type)), *arguments[1:]]


# --- texts -----------------------------------------------------------------------------------------------------------


def _padded(writer: Writer, node: n.Call, arguments: Arguments) -> Value | None:
    """Replaces lpad and rpad with a checked function of three arguments: lpad(s, n) is lpad(s, n, ' ').
    DataFusion's own, which takes a ninth of the time, is used for short results.
    """
    if len(arguments) not in (2, 3) or _is_short(arguments):
        return None
    name = quote(f"${node.name}" + (LATE if _is_late(node, arguments) else ""))
    texts = [writer.text(a, v) for a, v in arguments]
    texts += ["' '"] if len(texts) == 2 else []
    return Value(f"{name}({', '.join(texts)})", pa.string())


def _is_short(arguments: Arguments) -> bool:
    """Returns whether texts are padded with a constant to a small constant width."""
    width = bare(arguments[1][0])
    fill = _length(arguments[2][0]) if len(arguments) == 3 else 1
    is_small = isinstance(width, n.Number) and float(width.text.replace("_", "")) <= _NARROW
    return is_small and fill is not None and fill <= _NARROW


def _repeated_text(writer: Writer, node: n.Call, arguments: Arguments) -> Value | None:
    if len(arguments) != 2 or not _is_late(node, arguments):
        return None
    return Value(f"{quote(node.name + LATE)}({', '.join(writer.text(a, v) for a, v in arguments)})", pa.string())


def _replaced_by_pattern(writer: Writer, node: n.Call, arguments: Arguments) -> Arguments:
    """regexp_replace(s, pattern, replacement): each character can be replaced, and each \\1 can be the complete
    text.
    """
    if len(arguments) < 3:
        return with_pattern(writer, arguments)
    text, pattern, replacement, *rest = with_pattern(writer, arguments)
    weight = _length(replacement[0])
    if weight is None:
        replacement = (replacement[0], _short(writer, *replacement))
        weight = MOST_VARYING
    checked = Value(f'"{WEIGHED}"({writer.text(*text)}, {weight + 1}, {_widest(writer)})', pa.string())
    return [(text[0], checked), pattern, replacement, *rest]


def with_pattern(writer: Writer, arguments: Arguments) -> Arguments:
    """regexp_like(s, pattern): a match takes up to one step per character of the pattern for each character of the
    text.
    """
    if len(arguments) < 2:
        return arguments
    pattern, value = arguments[1]
    length = _length(pattern)
    if length is not None and length > MOST_CONSTANT:
        raise OutOfMemory(f"a pattern may have up to {MOST_CONSTANT:,} characters, and this one has {length:,}")
    constant = bare(pattern)
    if isinstance(constant, n.Text) and (wrong := check_pattern(constant.value)) is not None:
        raise OutOfMemory(wrong)
    if isinstance(constant, n.Text):
        if constant.value == ".*":  # DataFusion would make IS NOT NULL of it, which is false for NULL
            value = Value("'(?:.*)'", pa.string())
    elif not isinstance(constant, n.Null):
        longest = MOST_VARYING if length is None else MOST_CONSTANT
        value = Value(f'"{PATTERN}"({writer.text(pattern, value)}, {longest})', pa.string())
    return [arguments[0], (pattern, value), *arguments[2:]]


def _formatted(writer: Writer, node: n.Call, arguments: Arguments) -> Arguments:
    """to_char(time, format): two characters of a format can become thirty in each row."""
    if len(arguments) != 2:
        return arguments
    form, value = arguments[1]
    length = _length(form)
    if length is not None and length > MOST_VARYING:
        raise OutOfMemory(f"a format of {node.name} may have up to {MOST_VARYING:,} bytes, and this one has {length:,}")
    if length is None and not isinstance(form, n.Null):
        value = _short(writer, form, value)
    return [arguments[0], (form, value)]


def _joined(writer: Writer, node: n.Call, arguments: Arguments) -> Arguments:
    """array_to_string(list, separator)"""
    if len(arguments) < 2:
        return arguments
    texts = list[tuple[n.Node, Value]]()
    weight = 1
    for argument, value in arguments[1:]:
        length = _length(argument)
        texts.append((argument, value if length is not None else _short(writer, argument, value)))
        weight += MOST_VARYING if length is None else length
    first, value = arguments[0]
    return [(first, weighed(writer, first, value, weight)), *texts]


def _split(writer: Writer, node: n.Call, arguments: Arguments) -> Arguments:
    if not arguments:
        return arguments
    first, value = arguments[0]
    return [
        (first, Value(f'"{WEIGHED}"({writer.text(first, value)}, {_SPLIT}, {_widest(writer)})', pa.string())),
        *arguments[1:],
    ]


def _encoded(writer: Writer, node: n.Call, arguments: Arguments) -> Arguments:
    """encode(bytes, 'hex') has two characters for each byte."""
    return [(a, weighed(writer, a, v, 2)) for a, v in arguments]


def _overlaid(writer: Writer, node: n.Call, arguments: Arguments) -> Arguments:
    """overlay(text PLACING new FROM 1 FOR 0) can have all characters of both."""
    return [*((a, weighed(writer, a, v, 2)) for a, v in arguments[:2]), *arguments[2:]]


def _compared(writer: Writer, node: n.Call, arguments: Arguments) -> Arguments:
    return [(a, Value(f'"{SQUARES}"({writer.text(a, v)})', pa.string())) for a, v in arguments]


def _compared_lists(writer: Writer, node: n.Call, arguments: Arguments) -> Arguments:
    """array_has_any(a, b) and similar functions compare all pairs of elements."""
    return [
        (a, Value(f"{_typed_name(writer, 'squares', v.type)}({writer.text(a, v)})", v.type) if _is_list(v.type) else v)
        for a, v in arguments
    ]


def _length(node: n.Node) -> int | None:
    """Returns the bytes of a constant text."""
    node = bare(node)
    return len(node.value.encode()) if isinstance(node, n.Text) else None


def _short(writer: Writer, node: n.Node, value: Value) -> Value:
    return Value(f'"{SHORT}"({writer.text(node, value)}, {MOST_VARYING})', pa.string())


# --- lists -----------------------------------------------------------------------------------------------------------


def _series(writer: Writer, node: n.Call, arguments: Arguments) -> Arguments | Value:
    if not 1 <= len(arguments) <= 3:
        return arguments
    texts = [writer.text(a, v) for a, v in arguments]
    if any(is_date(v.type) or is_timestamp(v.type) for _, v in arguments):
        if len(texts) != 3:
            return arguments
        if not all(is_repeatable(a) for a, _ in arguments[:2]) or len(texts[0]) + len(texts[1]) > _LONGEST:
            raise NotSupportedError(f"{node.name} of times is only supported from columns, constants and the like")
        moments = [f"arrow_cast({text}, 'Timestamp(Nanosecond, None)')" for text in texts[:2]]
        return [*arguments[:2], (arguments[2][0], Value(f'"{STEPS}"({", ".join(moments)}, {texts[2]})'))]
    start, stop, step = ("0", *texts, "1") if len(texts) == 1 else (*texts, "1")[:3]
    inclusive = "true" if node.name == "generate_series" else "false"
    name = SERIES + LATE if _is_late(node, arguments) else SERIES
    return Value(f"{quote(name)}({start}, {stop}, {step}, {inclusive})", pa.list_(pa.int64()))


def _repeated(writer: Writer, node: n.Call, arguments: Arguments) -> Arguments | Value:
    if len(arguments) != 2:
        return arguments
    type = arguments[0][1].type
    name = _typed_name(writer, "array_repeat", type)
    return Value(f"{name}({', '.join(writer.text(a, v) for a, v in arguments)})", pa.list_(type))


def _resized(writer: Writer, node: n.Call, arguments: Arguments) -> Arguments | Value:
    if len(arguments) not in (2, 3):
        return arguments
    type = arguments[0][1].type
    if type is not None and not _is_list(type):
        return arguments
    name = _typed_name(writer, "array_resize", type)
    texts = [writer.text(a, v) for a, v in arguments]
    return Value(f"{name}({', '.join(texts if len(texts) == 3 else (*texts, 'NULL'))})", type)


def _concatenated(writer: Writer, node: n.Call, arguments: Arguments) -> Arguments:
    return [(a, weighed(writer, a, v, len(arguments))) for a, v in arguments]


def _replaced_items(writer: Writer, node: n.Call, arguments: Arguments) -> Arguments:
    """array_replace_all(list, from, to), where `to` is a text or a list."""
    if len(arguments) < 3:
        return arguments
    (first, value), *rest = arguments
    last, new = rest[1]
    if not (is_text(new.type) or _is_list(new.type)):
        return arguments
    length = _length(last)
    if length is None:
        if not is_text(new.type):
            raise NotSupportedError(f"{node.name} of lists within lists is not supported")
        rest[1] = (last, _short(writer, last, new))
    return [(first, weighed(writer, first, value, 1 + (length or MOST_VARYING))), *rest]


# --- others ----------------------------------------------------------------------------------------------------------


def check_target(node: n.Call, arguments: Arguments) -> None:
    """Refuses arrow_cast of computed values to a type without a limit of 2 GB, or to one whose values take their
    full size even when NULL.
    """
    operand, target = arguments[0][0], bare(arguments[1][0])
    if not isinstance(target, n.Text):
        raise NotSupportedError(f"{node.name} takes the name of a type as a constant text, such as 'Utf8'")
    if len(target.value) > MOST_VARYING or target.value.count("(") > MOST_NESTED:
        raise NotSupportedError(
            f"a type of {node.name} may have up to {MOST_VARYING:,} characters, {MOST_NESTED} types within each other"
        )
    name = re.sub(r"\s", "", target.value.lower())
    sizes = [int(size) for size in re.findall(r"fixedsizebinary\((\d+)", name)]
    if "fixedsizelist" in name or name.count("fixedsize") != len(sizes):
        raise NotSupportedError(f"{node.name} to {target.value} is not supported: Utf8, Binary and List are")
    if sum(sizes) > MOST_VARYING:
        raise OutOfMemory(f"{node.name} to FixedSizeBinary may have up to {MOST_VARYING:,} bytes")
    if "large" in name and not isinstance(operand, n.Text | n.Column | n.Null):
        raise NotSupportedError(
            f"{node.name} to {target.value} is supported for constants and columns: others can be Utf8, Binary or List"
        )


def _percentile(writer: Writer, node: n.Call, arguments: Arguments) -> None:
    """Limits the number of centroids, whose memory is allocated at once."""
    for argument, _ in arguments[1:]:
        inner = bare(argument)
        if not isinstance(inner, n.Number) or float(inner.text.replace("_", "")) <= MOST_CENTROIDS:
            if isinstance(inner, n.Number | n.Column | n.Parameter | n.Null):
                continue
            raise NotSupportedError(f"{node.name} takes numbers as its percentile and its number of centroids")
        raise OutOfMemory(f"{node.name} may have up to {MOST_CENTROIDS:,} centroids")


_RULES: dict[str, Callable[[Writer, n.Call, Arguments], Arguments | Value | None]] = {
    **dict.fromkeys(("string_agg", "listagg", "array_agg"), _gathered),
    **dict.fromkeys(("lpad", "rpad"), _padded),
    "repeat": _repeated_text,
    "regexp_replace": _replaced_by_pattern,
    **dict.fromkeys(
        ("regexp_like", "regexp_match", "regexp_count", "regexp_instr"),
        lambda writer, node, values: with_pattern(writer, values),
    ),
    **dict.fromkeys(("to_char", "date_format"), _formatted),
    **dict.fromkeys(("array_to_string", "list_to_string", "array_join", "list_join"), _joined),
    **dict.fromkeys(("string_to_array", "string_to_list"), _split),
    "levenshtein": _compared,
    **dict.fromkeys(
        ("array_has_all", "array_has_any", "list_has_all", "list_has_any", "arrays_overlap"), _compared_lists
    ),
    **dict.fromkeys(("range", "generate_series"), _series),
    **dict.fromkeys(("array_repeat", "list_repeat"), _repeated),
    **dict.fromkeys(("array_resize", "list_resize"), _resized),
    **dict.fromkeys(("array_concat", "array_cat", "list_concat", "list_cat"), _concatenated),
    **dict.fromkeys(
        [f"{kind}_{name}" for kind in ("array", "list") for name in ("replace", "replace_n", "replace_all")],
        _replaced_items,
    ),
    "encode": _encoded,
    "overlay": _overlaid,
    **dict.fromkeys(("arrays_zip", "list_zip"), _concatenated),
    **dict.fromkeys(("make_array", "make_list"), lambda writer, node, values: put_together(writer, values)),
    **dict.fromkeys(("arrow_cast", "arrow_try_cast"), lambda writer, node, values: None),  # by `check_target`
    **dict.fromkeys(("approx_percentile_cont", "approx_percentile_cont_with_weight"), _percentile),
}

_AFTER_TABLES = frozenset({"FROM", "JOIN"})


def refuse_unchecked(tokens: Sequence[Token]) -> None:
    """Refuses these functions, and lists of a fixed size, in a text that can't be parsed, since its calls can't be
    checked.
    """
    size = 1
    for first, number, last in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if first.word == "[" and last.word == "]" and number.text.isdecimal():
            size *= max(int(number.text), 1)
            if size > MOST_VARYING:
                raise NotSupportedError(f"types such as INT[{number.text}] are not supported: write INT[]")
        elif first.word not in ("]", "[") and number.word != "[" and not first.text.isdecimal():
            size = 1
    for at, token in enumerate(tokens[:-1]):
        if tokens[at + 1].word != "(" or token.kind not in ("word", "quoted"):
            continue
        name = token.text.lower()
        if name not in _RULES or (name in ("range", "generate_series") and tokens[at - 1].word in _AFTER_TABLES):
            continue
        raise NotSupportedError(
            f"{name} is not supported in a statement of this form, since the size of its result can't be checked"
        )
