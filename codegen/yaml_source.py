"""YAML with positions: every value and key of a document knows its line, and a plain scalar its source text."""

import dataclasses
import re
from typing import Any

import yaml

from errors import Place, SpecError

Path = tuple  # of mapping keys and sequence indices, from the document's root


@dataclasses.dataclass(frozen=True)
class Text:
    """A scalar as it stands in the file, for the small grammars that report their own columns."""

    text: str
    place: Place  # of its first character
    exact: bool  # text is the file's own, so that lines and columns within it can be counted

    def at(self, offset: int) -> Place:
        if not self.exact:
            return Place(self.place.file, self.place.line)
        before = self.text[:offset]
        newlines = before.count("\n")
        column = offset - before.rfind("\n") if newlines else self.place.column + offset
        return Place(self.place.file, self.place.line + newlines, column)


class _Loader(yaml.SafeLoader):
    """YAML 1.2's plain words: 1e-6 is a number, yes and on are words (PyYAML keeps to 1.1)."""

    yaml_implicit_resolvers: dict = {}


for _tag, _pattern, _first in (
    ("bool", r"true|false", "tf"),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|nan)", "-+.0123456789"),
    ("null", r"null|~|", ["n", "~", ""]),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_pattern})\Z"), list(_first))


class Document:
    """A parsed file: `data` in plain Python values, with the place of each by its path."""

    def __init__(self, file: str, source: str):
        self.file = file
        self._source = source
        self._nodes: dict[Path, yaml.Node] = {}
        self._keys: dict[Path, yaml.Node] = {}
        self._constructor = yaml.constructor.SafeConstructor()
        try:
            root = yaml.compose(source, Loader=_Loader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            raise SpecError(Place(file, mark.line + 1, mark.column + 1), f"not YAML: {error.problem}") from error
        except yaml.YAMLError as error:
            raise SpecError(Place(file, 1), f"not YAML: {error}") from error
        self.data: Any = None if root is None else self._value(root, ())

    def place(self, *path) -> Place:
        """Of the value at the path, or of the nearest thing around it that is there."""
        while path and path not in self._nodes:
            path = path[:-1]
        return self._place(self._nodes[path]) if path in self._nodes else Place(self.file, 1)

    def key_place(self, *path) -> Place:
        """Of the mapping key that the path ends with."""
        return self._place(self._keys[path]) if path in self._keys else self.place(*path)

    def text(self, *path) -> Text:
        """The scalar at the path as text."""
        node = self._nodes[path]
        if node.style is None:
            return Text(self._source[node.start_mark.index : node.end_mark.index], self._place(node), True)
        return Text(node.value, self._place(node), False)

    def _place(self, node: yaml.Node) -> Place:
        return Place(self.file, node.start_mark.line + 1, node.start_mark.column + 1)

    def _value(self, node: yaml.Node, path: Path):
        self._nodes[path] = node
        if isinstance(node, yaml.SequenceNode):
            return [self._value(child, (*path, i)) for i, child in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode):
            result = {}
            for key_node, value_node in node.value:
                key = self._constructor.construct_object(key_node)
                if not isinstance(key, (str, int)):
                    raise SpecError(self._place(key_node), "a key must be a plain word")
                if key in result:
                    raise SpecError(self._place(key_node), f"the key '{key}' is here twice")
                self._keys[(*path, key)] = key_node
                result[key] = self._value(value_node, (*path, key))
            return result
        return self._constructor.construct_object(node)
