"""The files that a document shows: a block of code below a line `<!-- file: NAME -->`. Imported by the tests of documents."""

import pathlib
import re

_BLOCK = re.compile(r"^(?:<!-- file: (?P<name>\S+) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)


def files_in(document: pathlib.Path) -> dict[str, str]:
    """Name -> text, in the document's order."""
    blocks = _BLOCK.finditer(document.read_text(encoding="utf-8"))
    return {block["name"]: block["text"] for block in blocks if block["name"]}


def unnamed_blocks(document: pathlib.Path) -> list[str]:
    """The texts of the other blocks, but for commands of a shell."""
    blocks = _BLOCK.finditer(document.read_text(encoding="utf-8"))
    return [block["text"] for block in blocks if not block["name"] and block["language"] != "sh"]


def write_files(files: dict[str, str], folder: pathlib.Path) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
