"""Brackets that fit, and not too many of them. Checked before any recursive reading: no depth can break the stack."""

from __future__ import annotations

from pinakes.parser.faults import Fault
from pinakes.parser.lexer import Token

DEEPEST = 200

_CLOSES = {")": "(", "]": "[", "}": "{"}
_BRACKETS = frozenset("()[]{}")


def check_brackets(tokens: list[Token]) -> None:
    """A Fault at the first bracket without its partner, and where nesting goes too deep."""
    stack: list[Token] = []
    for token in [t for t in tokens if t.word in _BRACKETS]:
        opening = _CLOSES.get(token.word)
        if opening is None:
            stack.append(token)
            if len(stack) > DEEPEST:
                raise Fault(f"brackets are nested more than {DEEPEST} deep", token.start)
        elif not stack or stack.pop().word != opening:
            raise Fault(f"{token.word} closes nothing", token.start)
    if stack:
        raise Fault(f"{stack[-1].word} is never closed", stack[-1].start)
