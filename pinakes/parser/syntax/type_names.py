"""Names of types that DataFusion does not have, in casts and typed constants.

CAST(a AS UTINYINT), a::UBIGINT[]  →  CAST(a AS TINYINT UNSIGNED), a::BIGINT UNSIGNED[]
TIMESTAMP_S '2024-01-01 10:00:00'  →  CAST('2024-01-01 10:00:00' AS TIMESTAMP(0))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pinakes.parser.faults import Fault
from pinakes.parser.lexer import Token
from pinakes.parser.statements import Repair
from pinakes.parser.syntax.tokens import CLOSE, OPEN, closing, replaced, word

_TIMESTAMPS = {f"TIMESTAMP_{unit}": f"TIMESTAMP({digits})" for unit, digits in (("S", 0), ("MS", 3), ("US", 6))}
_NAMES = {
    **_TIMESTAMPS,
    "TIMESTAMP_NS": "TIMESTAMP(9)",
    **dict.fromkeys(("UTINYINT", "UINT8"), "TINYINT UNSIGNED"),
    **dict.fromkeys(("USMALLINT", "UINT16"), "SMALLINT UNSIGNED"),
    **dict.fromkeys(("UINTEGER", "UINT", "UINT32"), "INT UNSIGNED"),
    **dict.fromkeys(("UBIGINT", "UINT64"), "BIGINT UNSIGNED"),
    **dict.fromkeys(("INT1", "BYTE"), "TINYINT"),
    **dict.fromkeys(("INT16", "SHORT"), "SMALLINT"),
    **dict.fromkeys(("INT32", "SIGNED"), "INT"),
    **dict.fromkeys(("INT64", "LONG", "OID"), "BIGINT"),
    "LOGICAL": "BOOLEAN",
    "DEC": "DECIMAL",
    **dict.fromkeys(("BPCHAR", "NAME"), "VARCHAR"),
}
_WITHIN = {**_NAMES, **dict.fromkeys(("HUGEINT", "INT128"), "DECIMAL(38, 0)")}
"""The same within another type: `typed/casts.py` has a HUGEINT by itself."""
TYPE_NAMES = frozenset({*_WITHIN, "ENUM"})
_NESTED = frozenset({"STRUCT", "ROW", "MAP", "ARRAY", "LIST"})
"""Types with types in their brackets."""
_CASTS = frozenset({"CAST", "TRY_CAST", "SAFE_CAST"})


def type_names(tokens: Sequence[Token]) -> Iterator[Repair]:
    callers, end = list[str](), -1
    for at, token in enumerate(tokens):
        if token.word in OPEN:
            callers.append(word(tokens, at - 1))
        elif token.word in CLOSE and callers:
            callers.pop()
        before = word(tokens, at - 1)
        is_type = before == "::" or (before == "AS" and callers[-1:] != [] and callers[-1] in _CASTS)
        if is_type and token.word in _NESTED and word(tokens, at + 1) in ("(", "<") and at > end:
            end = _end(tokens, at + 1)
        if token.kind != "word" or token.word not in TYPE_NAMES:
            continue
        follows = tokens[at + 1] if at + 1 < len(tokens) else None
        if is_type and token.word == "ENUM":
            raise Fault("casts to an ENUM are not supported: use VARCHAR", token.start, unsupported=True)
        if at < end and (before not in ("(", "<", ",", ".") or _is_item(tokens, at)):
            yield replaced(token, token, _WITHIN[token.word])
        elif token.word in _NAMES and is_type:
            yield replaced(token, token, _NAMES[token.word])
        elif follows is not None and follows.kind == "string" and token.word.startswith("TIMESTAMP_"):
            if before in (".", "AS") or (at and tokens[at - 1].kind in ("quoted", "number", "string")):
                continue
            yield replaced(token, token, "CAST(")
            yield Repair(replaced(follows, follows, "").span, f"{_text(follows)} AS {_NAMES[token.word]})")


def _text(token: Token) -> str:
    return "'" + token.text.replace("'", "''") + "'"


def _is_item(tokens: Sequence[Token], at: int) -> bool:
    """Returns whether a word within the brackets of a type is a type, as in MAP(VARCHAR, HUGEINT), not a field."""
    return word(tokens, at + 1) in (",", ")", ">", "[")


def _end(tokens: Sequence[Token], opened: int) -> int:
    if tokens[opened].word == "(":
        return closing(tokens, opened)
    depth = 0
    for at in range(opened, len(tokens)):
        depth += (tokens[at].word == "<") - (tokens[at].word == ">")
        if depth <= 0:
            return at
    return len(tokens)
