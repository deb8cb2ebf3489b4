"""What a slim build keeps: the file that `wherry opt --record-kernels` writes, one entry a line.

    op conv2d                 an operator
    kernel cpu:conv2d:auto    a kernel, by its provider, operator and variant; of all types that it is registered for
    # ...                     a comment
"""

import dataclasses
import pathlib


class SlimError(Exception):
    """A file that cannot be right; the message begins with file:line."""


@dataclasses.dataclass(frozen=True)
class Entry:
    name: str
    where: str  # file:line


@dataclasses.dataclass(frozen=True)
class Slim:
    ops: tuple[Entry, ...]
    kernels: tuple[Entry, ...]


def read(path: pathlib.Path) -> Slim:
    found: dict[str, list[Entry]] = {"op": [], "kernel": []}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) != 2 or words[0] not in found:
            raise SlimError(f"{path}:{number}: expected 'op NAME' or 'kernel PROVIDER:OP[:VARIANT]'")
        found[words[0]].append(Entry(words[1], f"{path}:{number}"))
    return Slim(tuple(found["op"]), tuple(found["kernel"]))


def keep(entries: tuple[Entry, ...], items: list, name_of, what: str) -> list:
    """The items that an entry names. An entry that names none is an error."""
    named = {entry.name for entry in entries}
    known = {name_of(item) for item in items}
    for entry in entries:
        if entry.name not in known:
            raise SlimError(f"{entry.where}: there is no {what} {entry.name}")
    return [item for item in items if name_of(item) in named]
