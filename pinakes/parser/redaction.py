"""Redacts secrets of a text: values of options, passwords in addresses, settings with secret names.

Only values of known harmless options are shown; unknown options are redacted. A statement that can't be parsed is
redacted word by word (`unread_pieces`), since a misplaced quote turns a secret into a bare word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pinakes.parser.lexer import Token
from pinakes.parser.statements import Span

MASK = "'***'"
Piece = tuple[Span, str]
"""A span of text and its replacement."""

HARMLESS = frozenset(
    "TYPE WAREHOUSE SECRET REGION PROVIDER SCOPE READ_ONLY READONLY VISIBILITY CATALOG_NAME VERIFY VERIFY_SSL LOCATION "
    "ENDPOINT PATH_STYLE URL_STYLE USE_SSL URI URL PREFIX ACCESS_MODE DEFAULT_NAMESPACE NAMESPACE TIMEOUT DIALECT "
    "ACCESS_DELEGATION POOL_SIZE MAX_CONNECTIONS CONNECT_TIMEOUT STATEMENT_TIMEOUT SSL_MODE UPGRADE DRIVER "
    "SCHEMA DATABASE HOST PORT USER USERNAME COMMENT FORMAT".split()
)
"""Options whose values may be shown. The value of SECRET is the name of a secret."""

_KNOWN = HARMLESS | frozenset(
    "EXPLAIN ANALYZE VERBOSE FULL PREPARE ATTACH CREATE OR REPLACE SHARED TEMP TEMPORARY PERSISTENT CATALOG IF NOT "
    "EXISTS AS WITH USING FROM SET SESSION GLOBAL LOCAL TO TRUE FALSE NULL TOKEN PASSWORD CREDENTIAL KEY KEY_ID "
    "ACCESS_KEY SECRET_KEY ACCESS_KEY_ID SECRET_ACCESS_KEY SESSION_TOKEN CLIENT_ID CLIENT_SECRET "
    "S3 AWS ICEBERG_REST GLUE S3TABLES HMS JDBC SQLITE HADOOP VGI FILES ICEBERG".split()
)
_SECRET_NAME = re.compile(r"token|passw|pwd|secret|key|credential", re.IGNORECASE)
_PASSWORD = re.compile(r"(://[^/?#:@\s'\"]*):[^/?#\s'\"]*@")
# Only for locations: a password that contains / or @, and one without its @.
_SCHEME = r"(?:\w+:)?[A-Za-z][\w+.-]*://"
_LOGIN = re.compile(rf"^('?(?:{_SCHEME}|(?!{_SCHEME}))[^:/@\s']*):.*@", re.DOTALL)
_NO_PORT = re.compile(r"(://(?!\[)[^/?#:@\s']*):(?!\d+(?:[/?#']|$))[^/?#@\s']*(?=[/?#']|$)")
_ANY_PASSWORD = re.compile(r":[^:/?#@\s]+@")  # for a location that isn't quite an address
# Each pattern runs in linear time: repetitions are followed by characters that they can't match (tests/security).
_RUN = re.compile(r"[^\s'\"]++")
_SIGNED = re.compile(r"[?&;]([^=&;?\s]*+)=")
_SIGNATURE = re.compile(r"token|passw|pwd|secret|key|credential|sig", re.IGNORECASE)
_SIGNED_VALUE = re.compile(r"[^&;\s]+")
_QUERY = re.compile(r"([?&;][^=&;?\s]+)=[^&;\s']*")
_ASSIGNED = re.compile(r"(?<!\w)(\w++)\s*+[=:]\s*+")
_ASSIGNED_NAME = re.compile(r"passw|secret|credential|(?:token|pwd|key)\Z", re.IGNORECASE)
_ASSIGNED_VALUE = re.compile(r"\"[^\"]*\"|[^\s;,&'\"]+")


def is_known(word: str) -> bool:
    """Returns whether a word is a keyword of a statement with secrets, or one of its options."""
    return word in _KNOWN


def harmless(key: str) -> bool:
    """Returns whether the value of an option of ATTACH or CREATE CATALOG may be shown."""
    return key in HARMLESS


def harmless_in_secret(key: str) -> bool:
    """Does the same for CREATE SECRET, where the option SECRET is the secret itself."""
    return key in HARMLESS and key != "SECRET"


def not_secret(key: str) -> bool:
    """Does the same for the options of COPY, which are mostly about formats, and for properties."""
    return not looks_secret(key)


def looks_secret(name: str) -> bool:
    """Returns whether a setting of this name is a secret."""
    return _SECRET_NAME.search(name) is not None


def masked_address(text: str) -> str:
    """Returns a location without its password, its query-string values and the values of `password=`."""
    text = _LOGIN.sub(r"\1:***@", text)
    text = _PASSWORD.sub(r"\1:***@", text)
    text = _NO_PORT.sub(r"\1:***", text)
    text = _ANY_PASSWORD.sub(":***@", text)
    text = _QUERY.sub(r"\1=***", text)
    return replaced(text, _assignments(text))[0]


def _assignments(text: str) -> list[Piece]:
    """Returns the values of password=… and similar assignments."""
    found = list[Piece]()
    at = 0
    for name in _ASSIGNED.finditer(text):
        if name.start() >= at and _ASSIGNED_NAME.search(name[1]):
            value = _ASSIGNED_VALUE.match(text, name.end())
            if value is not None:
                found.append((Span(*value.span()), "***"))
                at = value.end()
    return found


def password_pieces(text: str) -> list[Piece]:
    """Returns the passwords of user:password@ and the signatures in addresses of any statement."""
    if "://" not in text:
        return []
    logins = [Span(m.end(1) + 1, m.end() - 1) for m in _PASSWORD.finditer(text)]
    return [(span, "***") for span in (*logins, *_signatures(text))]


def _signatures(text: str) -> list[Span]:
    """Returns the values of ?X-Amz-Signature=… and similar parameters, which grant access to the object."""
    found = list[Span]()
    for run in _RUN.finditer(text):
        start, end = text.find("://", *run.span()), run.end()
        if start < 0 or text.find("?", start, end) < 0:
            continue
        at = start
        for name in _SIGNED.finditer(text, start, end):
            if name.start() >= at and _SIGNATURE.search(name[1]):
                value = _SIGNED_VALUE.match(text, name.end(), end)
                if value is not None:
                    found.append(Span(*value.span()))
                    at = value.end()
    return found


def carries_secrets(tokens: list[Token]) -> bool:
    """Returns whether a statement contains secrets, also within EXPLAIN or PREPARE, also if it can't be parsed."""
    first = tokens[0].word if tokens else ""
    if first not in _MAY_GIVE_SECRETS:
        return False
    words = [t.word for t in tokens]
    if first in ("EXPLAIN", "PREPARE"):
        return any(_gives_secrets(words, at) for at in range(1, len(words)))
    if first == "EXECUTE":
        return words[1:2] == ["IMMEDIATE"]  # it is refused, and its inner statement is not parsed
    if first == "SET":
        return any(looks_secret(t.text) for t in tokens[1:4])
    if first == "COPY":
        return any(looks_secret(w) for w in words)
    return _gives_secrets(words, 0)


_MAY_GIVE_SECRETS = frozenset({"EXPLAIN", "PREPARE", "EXECUTE", "SET", "COPY", "ATTACH", "CREATE", "ALTER"})


def _gives_secrets(words: list[str], at: int) -> bool:
    if words[at : at + 1] == ["ATTACH"]:
        return True
    return words[at : at + 1] in (["CREATE"], ["ALTER"]) and bool({"SECRET", "CATALOG"} & set(words[at + 1 : at + 6]))


def unread_pieces(tokens: Iterable[Token], *, strings_only: bool) -> list[Piece]:
    """Returns the spans to redact of a statement that can't be parsed: its strings, or every unknown word."""
    found: list[Piece] = []
    for token in tokens:
        hidden = token.kind == "string" if strings_only else token.kind != "symbol" and token.word not in _KNOWN
        if hidden:
            found.append((Span(token.start, token.end), MASK if token.kind == "string" else "***"))
    return found


def comment_pieces(text: str, tokens: list[Token], start: int, end: int) -> list[Piece]:
    """Returns the comments between the tokens, since they may contain secrets."""
    gaps = zip([start, *(t.end for t in tokens)], [*(t.start for t in tokens), end], strict=True)
    return [(Span(a, b), " ") for a, b in gaps if text[a:b].strip()]


def replaced(text: str, pieces: Iterable[Piece], offset: int = 0) -> tuple[str, int]:
    """Returns `text` with each piece replaced, and the new position of `offset`. Of two overlapping pieces the
    first is used.
    """
    out: list[str] = []
    at = moved = 0
    for span, instead in sorted(pieces, key=lambda p: (p[0].start, -p[0].end)):
        if span.start < at:
            continue
        out += (text[at : span.start], instead)
        at = span.end
        if span.end <= offset:
            moved += len(instead) - (span.end - span.start)
        elif span.start < offset:
            moved += span.start - offset
    return "".join(out) + text[at:], offset + moved
