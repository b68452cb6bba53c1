"""EXCLUDE in the frame of a window: an aggregate over two or three frames without the excluded rows.

sum(x) OVER (ORDER BY k ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING EXCLUDE CURRENT ROW)

    coalesce(s1 + s2, s1, s2)    s1 is the sum over ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING,
                                 s2 that over ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING
"""

from __future__ import annotations

from collections.abc import Sequence

from pinakes.core.names import quote
from pinakes.parser.expansion.pieces import Form, Pieces, until
from pinakes.parser.lexer import Token
from pinakes.parser.syntax.tokens import CLOSE, OPEN, closing, opening, word

_UNITS = frozenset({"ROWS", "RANGE", "GROUPS"})
_FIRST, _LAST = "UNBOUNDED PRECEDING", "UNBOUNDED FOLLOWING"
_PLAIN = frozenset({_FIRST, "CURRENT ROW", _LAST})
_SUPPORTED = "count, sum, min, max, first_value and last_value"


def is_exclusion(tokens: Sequence[Token], at: int) -> bool:
    """OVER (… ROWS … EXCLUDE CURRENT ROW)"""
    is_frame = word(tokens, at - 1) in ("ROW", "PRECEDING", "FOLLOWING")
    return tokens[at].word == "EXCLUDE" and is_frame and word(tokens, at + 1) in ("CURRENT", "GROUP", "TIES", "NO")


def frames_without(form: Form) -> Pieces:
    """f(x) [FILTER (…)] OVER ([…] frame EXCLUDE CURRENT ROW | GROUP | TIES | NO OTHERS)"""
    opened = _opened(form)
    closed = closing(form.tokens, opened)
    kind = " ".join(form.word(at) for at in range(form.at + 1, closed))
    if kind not in ("CURRENT ROW", "GROUP", "TIES", "NO OTHERS"):
        raise form.fault("expected EXCLUDE CURRENT ROW, GROUP, TIES or NO OTHERS")
    if kind == "NO OTHERS":
        form.span = form.tokens[form.at - 1].end, form.tokens[closed].start
        return []
    unit = next((at for at in range(form.at - 1, opened, -1) if form.word(at) in _UNITS), None)
    if unit is None or form.word(opened - 1) != "OVER":
        raise form.fault("EXCLUDE is only supported in the window of a call: write OVER (…)", unsupported=True)
    start, end = _bounds(form, unit)
    frames = _frames(form, kind, form.word(unit), start, end)
    call, name = _call(form, opened)
    rest = form.range((opened + 1, unit)) if unit > opened + 1 else None
    before = form.tokens[call].start, form.tokens[opened].end

    def over(frame: str, instead: str | None = None) -> Pieces:
        first: Pieces = [before] if instead is None else [f"{instead} OVER ("]
        return [*first, *([rest] if rest is not None else []), f" {frame})"]

    form.span = form.tokens[call].start, form.tokens[closed].end
    pieces = _combined(form, name, frames, over)
    if _is_item(form, call, closed):
        text = " ".join(form.text[form.span[0] : form.span[1]].split())
        return [*pieces, f" AS {quote(text[:200])}"]
    return pieces


def _opened(form: Form) -> int:
    """Returns the index of the bracket around the frame."""
    at = form.at - 1
    while at >= 0 and form.word(at) not in OPEN:
        at = (opening(form.tokens, at) if form.word(at) in CLOSE else at) - 1
    if at < 1:
        raise form.fault("EXCLUDE stands in the frame of a window")
    return at


def _bounds(form: Form, unit: int) -> tuple[str, str]:
    """Returns the bounds of the frame."""
    if form.word(unit + 1) != "BETWEEN":
        return form.text_of((unit + 1, form.at)).upper(), "CURRENT ROW"
    middle = until(form.tokens, unit + 2, frozenset({"AND"}))
    return form.text_of((unit + 2, middle)).upper(), form.text_of((middle + 1, form.at)).upper()


def _frames(form: Form, kind: str, unit: str, start: str, end: str) -> list[str]:
    """Returns the frames that are left, in the order of their rows."""
    start, end = (" ".join(bound.split()) for bound in (start, end))
    if (start, end) == (_FIRST, _LAST):
        around = "ROWS" if kind == "CURRENT ROW" else "GROUPS"
    elif kind != "CURRENT ROW" and (unit == "GROUPS" or (unit == "RANGE" and {start, end} <= _PLAIN)):
        around = "GROUPS"
    elif kind == "CURRENT ROW" and unit == "ROWS":
        around = "ROWS"
    else:
        raise form.fault(
            f"EXCLUDE {kind} of this frame is not supported: CURRENT ROW is with ROWS, and GROUP and TIES are with "
            "GROUPS, or with BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
            unsupported=True,
        )
    first, last = _offset(form, start), _offset(form, end)
    found = list[str]()
    if first is None or first < 0:
        to = -1 if last is None else min(last, -1)
        found.append(f"{around} BETWEEN {start} AND {-to} PRECEDING")
    if kind == "TIES" and (first or 0) <= 0 <= (last or 0):
        found.append("ROWS BETWEEN CURRENT ROW AND CURRENT ROW")
    if last is None or last > 0:
        since = 1 if first is None else max(first, 1)
        found.append(f"{around} BETWEEN {since} FOLLOWING AND {end}")
    return found


def _offset(form: Form, bound: str) -> int | None:
    """Returns the distance of a bound from the current row; None for an unbounded one."""
    number, _, direction = bound.partition(" ")
    if bound == "CURRENT ROW":
        return 0
    if number == "UNBOUNDED":
        return None
    if not number.isdecimal() or len(number) > 18 or direction not in ("PRECEDING", "FOLLOWING"):
        raise form.fault("EXCLUDE is only supported with whole numbers as bounds of the frame", unsupported=True)
    return int(number) if direction == "FOLLOWING" else -int(number)


def _call(form: Form, opened: int) -> tuple[int, str]:
    """Returns the index of the first token of the call before OVER, and the function's name."""
    at = opened - 2
    if form.word(at) == ")" and form.word(opening(form.tokens, at) - 1) == "FILTER":
        at = opening(form.tokens, at) - 2
    if form.word(at) == ")":
        at = opening(form.tokens, at) - 1
        words = {token.word for token in form.tokens[at:opened]}
        if not words.isdisjoint(("DISTINCT", "IGNORE", "ORDER")):
            raise form.fault(
                "EXCLUDE for a call with DISTINCT, IGNORE NULLS or ORDER BY is not supported", unsupported=True
            )
        if at >= 0 and form.tokens[at].kind == "word" and form.word(at - 1) != ".":
            return at, form.tokens[at].text.lower()
    raise form.fault(f"EXCLUDE is only supported for {_SUPPORTED}", unsupported=True)


def _combined(form: Form, name: str, frames: Sequence[str], over: object) -> Pieces:
    """Returns the call over all frames together."""
    assert callable(over)
    parts: list[Pieces] = [over(frame) for frame in frames]
    if not parts:  # no row is left
        part: Pieces = over("ROWS BETWEEN CURRENT ROW AND CURRENT ROW")
        return ["(", *part, " * 0)"] if name == "count" else ["CASE WHEN ", *part, " IS NULL THEN ", *part, " END"]
    if name == "count":
        return ["(", *_joined(parts, " + "), ")"]
    if name == "sum":
        if len(parts) == 1:
            return parts[0]
        zero = [["coalesce(", *part, ", 0)"] for part in parts]
        return ["CASE WHEN coalesce(", *_joined(parts, ", "), ") IS NOT NULL THEN ", *_joined(zero, " + "), " END"]
    if name in ("min", "max"):
        return [f"{'least' if name == 'min' else 'greatest'}(", *_joined(parts, ", "), ")"]
    if name in ("first_value", "last_value"):
        pieces: Pieces = ["CASE"]
        ordered = list(zip(frames, parts, strict=False))
        for frame, part in ordered if name == "first_value" else ordered[::-1]:
            pieces += [" WHEN ", *over(frame, "count(*)"), " > 0 THEN ", *part]
        return [*pieces, " END"]
    raise form.fault(
        f"EXCLUDE for {name} is not supported: it is for {_SUPPORTED}. Write avg(x) as sum(x) / count(x)",
        unsupported=True,
    )


def _joined(parts: Sequence[Pieces], between: str) -> Pieces:
    found = Pieces()
    for at, part in enumerate(parts):
        found += [between] if at else []
        found += part
    return found


def _is_item(form: Form, first: int, last: int) -> bool:
    """Returns whether tokens are a whole item of a SELECT list, without an alias."""
    if form.word(first - 1) not in ("SELECT", ",", "DISTINCT", "ALL"):
        return False
    after = form.tokens[last + 1] if last + 1 < len(form.tokens) else None
    if after is not None and after.word not in (
        ",",
        "FROM",
        ")",
        "WHERE",
        "UNION",
        "EXCEPT",
        "INTERSECT",
        "WINDOW",
        ";",
    ):
        return False
    at = first - 1
    while at >= 0 and form.word(at) not in OPEN:
        if form.word(at) == "SELECT":
            return True
        if form.word(at) in ("FROM", "BY", "WHERE"):
            return False
        at = (opening(form.tokens, at) if form.word(at) in CLOSE else at) - 1
    return False
