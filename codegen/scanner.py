"""Tokens of the small grammars inside YAML values, and a cursor over them."""

import dataclasses
import re

from errors import SpecError
from yaml_source import Text

_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<number>[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)(?P<suffix>[fF]|LL|L)?(?![A-Za-z_0-9]))
      | (?P<name>[A-Za-z_]\w*)
      | (?P<string>"(?:\\.|[^"\\])*")
      | (?P<mark>::|->|[-()<>{}\[\],=&*:?])""",
    re.VERBOSE,
)
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}


@dataclasses.dataclass(frozen=True)
class Token:
    kind: str  # number, name, string, mark, end
    text: str
    offset: int


class Scanner:
    """Walks over the tokens of a text. Failures are SpecErrors at the token, and begin with `what` ("args")."""

    def __init__(self, text: Text, what: str):
        self.text = text
        self.what = what
        self._tokens: list[Token] = []
        self._next = 0
        offset = 0
        while offset < len(text.text):
            match = _TOKEN.match(text.text, offset)
            if match is None:
                self._tokens.append(Token("end", text.text[offset], offset))
                self.fail(f"unexpected character '{text.text[offset]}'", self._tokens[-1])
            if match.lastgroup != "space":
                kind = "number" if match.lastgroup == "suffix" else match.lastgroup
                self._tokens.append(Token(kind, match.group(), offset))
            offset = match.end()
        self._tokens.append(Token("end", "the end", offset))

    def fail(self, message: str, token: Token | None = None):
        token = token or self.peek()
        raise SpecError(self.text.at(token.offset), f"{self.what}: {message}")

    def expected(self, what: str):
        token = self.peek()
        self.fail(f"expected {what}, got {token.text if token.kind == 'end' else repr(token.text)}")

    def peek(self, ahead: int = 0) -> Token:
        return self._tokens[min(self._next + ahead, len(self._tokens) - 1)]

    def take(self) -> Token:
        token = self.peek()
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token

    def at(self, mark: str) -> bool:
        return self.peek().kind == "mark" and self.peek().text == mark

    def accept(self, mark: str) -> bool:
        if self.at(mark):
            self.take()
            return True
        return False

    def expect(self, mark: str) -> None:
        if not self.accept(mark):
            self.expected(f"'{mark}'")

    def accept_word(self, word: str) -> bool:
        if self.peek().kind == "name" and self.peek().text == word:
            self.take()
            return True
        return False

    def name(self, what: str) -> Token:
        if self.peek().kind != "name":
            self.expected(what)
        return self.take()

    def integer(self, what: str) -> int:
        token = self.peek()
        if token.kind != "number" or not re.fullmatch(r"[+-]?\d+", token.text):
            self.expected(what)
        return int(self.take().text)

    def number(self, what: str) -> float:
        """A float, or one of the words inf and nan with an optional sign."""
        negative = self.accept("-")
        token = self.peek()
        if token.kind == "name" and token.text in ("inf", "nan"):
            value = float(self.take().text)
        elif token.kind == "number":
            value = float(self.take().text.rstrip("fFL"))
        else:
            self.expected(what)
        return -value if negative else value

    def string(self) -> str:
        token = self.take()
        return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match.group(1), match.group(1)), token.text[1:-1])

    def finish(self) -> None:
        if self.peek().kind != "end":
            self.expected("nothing more")
