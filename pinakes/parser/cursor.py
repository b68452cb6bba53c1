"""A position among the tokens of a statement, which grammar functions advance over words, names, literals and lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pinakes.core.names import Name, Part
from pinakes.parser.faults import Fault
from pinakes.parser.lexer import Token
from pinakes.parser.redaction import Piece, password_pieces, replaced
from pinakes.parser.statements import Span

T = TypeVar("T")

_PATH_STARTS = ("/", "./", "../", "~/")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
MOST_PARTS = 64
MOST_DIGITS = 18


class Cursor:
    """`text` is the complete statement, `tokens` those from here to its end; offsets always refer to `text`."""

    __slots__ = ("at", "hidden", "leading", "text", "tokens")

    def __init__(self, text: str, tokens: list[Token], at: int = 0) -> None:
        self.text = text
        self.tokens = tokens
        self.at = at
        self.hidden: list[Piece] = []
        """Spans of the text to redact."""
        self.leading: list[Token] = []
        """The tokens of the WITH that stands before INSERT, UPDATE, DELETE or MERGE."""

    @property
    def shown(self) -> str:
        """The text with secrets redacted."""
        pieces = self.hidden + password_pieces(self.text)
        return replaced(self.text, pieces)[0] if pieces else self.text

    # --- looking ---

    def peek(self, ahead: int = 0) -> Token:
        at = self.at + ahead
        if at < len(self.tokens):
            return self.tokens[at]
        end = self.tokens[-1].end if self.tokens else len(self.text)
        return Token("end", "", "", end, end)

    @property
    def word(self) -> str:
        """The next bare word in upper case, or symbol; empty for other tokens."""
        return self.tokens[self.at].word if self.at < len(self.tokens) else ""

    def ended(self) -> bool:
        return self.at >= len(self.tokens)

    def sees(self, *words: str) -> bool:
        """Returns whether exactly these words come next."""
        return all(self.peek(i).word == w for i, w in enumerate(words))

    # --- taking ---

    def take(self) -> Token:
        token = self.peek()
        self.at += 1
        return token

    def accept(self, *words: str) -> bool:
        """Moves past these words if they come next."""
        if not self.sees(*words):
            return False
        self.at += len(words)
        return True

    def accept_one(self, *words: str) -> str | None:
        """Moves past the next word if it is one of these."""
        word = self.word
        if not word or word not in words:
            return None
        self.at += 1
        return word

    def expect(self, *words: str) -> None:
        for word in words:
            if not self.accept(word):
                raise self.fault(f"expected {word}")

    def expect_one(self, *words: str) -> str:
        found = self.accept_one(*words)
        if found is None:
            raise self.fault(f"expected {' or '.join(words)}")
        return found

    def done(self) -> None:
        if not self.ended():
            raise self.fault("expected the end of the statement")

    # --- names and literals ---

    def part(self, what: str = "a name", *, within: bool = False) -> Part:
        """Parses one part of a name. `""` before another part is the empty namespace, as some clients write it."""
        token = self.peek()
        if token.kind not in ("word", "quoted"):
            raise self.fault(f"expected {what}")
        self.at += 1
        if not token.text and not (within and self.sees(".")):
            raise Fault("a quoted name can't be empty", token.start)
        return Part(token.text, token.kind == "quoted")

    def path(self, what: str = "a name") -> tuple[Part, ...]:
        """Parses parts joined by dots."""
        parts = [self.part(what, within=True)]
        while self.accept("."):
            parts.append(self.part("a name after the dot", within=True))
        if len(parts) > MOST_PARTS:
            raise self.fault(f"a name can't have more than {MOST_PARTS} parts")
        return tuple(parts)

    def name(self, what: str = "a name") -> Name:
        """Parses a name of any number of parts; a string is a path."""
        token = self.peek()
        if token.kind == "string":
            self.at += 1
            return Name((Part(token.text, quoted=True),), is_path=True)
        return as_name(self.path(what))

    def string(self, what: str = "a string in single quotes") -> str:
        if self.peek().kind != "string":
            raise self.fault(f"expected {what}")
        return self.take().text

    def integer(self, what: str = "a whole number") -> int:
        token = self.peek()
        digits = token.text.replace("_", "")
        if token.kind != "number" or not digits.isdigit() or len(digits) > MOST_DIGITS:
            raise self.fault(f"expected {what}")
        self.at += 1
        return int(digits)

    def listed(self, item: Callable[[Cursor], T]) -> tuple[T, ...]:
        """( item, item, … )"""
        self.expect("(")
        items = [item(self)]
        while self.accept(","):
            items.append(item(self))
        if not self.accept(")"):
            raise self.fault("expected , or )")
        return tuple(items)

    # --- spans of text ---

    def span_from(self, first: int) -> Span:
        """Returns the span from the token at index `first` to the previous token."""
        return Span(self.tokens[first].start, self.tokens[self.at - 1].end)

    def until(self, *words: str, what: str) -> Span:
        """Returns the span up to one of these words outside parentheses, or to the end; it must not be empty."""
        first = self.at
        self.skip_until(*words)
        if self.at == first:
            raise self.fault(f"expected {what}")
        return self.span_from(first)

    def skip_until(self, *words: str) -> None:
        """Moves to the first of these words outside parentheses, brackets and CASE … END, or to the end."""
        nested = 0
        while self.at < len(self.tokens):
            word = self.tokens[self.at].word
            if word in _CLOSING or word == "CASE":
                nested += 1
            elif nested == 0 and word in words and word and not self._is_distinct_from():
                return
            elif word in (")", "]", "}") or (word == "END" and nested):
                if nested == 0:
                    return
                nested -= 1
            self.at += 1

    def _is_distinct_from(self) -> bool:
        """Returns whether this FROM is that of `a IS DISTINCT FROM b`, which begins no clause."""
        return self.sees("FROM") and self.at > 0 and self.tokens[self.at - 1].word == "DISTINCT"

    def skip_group(self) -> None:
        """Moves past ( … ) with any content."""
        self.expect("(")
        self.skip_until(")")
        self.expect(")")

    # --- failing ---

    def fault(self, message: str, token: Token | None = None) -> Fault:
        token = token or self.peek()
        return Fault(message, token.start, found=describe(token))

    def unsupported(self, message: str) -> Fault:
        return Fault(message, self.peek().start, unsupported=True)


def describe(token: Token) -> str:
    """Describes a token for an error message, without the text of a literal."""
    if token.kind in ("word", "symbol"):
        return repr(token.text) if len(token.text) <= 60 else "a long word"
    named = {"end": "the end", "string": "a string", "number": "a number", "parameter": "a parameter"}
    return named.get(token.kind, "a quoted name")


def as_name(parts: tuple[Part, ...]) -> Name:
    """Returns a name; a quoted last part that looks like a path makes it a path."""
    last = parts[-1]
    is_path = last.quoted and ("://" in last.text or last.text.startswith(_PATH_STARTS))
    return Name(parts, is_path)
