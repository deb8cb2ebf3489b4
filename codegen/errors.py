"""The one exception of the generator: where it is wrong, and what was expected."""

import dataclasses
import difflib


@dataclasses.dataclass(frozen=True)
class Place:
    """A place in an input file; lines and columns count from 1."""

    file: str
    line: int
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f":{self.column}" if self.column else "")


class SpecError(Exception):
    """An entry that cannot be right. str() is "FILE:LINE[:COLUMN]: MESSAGE"."""

    def __init__(self, place: Place, message: str):
        super().__init__(f"{place}: {message}")
        self.place = place
        self.message = message


def did_you_mean(name: str, known) -> str:
    """The end of a message about an unknown name: the nearest known ones, or all of them when there are few."""
    near = difflib.get_close_matches(name, list(known), n=3)
    if near:
        return "; did you mean " + " or ".join(f"'{other}'" for other in near) + "?"
    names = sorted(known)
    return "; expected one of: " + ", ".join(names) if names and len(names) <= 40 else ""
