"""Estimates what it takes to compile a regular expression, and to match a LIKE pattern.

DataFusion compiles a pattern in one step, which nothing can stop: counted repetitions multiply its size, also within
each other, and a class such as \\w has hundreds of states. The units are about those of one literal character.
"""

from __future__ import annotations

import re

MOST_COST = 100_000
"""Units of one pattern, some tenths of a second; \\w{200} or a{100000} have as many."""
MOST_WILDCARDS = 100
"""The % of a LIKE pattern: each one is tried at each character of a text."""
_ENDLESS = 10**12
_TOKEN = re.compile(
    r"\\[pP](?:\{[^}]*\}|.)|\\.|\[(?:\\.|[^\]\\])*+\]?|\{(?P<least>\d{1,9})(?:,(?P<most>\d{0,9}))?\}|.", re.DOTALL
)
_CLASSES = {"w": 500, "W": 500, "p": 500, "P": 500, "b": 100, "B": 100, "d": 100, "D": 100, "s": 50, "S": 50}


def regex_cost(pattern: str) -> int:
    """Returns the units of a regular expression."""
    groups, last = [0], 0
    for found in _TOKEN.finditer(pattern):
        token = found.group()
        if token == "(":
            groups.append(0)
        elif token == ")":
            last = groups.pop() if len(groups) > 1 else groups[0]
            groups[-1] = min(groups[-1] + last, _ENDLESS)
        elif found["least"] is not None:
            times = max(int(found["least"]), int(found["most"] or 0), 1)
            groups[-1] = min(groups[-1] + last * (times - 1), _ENDLESS)
            last = min(last * times, _ENDLESS)
        elif token not in "*+?|":
            last = _cost(token)
            groups[-1] += last
    return sum(groups)


def _cost(token: str) -> int:
    if token[0] == "[":
        named = [_CLASSES.get(name, 0) for name in re.findall(r"\\(.)", token, re.DOTALL)]
        return max([50 if token.startswith("[^") else 20, *named]) + len(token)
    if token[0] == "\\" and len(token) > 1:
        return _CLASSES.get(token[1], 1)
    return 10 if token == "." else 1


def check_pattern(pattern: str) -> str | None:
    """Returns what is wrong with a pattern, of LIKE or a regular expression; None if it is not too complex."""
    if sum(1 for _ in re.finditer(r"%+", pattern)) > MOST_WILDCARDS and len(pattern) > 2 * MOST_WILDCARDS:
        return f"a pattern may have up to {MOST_WILDCARDS} wildcards %"
    cost = regex_cost(pattern)
    if cost > MOST_COST:
        return (
            f"a pattern is too complex: counted repetitions and classes make it about {cost / MOST_COST:,.1f} times as "
            f"large as allowed. Use smaller counts, or [a-z] instead of \\w"
        )
    return None
