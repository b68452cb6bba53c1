"""Splits text into tokens, once per statement. The grammar reads them, and `dialect.py` passes the same ones to
sqlglot.

sqlglot's own tokenizer is not used: importing it costs more than starting Python, which a SHOW does not need; it reads
the text after SHOW, EXPLAIN or CALL as one string; and two tokenizers could disagree on the end of a secret. The rules
are DataFusion's: identifiers in double quotes and backticks, '' in strings, E'' with backslashes, dollar-quoted
strings, nested comments.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from pinakes.parser.faults import Fault

Kind = Literal["word", "quoted", "string", "number", "parameter", "symbol", "end"]


class Token(NamedTuple):
    """`text` is the value (a string or quoted identifier without its quotes), `word` is compared with keywords.

    `word` is the bare word in upper case or the symbol, and empty for other tokens: so `"from"` is never FROM.
    """

    kind: Kind
    text: str
    word: str
    start: int
    end: int


_TOKEN = re.compile(
    r"""\s*+(?:
      ((?![eEnNxXbBrR]'|[uU]&')[^\W\d][\w$]*)                                       # 1 word
    | (::|//|<=>|->>?|=>|[<>!=:]=|<>|\|\||@>|<@|\#>>?|!~~?\*?|~~\*?|~\*|&&|\*\*)   # 2 operator
    | ((?:DIGITS(?:\.(?!\.)(?:DIGITS)?)?|\.DIGITS)(?:[eE][+-]?[0-9]+)?)             # 3 number
    | ((?:[nNxXbBrR]|[uU]&)?'[^']*(?:''[^']*)*')                                    # 4 string
    | ("[^"]*(?:""[^"]*)*"|`[^`]*(?:``[^`]*)*`)                                     # 5 quoted identifier
    | (--[^\n]*|/\*)                                                                # 6 comment
    | ([eE]'[^'\\]*(?:(?:\\.|'')[^'\\]*)*')                                         # 7 string with backslashes
    | (\$([^\W\d]\w*)?\$.*?\$(?(9)\9)\$)                                            # 8 dollar-quoted string, 9 its tag
    | (\?|\$[0-9]+|\$[^\W\d]\w*+(?!\$))                                             # 10 parameter
    | (['"`]|[eE]'|\$[^\W\d]\w*\$|\$\$)                                             # 11 something never closed
    | (\S)                                                                          # 12 any other character
    | \Z                                  # or the end, so that the blanks before it are not tried one by one
    )""".replace("DIGITS", "[0-9]++(?:_[0-9]++)*+"),
    re.VERBOSE | re.DOTALL,
)
_KINDS: tuple[Kind, ...] = ("end", "word", "symbol", "number", "string", "quoted", "end", "string", "string")
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))|''", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_OPENED = {"'": "string", '"': "quoted identifier", "`": "quoted identifier", "$": "dollar-quoted string"}


def tokenize(text: str) -> list[Token]:
    """Returns the tokens of `text` without comments. Raises a Fault for an unclosed string, identifier or comment."""
    tokens: list[Token] = []
    position: int | None = 0
    while position is not None:
        position = _run(text, position, tokens)
    return tokens


def tokenize_what_fits(text: str) -> tuple[list[Token], Fault | None]:
    """Returns the tokens up to the first unclosed one, and the Fault about it."""
    tokens: list[Token] = []
    position: int | None = 0
    try:
        while position is not None:
            position = _run(text, position, tokens)
    except Fault as fault:
        return tokens, fault
    return tokens, None


def _run(text: str, position: int, tokens: list[Token]) -> int | None:
    """Adds tokens from `position` on; returns the offset after a block comment, or None at the end."""
    add = tokens.append
    make = tuple.__new__  # half the cost of Token(…), which counts at a hundred tokens a query
    for found in _TOKEN.finditer(text, position):
        which = found.lastindex
        if which is None:
            continue
        written = found[which]
        start, end = found.span(which)
        if which == 1:
            add(make(Token, ("word", written, written.upper(), start, end)))
        elif which == 2 or which == 12:
            add(make(Token, ("symbol", written, written, start, end)))
        elif which == 3 or which == 10:
            add(make(Token, ("number" if which == 3 else "parameter", written, "", start, end)))
        elif which == 6:
            if written == "/*":
                return comment_end(text, start)
        elif which == 11:
            raise _unclosed(text, start)
        else:
            add(make(Token, (_KINDS[which], _value(written, which), "", start, end)))
    return None


def _value(written: str, which: int) -> str:
    """Returns the value of a quoted text."""
    if which == 8:
        opening = written.index("$", 1) + 1
        return written[opening:-opening]
    if which == 7:
        return _ESCAPE.sub(_unescape, written[2:-1])
    quote = written[-1]
    return written[written.index(quote) + 1 : -1].replace(quote * 2, quote)


def _unescape(found: re.Match[str]) -> str:
    short, wide, wider, octal, char = found.groups()
    code = int(short or wide or wider or "0", 16) or (int(octal, 8) if octal else 0)
    if short or wide or wider or octal:
        valid = code < 0xD800 or 0xDFFF < code < 0x110000
        return chr(code) if valid else "\N{REPLACEMENT CHARACTER}"
    return "'" if char is None else _ESCAPED.get(char, char)


def comment_end(text: str, start: int) -> int:
    depth = 0
    for edge in _COMMENT_EDGE.finditer(text, start):
        depth += 1 if edge[0] == "/*" else -1
        if depth == 0:
            return edge.end()
    raise Fault("this comment is never closed: */ is missing", start)


def _unclosed(text: str, start: int) -> Fault:
    mark = text[start] if text[start] in _OPENED else "'"
    return Fault(f"this {_OPENED[mark]} is never closed", start)
