"""a SIMILAR TO 'pattern' [ESCAPE 'e'] as a regular expression of the whole text, as PostgreSQL translates it.

s SIMILAR TO 'a%|b_'       →  s ~ '^(?s:a.*|b.)$'
s NOT SIMILAR TO 'a%'      →  s !~ '^(?s:a.*)$'

a LIKE 'pattern' ESCAPE 'e' has a backslash instead of e, the only escape character of DataFusion:

s LIKE 'a!%b' ESCAPE '!'   →  s LIKE 'a\\%b'
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pinakes.core.names import text_literal
from pinakes.parser.faults import Fault
from pinakes.parser.lexer import Token
from pinakes.parser.statements import Repair
from pinakes.parser.syntax.tokens import replaced, word

_LONGER = frozenset({"||", "::", "+", "-", "*", "/", "COLLATE", "[", "AT"})
"""Tokens that make the string before them an operand."""
_CLASSES = frozenset("dwsDWS")
_NAMED_CLASS = re.compile(r"\[:\^?[a-z]+:\]")


def similar_patterns(tokens: Sequence[Token]) -> Iterator[Repair]:
    for at, token in enumerate(tokens):
        if token.word != "SIMILAR" or word(tokens, at + 1) != "TO":
            continue
        last, escape = at + 2, "\\"
        if last >= len(tokens) or tokens[last].kind != "string" or word(tokens, last + 1) in _LONGER:
            raise Fault(
                "SIMILAR TO is only supported with a constant pattern: write regexp_like(a, '^(…)$')",
                token.start,
                unsupported=True,
            )
        pattern = tokens[last]
        if word(tokens, last + 1) == "ESCAPE":
            last += 2
            if last >= len(tokens) or tokens[last].kind != "string" or len(tokens[last].text) > 1:
                raise Fault("ESCAPE takes a text of one character, or an empty one", tokens[last - 1].start)
            escape = tokens[last].text
        negated = word(tokens, at - 1) == "NOT"
        expression = text_literal(f"^(?s:{_regular(pattern, escape)})$")
        yield replaced(tokens[at - negated], tokens[last], f"{'!~' if negated else '~'} {expression}")


def like_patterns(tokens: Sequence[Token]) -> Iterator[Repair]:
    for at, token in enumerate(tokens):
        if token.word != "ESCAPE" or word(tokens, at - 2) not in ("LIKE", "ILIKE"):
            continue
        pattern, escape = tokens[at - 1], tokens[at + 1] if at + 1 < len(tokens) else token
        if escape.kind != "string" or len(escape.text) > 1:
            raise Fault("ESCAPE takes a text of one character, or an empty one", token.start)
        if pattern.kind != "string":
            if escape.text == "\\":
                continue
            raise Fault(
                "LIKE with another escape character than the backslash is only supported with a constant pattern",
                token.start,
                unsupported=True,
            )
        found, rest = list[str](), iter(pattern.text)
        for char in rest:
            if char == escape.text:
                following = next(rest, None)
                if following is None:
                    raise Fault("the pattern ends with its escape character", pattern.start)
                found.append("\\" + following)
            else:
                found.append("\\\\" if char == "\\" else char)
        yield replaced(pattern, escape, text_literal("".join(found)))


def _regular(token: Token, escape: str) -> str:
    """Returns the regular expression of a pattern."""
    found, at, pattern = list[str](), 0, token.text
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == escape:
            if at == len(pattern):
                raise Fault("the pattern ends with its escape character", token.start)
            found.append(_escaped(pattern[at], token))
            at += 1
        elif char == "[":
            text, at = _bracketed(pattern, at, escape, token)
            found.append(text)
        elif char in "%_(":
            found.append({"%": ".*", "_": ".", "(": "(?:"}[char])
        else:
            found.append("\\" + char if char in "\\.^$]#&~-" else char)
    return "".join(found)


def _escaped(char: str, token: Token) -> str:
    if char.isalnum() and char not in _CLASSES:
        raise Fault(f"the escape {char} in a pattern of SIMILAR TO is not supported", token.start, unsupported=True)
    return char if char.isspace() or not char.isascii() else "\\" + char


def _bracketed(pattern: str, at: int, escape: str, token: Token) -> tuple[str, int]:
    """Returns a class of characters, which starts before `at`, and the index after it."""
    found = ["["]
    if pattern[at : at + 1] == "^":
        found.append("^")
        at += 1
    begin = at
    while at < len(pattern):
        char = pattern[at]
        named = _NAMED_CLASS.match(pattern, at)
        if char == "]" and at > begin:
            return "".join((*found, "]")), at + 1
        if named is not None:
            found.append(named[0])
            at = named.end()
            continue
        if char == escape and at + 1 < len(pattern):
            at += 1
            found.append(_escaped(pattern[at], token))
        else:
            found.append("\\" + char if char in "\\[]&~^" else char)
        at += 1
    raise Fault("the pattern has a [ without its ]", token.start)
