"""What of a text may be shown: not the values of options, passwords in addresses, settings with secret names.

Only what is known to be harmless is shown; an option that nobody thought of is masked. A statement that can't be read
is masked word by word (`unread_pieces`), since a misplaced quote turns a secret into a bare word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pinakes.parser.lexer import Token
from pinakes.parser.statements import Span

MASK = "'***'"
Piece = tuple[Span, str]
"""A stretch of text and what is shown instead."""

HARMLESS = frozenset(
    "TYPE WAREHOUSE SECRET REGION PROVIDER SCOPE READ_ONLY READONLY VISIBILITY CATALOG_NAME VERIFY VERIFY_SSL LOCATION "
    "ENDPOINT PATH_STYLE URL_STYLE USE_SSL URI URL PREFIX ACCESS_MODE DEFAULT_NAMESPACE NAMESPACE TIMEOUT DIALECT "
    "ACCESS_DELEGATION POOL_SIZE MAX_CONNECTIONS CONNECT_TIMEOUT STATEMENT_TIMEOUT SSL_MODE UPGRADE DRIVER "
    "SCHEMA DATABASE HOST PORT USER USERNAME COMMENT FORMAT".split()
)
"""Options whose values may be shown. SECRET is the name of one, not its value."""

_KNOWN = HARMLESS | frozenset(
    "EXPLAIN ANALYZE VERBOSE FULL PREPARE ATTACH CREATE OR REPLACE SHARED TEMP TEMPORARY PERSISTENT CATALOG IF NOT "
    "EXISTS AS WITH USING FROM SET SESSION GLOBAL LOCAL TO TRUE FALSE NULL TOKEN PASSWORD CREDENTIAL KEY KEY_ID "
    "ACCESS_KEY SECRET_KEY ACCESS_KEY_ID SECRET_ACCESS_KEY SESSION_TOKEN CLIENT_ID CLIENT_SECRET "
    "S3 AWS ICEBERG_REST GLUE S3TABLES HMS JDBC SQLITE HADOOP VGI FILES ICEBERG".split()
)
_SECRET_NAME = re.compile(r"token|passw|pwd|secret|key|credential", re.IGNORECASE)
_PASSWORD = re.compile(r"(://[^/?#:@\s'\"]*):[^/?#\s'\"]*@")
# In a location alone: a password with a / or an @ in it, and one whose @ was forgotten.
_SCHEME = r"(?:\w+:)?[A-Za-z][\w+.-]*://"
_LOGIN = re.compile(rf"^('?(?:{_SCHEME}|(?!{_SCHEME}))[^:/@\s']*):.*@", re.DOTALL)
_NO_PORT = re.compile(r"(://(?!\[)[^/?#:@\s']*):(?!\d+(?:[/?#']|$))[^/?#@\s']*(?=[/?#']|$)")
_ANY_PASSWORD = re.compile(r":[^:/?#@\s]+@")  # for a location that isn't quite an address
# Each of these is read once over the text: what may repeat is followed by what it can't be (tests/security).
_RUN = re.compile(r"[^\s'\"]++")
_SIGNED = re.compile(r"[?&;]([^=&;?\s]*+)=")
_SIGNATURE = re.compile(r"token|passw|pwd|secret|key|credential|sig", re.IGNORECASE)
_SIGNED_VALUE = re.compile(r"[^&;\s]+")
_QUERY = re.compile(r"([?&;][^=&;?\s]+)=[^&;\s']*")
_ASSIGNED = re.compile(r"(?<!\w)(\w++)\s*+[=:]\s*+")
_ASSIGNED_NAME = re.compile(r"passw|secret|credential|(?:token|pwd|key)\Z", re.IGNORECASE)
_ASSIGNED_VALUE = re.compile(r"\"[^\"]*\"|[^\s;,&'\"]+")


def is_known(word: str) -> bool:
    """Whether a word is one of the statements that carry secrets, or an option of theirs."""
    return word in _KNOWN


def harmless(key: str) -> bool:
    """Whether the value of an option of ATTACH or CREATE CATALOG may be shown."""
    return key in HARMLESS


def harmless_in_secret(key: str) -> bool:
    """The same for CREATE SECRET, where the option SECRET is the secret itself."""
    return key in HARMLESS and key != "SECRET"


def not_secret(key: str) -> bool:
    """The same for the options of COPY, which are mostly about formats, and for properties."""
    return not looks_secret(key)


def looks_secret(name: str) -> bool:
    """Whether a setting of this name is one to keep."""
    return _SECRET_NAME.search(name) is not None


def masked_address(text: str) -> str:
    """A location without its password, its query-string values and whatever `password=` gives."""
    text = _LOGIN.sub(r"\1:***@", text)
    text = _PASSWORD.sub(r"\1:***@", text)
    text = _NO_PORT.sub(r"\1:***", text)
    text = _ANY_PASSWORD.sub(":***@", text)
    text = _QUERY.sub(r"\1=***", text)
    return replaced(text, _assignments(text))[0]


def _assignments(text: str) -> list[Piece]:
    """The values of password=… and the like."""
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
    """user:password@ in any address, and what signs it, in whatever statement it stands."""
    if "://" not in text:
        return []
    logins = [Span(m.end(1) + 1, m.end() - 1) for m in _PASSWORD.finditer(text)]
    return [(span, "***") for span in (*logins, *_signatures(text))]


def _signatures(text: str) -> list[Span]:
    """The values of ?X-Amz-Signature=… and the like: whoever has the address may read what it names."""
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
    """Whether a statement is one that gives secrets, also within EXPLAIN or PREPARE, also if it can't be read."""
    words = [t.word for t in tokens]
    first = words[0] if words else ""
    if first in ("EXPLAIN", "PREPARE"):
        return any(_gives_secrets(words, at) for at in range(1, len(words)))
    if words[:2] == ["EXECUTE", "IMMEDIATE"]:
        return True  # it is refused, and nobody reads the statement in it
    if first == "SET":
        return any(looks_secret(t.text) for t in tokens[1:4])
    if first == "COPY":
        return any(looks_secret(w) for w in words)
    return _gives_secrets(words, 0)


def _gives_secrets(words: list[str], at: int) -> bool:
    if words[at : at + 1] == ["ATTACH"]:
        return True
    return words[at : at + 1] in (["CREATE"], ["ALTER"]) and bool({"SECRET", "CATALOG"} & set(words[at + 1 : at + 6]))


def unread_pieces(tokens: Iterable[Token], *, strings_only: bool) -> list[Piece]:
    """What to hide of a statement that can't be read: its strings, or every word that isn't known."""
    found: list[Piece] = []
    for token in tokens:
        hidden = token.kind == "string" if strings_only else token.kind != "symbol" and token.word not in _KNOWN
        if hidden:
            found.append((Span(token.start, token.end), MASK if token.kind == "string" else "***"))
    return found


def comment_pieces(text: str, tokens: list[Token], start: int, end: int) -> list[Piece]:
    """What stands between the tokens and isn't space: people leave yesterday's password in a comment."""
    gaps = zip([start, *(t.end for t in tokens)], [*(t.start for t in tokens), end], strict=True)
    return [(Span(a, b), " ") for a, b in gaps if text[a:b].strip()]


def replaced(text: str, pieces: Iterable[Piece], offset: int = 0) -> tuple[str, int]:
    """`text` with each piece replaced, and where `offset` went. Of two that overlap the first counts."""
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
